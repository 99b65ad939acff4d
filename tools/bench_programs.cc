// SPDX-License-Identifier: Apache-2.0
#include "tools/bench_programs.h"

#include <utility>

#include "spec/text/cat.h"
#include "spec/text/identifier.h"
#include "spec/text/status_macros.h"
#include "synthesis/solve.h"
#include "tools/synthesis_report.h"

namespace kirsch {
namespace {

// A header with the one kernel of a subject. `members` is empty for a graph; of a matmul see HeaderFunction.
HeaderFile HeaderOf(const Subject& subject, std::vector<HeaderMember> members) {
  HeaderFunction function;
  function.name = subject.code.name;
  function.members = std::move(members);
  function.variants = {{subject.target, {subject.code}}};
  HeaderFile file;
  file.name = function.name;
  file.functions = {std::move(function)};
  return file;
}

}  // namespace

absl::StatusOr<BenchPrograms::Solved> BenchPrograms::SolveEntry(const BenchEntry& entry) const {
  SolveArguments own = arguments_;
  if (!entry.in_ram.empty()) own.cold = entry.in_ram;
  if (entries_ > 1) own.progress = Cat("kernel ", solved_.size() + 1, " of ", entries_, ", ");
  // Each entry has the whole time budget.
  SearchBudget budget(own.time_budget);
  // A graph without a plan is an error here: there is nothing to measure.
  KIRSCH_ASSIGN_OR_RETURN(const Synthesis synthesis,
                          Require(Solve(own, entry.kernel(), "spec", target_, memo_, budget)));
  PrintSummary(synthesis);
  Solved solved;
  solved.gflops = synthesis.gflops();
  // The header needs to know whether the spec was solved as its transpose: then users pass lhs where it has
  // rhs.
  std::vector<HeaderMember> members;
  if (const auto* const impl = std::get_if<Impl>(&synthesis.program))
    members = {{impl->spec, entry.matmul->swapped}};
  // The code is made once, here. The JIT and C compilers get the same code, so their kernels can be compared.
  solved.subject = std::make_unique<Subject>(synthesis.program, target_, MakeIdentifier(synthesis.name));
  solved.header = std::make_unique<HeaderFile>(HeaderOf(*solved.subject, std::move(members)));
  solved.subject->header = solved.header.get();
  return solved;
}

const absl::StatusOr<BenchPrograms::Solved>& BenchPrograms::FindSolved(const BenchEntry& entry) {
  const std::string key = entry.graph ? PrintGraph(*entry.graph) : entry.text;
  // An entry that could not be solved is not tried again: its error is kept.
  const auto found = solved_.find(key);
  if (found != solved_.end()) return found->second;
  return solved_.emplace(key, SolveEntry(entry)).first->second;
}

// Reports ask for predictions after the kernels were measured.
double BenchPrograms::PredictedGflops(const BenchEntry& entry) {
  const absl::StatusOr<Solved>& solved = FindSolved(entry);
  return solved.ok() ? solved->gflops : 0;
}

absl::StatusOr<Kernel> BenchPrograms::Jit(const BenchEntry& entry) {
  const absl::StatusOr<Solved>& solved = FindSolved(entry);
  if (!solved.ok()) return solved.status();
  return CompileForThisCpu(*solved->subject);
}

absl::StatusOr<Kernel> BenchPrograms::Header(const BenchEntry& entry, const std::string& compiler) {
  const absl::StatusOr<Solved>& solved = FindSolved(entry);
  if (!solved.ok()) return solved.status();
  return CompileHeader(*solved->subject, compiler);
}

}  // namespace kirsch
