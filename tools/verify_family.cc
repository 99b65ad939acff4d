// The verification of a family: see family.h.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "codegen/verify_header.h"
#include "spec/cat.h"
#include "spec/host.h"
#include "tools/family.h"
#include "tools/terminal_line.h"

namespace kirsch {
namespace {

// Shared out among the members. A single spec would get 1e9 and 5e10.
constexpr double kFlopsInFull = 1e10;
constexpr double kFlopsInterpreted = 2e10;

VerifyOptions MemberOptions(size_t members, const std::string& cannot_run) {
  VerifyOptions options;
  options.header = false;
  options.cannot_run = cannot_run;
  const auto share = [&](double flops) { return flops / static_cast<double>(members); };
  options.most_flops_in_full = std::min(options.most_flops_in_full, share(kFlopsInFull));
  options.most_flops_interpreted = std::min(options.most_flops_interpreted, share(kFlopsInterpreted));
  return options;
}

// Adds up the members' rungs of one name.
class RungSum {
 public:
  explicit RungSum(std::string name) : name_(std::move(name)) {}

  void Add(const RungReport& rung) {
    if (rung.outcome == RungOutcome::kPassed) ++passed_;
    if (rung.outcome == RungOutcome::kFailed) failed_ = true;
    if (rung.outcome == RungOutcome::kSkipped) skipped_ = rung.text;
  }
  RungReport Report(size_t members) const {
    const RungOutcome outcome = failed_       ? RungOutcome::kFailed
                                : passed_ > 0 ? RungOutcome::kPassed
                                              : RungOutcome::kSkipped;
    std::string text = Cat(passed_, " of ", members, " members");
    if (!skipped_.empty()) text = passed_ > 0 ? Cat(text, "; others: ", skipped_) : skipped_;
    return {name_, outcome, text};
  }

 private:
  const std::string name_;
  size_t passed_ = 0;
  bool failed_ = false;
  std::string skipped_;  // why
};

// Compiling takes a while: starts it. Nothing if it is not to be.
absl::StatusOr<std::unique_ptr<HeaderBuild>> StartHeader(const FamilySynthesis& synthesis, HeaderMode mode,
                                                         bool runs) {
  if (!runs) return std::unique_ptr<HeaderBuild>();
  const absl::StatusOr<std::string> compiler = FindCompiler("");
  if (!compiler.ok()) return compiler.status();
  // Bare code has no self-test; within the macros' guards it is the same.
  if (mode == HeaderMode::kBare) mode = HeaderMode::kMacros;
  const std::vector<FamilyKernel> kernels = LowerMembers(synthesis);
  const std::string header = PrintFamilyHeader(synthesis.family, kernels, synthesis.members.front().target,
                                               FamilyHeaderOptionsFor(synthesis, mode));
  return HeaderBuild::StartSelfTest(header, IdentifierOf(synthesis.family.text()),
                                    kernels.front().program.features, mode, *compiler);
}

RungReport HeaderRung(absl::StatusOr<std::unique_ptr<HeaderBuild>> build, const std::string& cannot_run,
                      size_t members) {
  const std::string name = "header";
  if (!cannot_run.empty()) return {name, RungOutcome::kSkipped, cannot_run};
  if (absl::IsNotFound(build.status()))
    return {name, RungOutcome::kSkipped, std::string(build.status().message())};
  const absl::Status status = build.ok() ? (*build)->RunSelfTest() : build.status();
  if (!status.ok()) return {name, RungOutcome::kFailed, std::string(status.message())};
  return {name, RungOutcome::kPassed, Cat(members, " of ", members, " members, through the dispatcher")};
}

}  // namespace

VerifyReport VerifyFamily(const FamilySynthesis& synthesis, HeaderMode mode) {
  const absl::Status supported = Supports(ReadHost(), synthesis.members.front().target);
  const std::string cannot_run(supported.message());
  if (!cannot_run.empty()) std::fprintf(stderr, "kirsch: %s\n", cannot_run.c_str());
  const size_t count = synthesis.members.size();
  auto build = StartHeader(synthesis, mode, supported.ok());
  VerifyReport report;
  RungSum interpreter("interpreter"), jit("jit");
  TerminalLine line;
  for (size_t i = 0; i < count; ++i) {
    line.Show(Cat("verifying member ", i + 1, " of ", count));
    const Synthesis& member = synthesis.members[i];
    const VerifyReport of_member =
        VerifyKernel(member.result.impl, member.target, MemberOptions(count, cannot_run));
    interpreter.Add(of_member.rungs[0]);
    jit.Add(of_member.rungs[1]);
    report.max_error = std::max(report.max_error, of_member.max_error);
    report.error_bound = std::max(report.error_bound, of_member.error_bound);
    if (!of_member.ok && report.first_mismatch.empty())
      report.first_mismatch = Cat(member.parsed.text, ": ", of_member.first_mismatch);
  }
  line.Show("verifying the header");
  report.rungs = {interpreter.Report(count), jit.Report(count),
                  HeaderRung(std::move(build), cannot_run, count)};
  const RungReport& header = report.rungs.back();
  if (header.outcome == RungOutcome::kFailed && report.first_mismatch.empty())
    report.first_mismatch = Cat("header: ", header.text);
  report.ok = report.first_mismatch.empty();
  return report;
}

}  // namespace kirsch
