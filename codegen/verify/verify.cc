// SPDX-License-Identifier: Apache-2.0
#include "codegen/verify/verify.h"

#include <algorithm>
#include <memory>

#include "codegen/verify/engines.h"
#include "codegen/verify/known_contraction.h"
#include "codegen/verify/known_graph.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

// More than any plan has. Slow engines get one run of problems with more work than the other two say.
constexpr size_t kAllTrials = 1000;
constexpr double kMostWorkInterpretedOften = 1e9;  // above, it gets a single run
constexpr double kMostWorkTwice = 5e10;            // above, the header gets a single run

// A program with phases is worth a second thread, if only to find out that a phase is missing.
int64_t TasksOf(const LoopProgram& program) {
  return program.phases > 1 ? std::max<int64_t>(program.tasks, 2) : program.tasks;
}

// Sets the verdict, and the first complaint of an engine that failed.
void Judge(VerifyReport* report) {
  bool failed = false, code = false, program = false;
  for (const RungReport& rung : report->rungs) {
    const bool passed = rung.outcome == RungOutcome::kPassed;
    (rung.name == kInterpreterRung ? program : code) |= passed;
    if (rung.outcome != RungOutcome::kFailed) continue;
    if (!failed) report->first_mismatch = Cat(rung.name, ": ", rung.text);
    failed = true;
  }
  report->verdict = failed    ? Verdict::kFailed
                    : code    ? Verdict::kVerified
                    : program ? Verdict::kProgramChecked
                              : Verdict::kUnverified;
  report->ok = report->verdict == Verdict::kVerified || report->verdict == Verdict::kProgramChecked;
}

// Verifies one problem: makes the engines, and sends each up the same ladder.
class Verifier {
 public:
  // `compiled`: the subject's code, if it is there already.
  Verifier(const KnownProblem& problem, const Subject& subject, const VerifyOptions& options,
           const absl::StatusOr<EngineKernel>* compiled = nullptr)
      : problem_(problem),
        subject_(subject),
        options_(options),
        compiled_(compiled),
        missing_(FirstMissing(subject.code.features, options.host_features)),
        ladder_(problem, PlanTrials(problem, TasksOf(subject.code), options.seed, options.most_flops_in_full),
                options.progress) {}

  VerifyReport Run() {
    VerifyReport report;
    for (const Engine& engine : Engines()) report.rungs.push_back(Climb(engine));
    report.max_error = ladder_.max_error();
    report.error_bound = problem_.error_bound();
    if (report.error_bound > 0) report.error_share = report.max_error / report.error_bound;
    Judge(&report);
    return report;
  }

 private:
  bool CodeRuns() const { return missing_.empty(); }

  std::vector<Engine> Engines() const {
    const EngineOptions options{options_.hot_loops, options_.abi, options_.compiler};
    std::vector<Engine> engines;
    if (options_.interpreter) engines.push_back(InterpreterEngine(subject_));
    if (options_.jit)
      engines.push_back(compiled_ != nullptr ? CompiledEngine(subject_, *compiled_)
                                             : JitEngine(subject_, options));
    // The C compiler works beside the engines before it, unless its code could not be run anyway.
    if (options_.header) engines.push_back(HeaderEngine(subject_, options, CodeRuns()));
    return engines;
  }

  // Returns why the engine is not asked; empty: it is. The interpreter is left out only if the JIT does its
  // work.
  std::string WhyNot(const Engine& engine) const {
    if (engine.runs_code) return CodeRuns() ? "" : Cat("the host lacks ", missing_);
    const bool large = problem_.work() > options_.most_flops_interpreted;
    return large && CodeRuns() && options_.jit ? "too large to interpret" : "";
  }

  // Slow engines get a single run of large problems.
  size_t MostTrials(const Engine& engine) const {
    if (engine.name == kInterpreterRung && problem_.work() > kMostWorkInterpretedOften) return 1;
    return engine.name == kHeaderRung && problem_.work() > kMostWorkTwice ? 1 : kAllTrials;
  }

  RungReport Climb(const Engine& engine) {
    if (std::string why = WhyNot(engine); !why.empty()) return {engine.name, RungOutcome::kNotRun, why};
    if (options_.progress) options_.progress(Cat(engine.name, ": making its code"));
    const absl::StatusOr<EngineKernel> made = engine.make();
    // A machine that lacks a compiler says nothing about the kernel.
    if (!made.ok())
      return {engine.name, IsOfTheMachine(made.status()) ? RungOutcome::kNotRun : RungOutcome::kFailed,
              std::string(made.status().message())};
    RungReport report = ladder_.Climb(made->kernel, MostTrials(engine));
    report.loops = made->loops;
    return report;
  }

  const KnownProblem& problem_;
  const Subject& subject_;
  const VerifyOptions& options_;
  const absl::StatusOr<EngineKernel>* const compiled_;
  const std::string missing_;  // on the host, of what the code needs
  Ladder ladder_;
};

std::unique_ptr<KnownProblem> MakeProblem(const Impl& impl) {
  return std::make_unique<ContractionProblem>(impl);
}
std::unique_ptr<KnownProblem> MakeProblem(const Plan& plan) {
  return std::make_unique<GraphProblem>(plan.graph, WinogradConvolutions(plan));
}
std::unique_ptr<KnownProblem> MakeProblem(const Spec* root) {
  return std::make_unique<ContractionProblem>(*root);
}
std::unique_ptr<KnownProblem> MakeProblem(const Graph* graph) {
  return std::make_unique<GraphProblem>(*graph);
}

// Returns the problem of whatever the variant holds.
template <typename Computed>
std::unique_ptr<KnownProblem> ProblemFor(const Computed& computed) {
  return std::visit([](const auto& one) { return MakeProblem(one); }, computed);
}

}  // namespace

VerifyReport VerifyKernel(const ProgramTree& tree, const Target& target, const HeaderFile& header,
                          const VerifyOptions& options) {
  Subject subject(tree, target, header.functions.front().name);
  subject.header = &header;
  return Verifier(*ProblemFor(tree), subject, options).Run();
}

std::vector<VerifyReport> VerifySizes(const ProgramTree& range, absl::Span<const MemberOfSize> members,
                                      const Target& target, const std::string& name,
                                      const VerifyOptions& options) {
  Subject subject(range, target, name);
  VerifyOptions own = options;
  own.header = false;
  // Compiled once for all members; each of them gets the sizes of its own.
  absl::StatusOr<EngineKernel> compiled = absl::NotFoundError("it was not compiled");
  if (FirstMissing(subject.code.features, own.host_features).empty())
    compiled = MakeJitKernel(subject, {own.hot_loops, own.abi, own.compiler});
  std::vector<VerifyReport> reports;
  for (const MemberOfSize& member : members) {
    subject.sizes = member.sizes;
    reports.push_back(Verifier(*ProblemFor(member.computed), subject, own, &compiled).Run());
    if (compiled.ok()) compiled->loops.reset();  // those of the code are counted once
  }
  return reports;
}

}  // namespace kirsch
