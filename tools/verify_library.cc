// The verification of a library: see library.h.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "codegen/verify_graph.h"
#include "codegen/verify_header.h"
#include "spec/cat.h"
#include "spec/host.h"
#include "tools/library.h"
#include "tools/terminal_line.h"

namespace kirsch {
namespace {

// Shared out among the members of all kernels. A single spec would get 1e9 and 5e10.
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

// Adds up all members' rungs of one name.
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

// For each target why its code can't be run here, said on standard error too; empty: it can.
std::vector<std::string> WhyNot(const Library& library) {
  std::vector<std::string> reasons;
  for (const Target& target : library.targets) {
    const absl::Status supported = Supports(ReadHost(), target);
    reasons.push_back(std::string(supported.message()));
    if (!supported.ok()) std::fprintf(stderr, "kirsch: %s\n", reasons.back().c_str());
  }
  return reasons;
}

// Compiling takes a while: starts it. Nothing if it is not to be.
absl::StatusOr<std::unique_ptr<HeaderBuild>> StartHeader(const Library& library, LibraryStyle style,
                                                         bool runs) {
  if (!runs) return std::unique_ptr<HeaderBuild>();
  const absl::StatusOr<std::string> compiler = FindCompiler("");
  if (!compiler.ok()) return compiler.status();
  // Bare code has no self-test; within the macros' guards it is the same.
  if (style.mode == HeaderMode::kBare) style.mode = HeaderMode::kMacros;
  style.external = false;
  HeaderFile file = HeaderFileOf(library, style);
  // Single graphs are verified in headers of their own.
  std::erase_if(file.functions, [](const HeaderFunction& function) {
    return !function.has_self_test() || (function.members.empty() && function.sizes.empty());
  });
  if (file.functions.empty()) return std::unique_ptr<HeaderBuild>();
  std::vector<std::string> features;
  for (const HeaderFunction& function : file.functions)
    for (const std::string& feature : function.variants.front().features()) features.push_back(feature);
  return HeaderBuild::StartSelfTest(PrintHeaderFile(file), file.name, features, style.mode, *compiler);
}

RungReport HeaderRung(absl::StatusOr<std::unique_ptr<HeaderBuild>> build, const std::string& cannot_run,
                      size_t members) {
  const std::string name = "header";
  if (!cannot_run.empty()) return {name, RungOutcome::kSkipped, cannot_run};
  if (absl::IsNotFound(build.status()))
    return {name, RungOutcome::kSkipped, std::string(build.status().message())};
  if (build.ok() && *build == nullptr)
    return {name, RungOutcome::kSkipped, "no element of a result is a number that can be compared"};
  const absl::Status status = build.ok() ? (*build)->RunSelfTest() : build.status();
  if (!status.ok()) return {name, RungOutcome::kFailed, std::string(status.message())};
  return {name, RungOutcome::kPassed,
          Cat(members, " of ", members, " members, through the public functions")};
}

// Climbs the ladder for every member of every kernel, up to the JIT.
class MemberVerifier {
 public:
  MemberVerifier(const Library& library, const std::vector<std::string>& cannot_run)
      : library_(library), cannot_run_(cannot_run) {
    for (const LibraryKernel& kernel : library.kernels)
      for (const FamilySynthesis& variant : kernel.variants) count_ += variant.members.size();
  }

  VerifyReport Run() {
    for (const LibraryKernel& kernel : library_.kernels)
      for (size_t target = 0; target < kernel.variants.size(); ++target)
        for (const Synthesis& member : kernel.variants[target].members) Verify(member, cannot_run_[target]);
    if (count_ > 0) report_.rungs = {interpreter_.Report(count_), jit_.Report(count_)};
    return std::move(report_);
  }

 private:
  void Verify(const Synthesis& member, const std::string& cannot_run) {
    line_.Show(Cat("verifying member ", ++done_, " of ", count_));
    const VerifyReport report =
        VerifyKernel(member.result.impl, member.target, MemberOptions(count_, cannot_run));
    interpreter_.Add(report.rungs[0]);
    jit_.Add(report.rungs[1]);
    report_.max_error = std::max(report_.max_error, report.max_error);
    report_.error_bound = std::max(report_.error_bound, report.error_bound);
    if (!report.ok && report_.first_mismatch.empty())
      report_.first_mismatch =
          Cat(member.parsed.text, " for ", member.target.name, ": ", report.first_mismatch);
  }

  const Library& library_;
  const std::vector<std::string>& cannot_run_;
  size_t count_ = 0, done_ = 0;
  RungSum interpreter_{"interpreter"}, jit_{"jit"};
  VerifyReport report_;
  TerminalLine line_;
};

// Every graph for every target: a single one up to a header of its own, each member of a family up to the
// JIT.
class GraphVerifier {
 public:
  GraphVerifier(const Library& library, const LibraryStyle& style, const std::vector<std::string>& cannot_run,
                VerifyReport* report)
      : library_(library), style_(style), cannot_run_(cannot_run), report_(report) {}

  void Run() {
    for (const LibraryKernel& kernel : library_.kernels)
      for (size_t target = 0; target < kernel.graphs.size(); ++target)
        for (const RungReport& rung : kernel.is_family() ? Members(kernel, target) : Single(kernel, target))
          report_->rungs.push_back(rung);
  }

 private:
  std::string NameOf(const std::string& what, const std::string& kernel, const Target& target) const {
    const bool alone = library_.kernels.size() == 1 && library_.targets.size() == 1;
    return alone ? what : Cat(what, " of ", kernel, " for ", target.name);
  }

  VerifyReport Verify(const GraphSynthesis& synthesis, const std::string& name, const HeaderFile& header,
                      const VerifyOptions& options) {
    const VerifyReport own = VerifyPlan(synthesis.result.plan, synthesis.target, header, options);
    report_->max_error = std::max(report_->max_error, own.max_error);
    report_->error_bound = std::max(report_->error_bound, own.error_bound);
    if (!own.ok && report_->first_mismatch.empty())
      report_->first_mismatch = Cat(name, " for ", synthesis.target.name, ": ", own.first_mismatch);
    return own;
  }

  std::vector<RungReport> Single(const LibraryKernel& kernel, size_t target) {
    const GraphFamilySynthesis& synthesis = kernel.graphs[target];
    line_.Show(Cat("verifying ", kernel.name));
    const Library alone{kernel.name, {{kernel.name, "", {}, {synthesis}}}, {synthesis.target()}};
    VerifyOptions options;
    options.cannot_run = cannot_run_[target];
    VerifyReport own = Verify(synthesis.members.front(), kernel.name,
                              HeaderFileOf(alone, {style_.mode, false, style_.name_space}), options);
    for (RungReport& rung : own.rungs) rung.name = NameOf(rung.name, kernel.name, synthesis.target());
    return own.rungs;
  }

  std::vector<RungReport> Members(const LibraryKernel& kernel, size_t target) {
    const GraphFamilySynthesis& synthesis = kernel.graphs[target];
    const size_t count = synthesis.members.size();
    VerifyOptions options;
    options.header = false;
    options.cannot_run = cannot_run_[target];
    RungSum jit(NameOf("jit", kernel.name, synthesis.target()));
    for (size_t i = 0; i < count; ++i) {
      line_.Show(Cat("verifying member ", i + 1, " of ", count));
      HeaderFile unused;
      unused.functions.emplace_back().name = kernel.name;
      const std::string name = MemberName(kernel.name, synthesis.family.sizes(), static_cast<int64_t>(i));
      jit.Add(Verify(synthesis.members[i], name, unused, options).rungs.front());
    }
    return {jit.Report(count)};
  }

  const Library& library_;
  const LibraryStyle& style_;
  const std::vector<std::string>& cannot_run_;
  VerifyReport* const report_;
  TerminalLine line_;
};

// That the self-test of the header calls.
size_t MembersTested(const Library& library) {
  size_t members = 0;
  for (const LibraryKernel& kernel : library.kernels) {
    if (!kernel.is_graph()) members += kernel.variants.front().members.size();
    if (kernel.is_family()) members += kernel.graphs.front().members.size();
  }
  return members;
}

}  // namespace

VerifyReport VerifyLibrary(const Library& library, const LibraryStyle& style) {
  const std::vector<std::string> cannot_run = WhyNot(library);
  const auto runs = std::find(cannot_run.begin(), cannot_run.end(), "");
  const bool any = runs != cannot_run.end();
  auto build = StartHeader(library, style, any);
  VerifyReport report = MemberVerifier(library, cannot_run).Run();
  GraphVerifier(library, style, cannot_run, &report).Run();
  if (const size_t members = MembersTested(library); members > 0) {
    report.rungs.push_back(HeaderRung(std::move(build), any ? "" : cannot_run.front(), members));
    const RungReport& header = report.rungs.back();
    if (header.outcome == RungOutcome::kFailed && report.first_mismatch.empty())
      report.first_mismatch = Cat("header: ", header.text);
  }
  report.ok = report.first_mismatch.empty();
  return report;
}

}  // namespace kirsch
