// SPDX-License-Identifier: Apache-2.0
#include "tools/bench_programs.h"

#include <utility>

#include "spec/text/cat.h"
#include "spec/text/identifier.h"
#include "synthesis/graph_kernel.h"
#include "tools/synthesis_report.h"

namespace kirsch {
namespace {

// `members`: of a matmul; see HeaderFunction.
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
  if (entries_ > 1) own.progress = Cat("kernel ", solved_.size() + 1, " of ", entries_, ", ");
  Solved solved;
  std::vector<HeaderMember> members;
  if (entry.matmul) {
    const absl::StatusOr<Synthesis> synthesis = Solve(own, *entry.matmul, target_, memo_);
    if (!synthesis.ok()) return synthesis.status();
    PrintSummary(*synthesis);
    solved.gflops = kirsch::PredictedGflops(*synthesis);
    members = {{synthesis->result.impl.spec, entry.matmul->swapped}};
    solved.subject =
        std::make_unique<Subject>(synthesis->result.impl, target_, IdentifierOf(entry.matmul->text));
  } else {
    SearchBudget budget(own.time_budget);
    const absl::StatusOr<GraphSynthesis> synthesis =
        Require(SolveGraph(own, *entry.graph, "spec", target_, memo_, budget));
    if (!synthesis.ok()) return synthesis.status();
    PrintSummary(*synthesis);
    solved.gflops = kirsch::PredictedGflops(*synthesis);
    solved.subject = std::make_unique<Subject>(synthesis->result.plan, target_, entry.graph->name);
  }
  solved.header = std::make_unique<HeaderFile>(HeaderOf(*solved.subject, std::move(members)));
  solved.subject->header = solved.header.get();
  return solved;
}

const absl::StatusOr<BenchPrograms::Solved>& BenchPrograms::SolvedOf(const BenchEntry& entry) {
  const std::string key = entry.graph ? PrintGraph(*entry.graph) : entry.text;
  const auto found = solved_.find(key);
  if (found != solved_.end()) return found->second;
  return solved_.emplace(key, SolveEntry(entry)).first->second;
}

double BenchPrograms::PredictedGflops(const BenchEntry& entry) {
  const absl::StatusOr<Solved>& solved = SolvedOf(entry);
  return solved.ok() ? solved->gflops : 0;
}

absl::StatusOr<Kernel> BenchPrograms::Jit(const BenchEntry& entry) {
  const absl::StatusOr<Solved>& solved = SolvedOf(entry);
  if (!solved.ok()) return solved.status();
  return CompileForThisCpu(*solved->subject);
}

absl::StatusOr<Kernel> BenchPrograms::Header(const BenchEntry& entry, const std::string& compiler) {
  const absl::StatusOr<Solved>& solved = SolvedOf(entry);
  if (!solved.ok()) return solved.status();
  return CompileHeader(*solved->subject, compiler);
}

}  // namespace kirsch
