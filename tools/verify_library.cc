// The verification of a library: see library.h.
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "codegen/engines.h"
#include "codegen/host_cpu.h"
#include "codegen/verify_header.h"
#include "spec/cat.h"
#include "tools/kernel.h"
#include "tools/library.h"
#include "tools/terminal_line.h"

namespace kirsch {
namespace {

// Shared out among the members of all kernels. A single spec would get 1e9 and 5e10.
constexpr double kFlopsInFull = 1e10;
constexpr double kFlopsInterpreted = 2e10;

VerifyOptions MemberOptions(size_t members) {
  VerifyOptions options;
  options.header = false;
  options.hot_loops = true;
  const auto share = [&](double flops) { return flops / static_cast<double>(members); };
  options.most_flops_in_full = std::min(options.most_flops_in_full, share(kFlopsInFull));
  options.most_flops_interpreted = std::min(options.most_flops_interpreted, share(kFlopsInterpreted));
  return options;
}

// Adds up all members' rungs of one name.
class RungSum {
 public:
  explicit RungSum(std::string name) : name_(std::move(name)) {}

  const std::string& name() const { return name_; }

  void Add(const RungReport& rung) {
    Add(rung, 1);
    text_ = rung.text;
  }
  // One that `members` have in common.
  void Add(const RungReport& rung, size_t members) {
    members_ += members;
    if (rung.outcome == RungOutcome::kPassed) passed_ += members;
    if (rung.outcome == RungOutcome::kFailed) failed_ = true;
    if (rung.outcome == RungOutcome::kNotRun) skipped_ = rung.text;
    if (!rung.loops) return;
    if (!loops_) loops_.emplace();
    loops_->loops += rung.loops->loops;
    loops_->spills += rung.loops->spills;
    loops_->register_moves += rung.loops->register_moves;
  }
  void Remark(const std::string& remark) { remark_ = remark; }
  bool any() const { return members_ > 0; }
  RungReport Report() const {
    const RungOutcome outcome = failed_       ? RungOutcome::kFailed
                                : passed_ > 0 ? RungOutcome::kPassed
                                              : RungOutcome::kNotRun;
    if (members_ == 1 && !text_.empty()) return {name_, outcome, text_, loops_};
    std::string text = Cat(passed_, " of ", members_, " members", remark_);
    if (!skipped_.empty()) text = passed_ > 0 ? Cat(text, "; others: ", skipped_) : skipped_;
    return {name_, outcome, text, loops_};
  }

 private:
  std::string name_;
  size_t members_ = 0, passed_ = 0;
  bool failed_ = false;
  std::string skipped_;  // why
  std::string text_;     // of the last that was some member's own
  std::string remark_;
  std::optional<HotLoops> loops_;
};

// The self-test of the header, which goes through the public functions.
struct SelfTest {
  size_t members = 0;   // that it tests
  size_t left_out = 0;  // that it doesn't, and
  std::string why_left_out;
  bool own_code = true;  // nothing but the kernels has AVX instructions
  absl::StatusOr<std::unique_ptr<HeaderBuild>> build = std::unique_ptr<HeaderBuild>();

  RungReport Run() {
    const absl::Status status = build.ok() ? (*build)->RunSelfTest() : build.status();
    const RungOutcome outcome = status.ok()              ? RungOutcome::kPassed
                                : IsOfTheMachine(status) ? RungOutcome::kNotRun
                                                         : RungOutcome::kFailed;
    RungReport rung{kHeaderRung, outcome, std::string(status.message())};
    if (status.ok() && own_code)
      if (const auto code = (*build)->MachineCode(); code.ok())
        if (const auto loops = FindHotLoops(*code); loops.ok()) rung.loops = *loops;
    return rung;
  }
};

bool RunsHere(const HeaderVariant& variant) { return MissingOnHost(variant.features()).empty(); }

// Of a file for one spec and one target; null: it has more, or graphs.
const Synthesis* OnlySpec(const Library& library) {
  const std::vector<FamilySynthesis>& variants = library.kernels.front().variants;
  const bool only = library.kernels.size() == 1 && variants.size() == 1 && !variants.front().is_graph() &&
                    variants.front().members.size() == 1;
  return only ? &variants.front().spec(0) : nullptr;
}

// Compiling takes a while: starts it. Single graphs are verified in headers of their own.
SelfTest StartSelfTest(const Library& library, LibraryStyle style) {
  SelfTest test;
  // Bare code has no self-test; within the macros' guards it is the same.
  if (style.mode == HeaderMode::kBare) style.mode = HeaderMode::kMacros;
  style.external = false;
  test.own_code = style.mode == HeaderMode::kAttributes;
  HeaderFile file = HeaderFileOf(library, style);
  std::erase_if(file.functions, [](const HeaderFunction& function) {
    return function.members.empty() && function.sizes.empty();
  });
  std::erase_if(file.functions, [&](const HeaderFunction& function) {
    const std::vector<HeaderVariant>& variants = function.variants;
    const bool runs = std::any_of(variants.begin(), variants.end(), RunsHere);
    const size_t members = variants.front().programs.size();
    if (runs && function.has_self_test()) {
      test.members += members;
      return false;
    }
    test.left_out += members;
    test.why_left_out = runs ? "no element of a result is a number that can be compared"
                             : Cat("the host lacks ", MissingOnHost(variants.back().features()));
    return true;
  });
  if (file.functions.empty()) return test;
  const absl::StatusOr<std::string> compiler = FindCompiler("");
  if (!compiler.ok()) {
    test.build = compiler.status();
    return test;
  }
  std::vector<std::string> features;
  for (const HeaderFunction& function : file.functions)
    for (const std::string& feature : function.variants.front().features()) features.push_back(feature);
  test.build = HeaderBuild::StartSelfTest(PrintHeaderFile(file), file.name, features, style.mode, *compiler);
  return test;
}

// Climbs the ladder for every member of every kernel and target: up to the JIT, a single graph up to a header
// of its own.
class LibraryVerifier {
 public:
  LibraryVerifier(const Library& library, const LibraryStyle& style) : library_(library), style_(style) {
    for (const LibraryKernel& kernel : library.kernels)
      for (const FamilySynthesis& variant : kernel.variants) count_ += variant.members.size();
  }

  VerifyReport Run() {
    report_.verdict = Verdict::kVerified;  // unless some member's is worse
    SelfTest self_test = StartSelfTest(library_, style_);
    for (const LibraryKernel& kernel : library_.kernels)
      for (const FamilySynthesis& variant : kernel.variants)
        for (size_t i = 0; i < variant.members.size(); ++i) {
          line_.Show(Cat("verifying member ", ++done_, " of ", count_));
          variant.is_graph() ? VerifyGraph(variant, i) : VerifySpec(variant.spec(i));
        }
    AddSelfTest(&self_test);
    for (const RungSum& sum : sums_)
      if (sum.any()) report_.rungs.push_back(sum.Report());
    report_.ok = report_.verdict == Verdict::kVerified || report_.verdict == Verdict::kProgramChecked;
    return std::move(report_);
  }

 private:
  void VerifySpec(const Synthesis& member) {
    Add(VerifyKernel(member.result.impl, member.target, MemberOptions(count_)),
        Cat(member.parsed.text, " for ", member.target.name));
  }

  void VerifyGraph(const FamilySynthesis& variant, size_t i) {
    const KernelRequest& request = variant.request;
    const bool family = request.count() > 1;
    VerifyOptions options = MemberOptions(count_);
    options.header = !family;
    HeaderFile header;
    header.functions.emplace_back().name = request.name;
    if (options.header)
      header = HeaderFileOf({request.name, {{{variant}}}, {variant.target()}},
                            {style_.mode, false, style_.name_space});
    const std::string name = MemberName(request.name, request.sizes(), static_cast<int64_t>(i));
    Add(VerifyPlan(variant.graph(i).result.plan, variant.target(), header, options),
        Cat(family ? name : request.name, " for ", variant.target().name));
  }

  void Add(const VerifyReport& own, const std::string& name) {
    for (const RungReport& rung : own.rungs)
      for (RungSum& sum : sums_)
        if (sum.name() == rung.name) sum.Add(rung);
    report_.max_error = std::max(report_.max_error, own.max_error);
    report_.error_bound = std::max(report_.error_bound, own.error_bound);
    report_.verdict = std::max(report_.verdict, own.verdict);
    if (!own.first_mismatch.empty() && report_.first_mismatch.empty())
      report_.first_mismatch = count_ > 1 ? Cat(name, ": ", own.first_mismatch) : own.first_mismatch;
  }

  void AddSelfTest(SelfTest* self_test) {
    RungSum& header = sums_.back();
    header.Add({kHeaderRung, RungOutcome::kNotRun, self_test->why_left_out}, self_test->left_out);
    if (self_test->members == 0) return;
    const RungReport rung = self_test->Run();
    header.Add(rung, self_test->members);
    header.Remark(", through the public functions");
    if (rung.outcome != RungOutcome::kFailed) return;
    report_.verdict = Verdict::kFailed;
    if (report_.first_mismatch.empty()) report_.first_mismatch = Cat(kHeaderRung, ": ", rung.text);
  }

  const Library& library_;
  const LibraryStyle& style_;
  size_t count_ = 0, done_ = 0;
  std::array<RungSum, 3> sums_ = {RungSum(kInterpreterRung), RungSum(kJitRung), RungSum(kHeaderRung)};
  VerifyReport report_;
  TerminalLine line_;
};

}  // namespace

VerifyReport VerifyLibrary(const Library& library, const LibraryStyle& style) {
  if (const Synthesis* const only = OnlySpec(library);
      only != nullptr && library.name == library.kernels[0].name()) {
    HeaderOptions header = HeaderOptionsFor(*only, style.mode);
    header.name_space = style.name_space;
    return VerifySynthesis(*only, header, style.abi);
  }
  return LibraryVerifier(library, style).Run();
}

}  // namespace kirsch
