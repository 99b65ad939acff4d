// SPDX-License-Identifier: Apache-2.0
// Verifies a library: see kernel_library.h. Members climb to the JIT one after another, while the header
// compiles beside, with all of them that have none of their own (HasOwnHeader).
#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "codegen/llvm/host_cpu.h"
#include "codegen/verify/engines.h"
#include "codegen/verify/verify_header.h"
#include "rewrites/graph/canonical_graph.h"
#include "search/families/symbolic_schedule.h"
#include "spec/program/impl_program.h"
#include "spec/text/cat.h"
#include "synthesis/kernel_library.h"

namespace kirsch {
namespace {

// Operations of the work that all members of all kernels together may take: to compare every element with the
// reference, and to run the interpreter. Each member gets an equal share, but no more than the limits of
// VerifyOptions.
constexpr double kFlopsInFull = 1e10;
constexpr double kFlopsInterpreted = 2e10;
// Elements that the members of a region which are run have together, if these are several. Filling tensors
// takes longer than running kernels, where a size has no end.
constexpr int64_t kMostElementsOfRegion = int64_t{1} << 27;

// Adds up one rung of the ladder over all members: "61 of 64 members; others: the host lacks avx512f".
class RungSum {
 public:
  explicit RungSum(std::string name) : name_(std::move(name)) {}

  const std::string& name() const { return name_; }

  // The rung of one member.
  void Add(const RungReport& rung) {
    Add(rung, 1);
    text_ = rung.text;
  }
  // One report that stands for several members, as the self-test does.
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
  std::string skipped_;  // why some weren't run: the last reason
  std::string text_;     // of the last member with a report of its own; shown if it is the only one
  std::string remark_;   // behind the count of members
  std::optional<HotLoops> loops_;
};

// The self-test of the header. It calls the public functions, and so also checks how they choose among sizes
// and targets.
struct SelfTest {
  size_t members = 0;   // of functions that it tests
  size_t left_out = 0;  // of functions that it doesn't
  std::string why_left_out;
  bool own_code = true;  // only the kernels have AVX instructions: hot loops are theirs
  absl::StatusOr<std::unique_ptr<HeaderBuild>> build = std::unique_ptr<HeaderBuild>();

  RungReport Run() {
    const absl::Status status = build.ok() ? (*build)->RunSelfTest() : build.status();
    const RungOutcome outcome = status.ok()              ? RungOutcome::kPassed
                                : IsOfTheMachine(status) ? RungOutcome::kNotRun
                                                         : RungOutcome::kFailed;
    RungReport rung{kHeaderRung, outcome, std::string(status.message())};
    // Hot loops are the innermost ones with AVX instructions. So they are the kernels' only if nothing else
    // has any.
    if (status.ok() && own_code)
      if (const auto code = (*build)->MachineCode(); code.ok())
        if (const auto loops = FindHotLoops(*code); loops.ok()) rung.loops = *loops;
    return rung;
  }
};

bool RunsHere(const HeaderVariant& variant) { return MissingOnHost(variant.features()).empty(); }

// True if the members are verified in a header of their own: a single graph, and a single spec for one target
// that is all there is in its file. The header of all others is compiled once, for its self-test.
bool HasOwnHeader(const Library& library, const LibraryKernel& kernel) {
  const bool alone =
      library.kernels.size() == 1 && library.targets.size() == 1 && library.name == kernel.name();
  return kernel.request().count() == 1 && (kernel.request().family.graphs() != nullptr || alone);
}

// Starts compiling the self-test, which takes a while. Functions that can't be tested are left out and
// counted.
SelfTest StartSelfTest(const Library& library, LibraryStyle style) {
  SelfTest test;
  // Bare code has no self-test; within the macros' guards it is the same.
  if (style.mode == HeaderMode::kBare) style.mode = HeaderMode::kMacros;
  style.external = false;
  test.own_code = style.mode == HeaderMode::kAttributes;
  HeaderFile file = MakeHeaderFile(library, style);
  // Kernels with a header of their own are tested there.
  for (const LibraryKernel& kernel : library.kernels)
    if (HasOwnHeader(library, kernel))
      std::erase_if(file.functions,
                    [&](const HeaderFunction& function) { return function.name == kernel.name(); });
  // Of the others, leave out functions whose code this CPU can't run, or whose results can't be compared.
  std::erase_if(file.functions, [&](const HeaderFunction& function) {
    const std::vector<HeaderVariant>& variants = function.variants;
    const bool runs = std::any_of(variants.begin(), variants.end(), RunsHere);
    const size_t members = variants.front().members();
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
  // Without a compiler the self-test is reported as not run.
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

// The spec or graph that a member computes. It points into `member`.
std::variant<const Spec*, const Graph*> ComputedBy(const KernelMember& member) {
  if (const auto* const graph = std::get_if<Graph>(&member)) return graph;
  return &std::get<ParsedSpec>(member).spec;
}

int64_t ElementsOf(const KernelMember& member) {
  return std::visit([](const auto* computed) { return CallersElements(*computed); }, ComputedBy(member));
}

// Returns which members of a region to run, ascending: the largest that may be tested, and from the smallest
// on as many as can be afforded; one at least. `elements`: of each member.
std::vector<size_t> AffordableMembers(const std::vector<int64_t>& elements) {
  std::vector<size_t> by_elements(elements.size());
  std::iota(by_elements.begin(), by_elements.end(), 0);
  std::stable_sort(by_elements.begin(), by_elements.end(),
                   [&](size_t a, size_t b) { return elements[a] < elements[b]; });
  while (by_elements.size() > 1 && elements[by_elements.back()] > kMostElementsTested) by_elements.pop_back();
  std::rotate(by_elements.begin(), by_elements.end() - 1, by_elements.end());
  int64_t sum = 0;
  const auto beyond = std::find_if(by_elements.begin() + 1, by_elements.end(), [&](size_t member) {
    return (sum += elements[member]) > kMostElementsOfRegion;
  });
  by_elements.erase(beyond, by_elements.end());
  std::sort(by_elements.begin(), by_elements.end());
  return by_elements;
}

// Verifies all members of all kernels for all targets, and makes one report of it. Each climbs up to the JIT,
// or to a header of its own.
class LibraryVerifier {
 public:
  LibraryVerifier(const Library& library, const LibraryStyle& style, Observer* observer)
      : library_(library), style_(style), step_(observer, StepKind::kVerification) {
    for (const LibraryKernel& kernel : library.kernels)
      for (const FamilySynthesis& variant : kernel.variants) count_ += ProgramCount(variant);
  }

  VerifyReport Run() {
    report_.verdict = Verdict::kVerified;  // unless some member's is worse
    // The compiler works on the self-test meanwhile.
    SelfTest self_test = StartSelfTest(library_, style_);
    for (const LibraryKernel& kernel : library_.kernels)
      for (const FamilySynthesis& variant : kernel.variants) {
        for (size_t i = 0; variant.shares() && i < variant.regions.list.size(); ++i) VerifyRegion(variant, i);
        for (size_t i = 0; !variant.shares() && i < variant.members.size(); ++i) {
          ++done_;
          VerifyMember(variant, i, HasOwnHeader(library_, kernel));
        }
      }
    AddSelfTest(&self_test);
    for (const RungSum& sum : sums_)
      if (sum.any()) report_.rungs.push_back(sum.Report());
    report_.ok = report_.verdict == Verdict::kVerified || report_.verdict == Verdict::kProgramChecked;
    return std::move(report_);
  }

 private:
  // Which values of a size to verify, out of `count`: all if they are few; else the first and the last ones,
  // and some between. The ends have every remainder of register tiles, as no tile has more rows than there
  // are registers.
  static std::vector<size_t> SampleValues(size_t count) {
    constexpr size_t kAtEnds = 32, kBetween = 8;
    const size_t step = std::max<size_t>(1, count / kBetween);
    std::vector<size_t> sample;
    for (size_t i = 0; i < count; ++i)
      if (i < kAtEnds || i + kAtEnds >= count || i % step == 0) sample.push_back(i);
    return sample;
  }

  // Which members of a region to verify. If its program takes one size: those with a sample of its values. If
  // it takes several: for each of the sizes a sample of its values, each value with a few of the others'.
  static std::vector<int64_t> SampleMembers(const FamilySynthesis& variant, size_t number) {
    constexpr size_t kOfOthers = 2;
    const std::vector<int64_t>& members = variant.regions.list[number].members;
    std::set<size_t> taken;
    for (const SizeSum& sum : variant.sizes_of_shared[number])
      taken.insert(sum.sizes.begin(), sum.sizes.end());
    std::vector<int64_t> sample;
    if (taken.size() < 2) {
      for (size_t i : SampleValues(members.size())) sample.push_back(members[i]);
      return sample;
    }
    // A line has the members with one value of `size`. A few of each line are taken, at another place in
    // each.
    std::set<int64_t> chosen = {members.front(), members.back()};
    for (size_t size : taken) {
      std::map<uint32_t, std::vector<int64_t>> by_value;
      for (int64_t member : members)
        by_value[ValuesOf(variant.regions.sizes, member)[size]].push_back(member);
      std::vector<std::vector<int64_t>> lines;
      for (auto& [value, line] : by_value) lines.push_back(std::move(line));
      for (size_t i : SampleValues(lines.size()))
        for (size_t j = 0; j < kOfOthers; ++j)
          chosen.insert(lines[i][(i + j * lines[i].size() / kOfOthers) % lines[i].size()]);
    }
    return {chosen.begin(), chosen.end()};
  }

  // How many members are run, for the progress and for the share of the work.
  static size_t ProgramCount(const FamilySynthesis& variant) {
    if (!variant.shares()) return variant.members.size();
    size_t count = 0;
    for (size_t i = 0; i < variant.regions.list.size(); ++i) count += SampleMembers(variant, i).size();
    return count;
  }

  // The sizes at which a member's program is run: the member's own, and where it serves sizes below, the
  // least of them and one between.
  static std::set<std::vector<uint32_t>> ServedAs(const std::vector<VaryingSize>& sizes, int64_t member) {
    const std::vector<uint32_t> values = ValuesOf(sizes, member);
    std::vector<uint32_t> least;
    for (size_t i = 0; i < sizes.size(); ++i) least.push_back(sizes[i].LeastServedAs(values[i]));
    return {values, least, ValuesBetween(sizes, member)};
  }

  // What a program for a region computes at these values of its sizes. They need not be those of a member:
  // samples serve what is between them.
  static KernelMember MemberAt(const FamilySynthesis& variant, size_t number, int64_t member,
                               const std::vector<uint32_t>& values) {
    const ProgramTree& own = variant.members[static_cast<size_t>(member)].program;
    const auto* const impl = std::get_if<Impl>(&own);
    if (impl == nullptr) return CanonicalGraph(*variant.request.family.graphs()->MemberOf(values));
    ParsedSpec parsed;
    parsed.spec = impl->spec;
    const std::vector<size_t> dims = SymbolicDims(std::get<Impl>(variant.shared[number]));
    for (size_t i = 0; i < dims.size(); ++i)
      parsed.spec = Resized(parsed.spec, dims[i], variant.sizes_of_shared[number][i].Of(values));
    return parsed;
  }

  // Compiles the program of a region once, and runs it for a sample of the region's sizes.
  void VerifyRegion(const FamilySynthesis& variant, size_t number) {
    const std::vector<int64_t> sample = SampleMembers(variant, number);
    done_ += sample.size();
    std::vector<KernelMember> computed;
    std::vector<std::vector<uint32_t>> values_of;  // the sizes of each
    std::vector<int64_t> elements, member_of;      // of each; its number in the family
    for (int64_t member : sample)
      for (const std::vector<uint32_t>& values : ServedAs(variant.regions.sizes, member)) {
        computed.push_back(MemberAt(variant, number, member, values));
        values_of.push_back(values);
        elements.push_back(ElementsOf(computed.back()));
        member_of.push_back(member);
      }
    const std::vector<size_t> run = AffordableMembers(elements);
    std::vector<MemberOfSize> members;
    for (size_t i : run) {
      members.push_back({ComputedBy(computed[i])});
      for (const SizeSum& taken : variant.sizes_of_shared[number])
        members.back().sizes.push_back(taken.Of(values_of[i]));
    }
    const std::vector<VerifyReport> reports =
        VerifySizes(variant.shared[number], members, variant.target(), variant.request.name, MemberOptions());
    for (size_t i = 0; i < run.size(); ++i)
      Add(reports[i], variant.members[static_cast<size_t>(member_of[run[i]])]);
  }

  // Verifies a member with a program of its own; with `own_header`, in a header as well.
  void VerifyMember(const FamilySynthesis& variant, size_t i, bool own_header) {
    const KernelRequest& request = variant.request;
    VerifyOptions options = MemberOptions();
    options.header = own_header;
    HeaderFile header;
    header.functions.emplace_back().name = MemberName(request.name, request.sizes(), static_cast<int64_t>(i));
    if (own_header) {
      LibraryStyle style = style_;
      style.external = false;
      header = MakeHeaderFile({request.name, {{{variant}}}, {variant.target()}}, style);
    }
    Add(VerifyKernel(variant.members[i].program, variant.target(), header, options), variant.members[i]);
  }

  // The report has the worst of all members, and the first mismatch of any.
  void Add(const VerifyReport& own, const Synthesis& member) {
    for (const RungReport& rung : own.rungs)
      for (RungSum& sum : sums_)
        if (sum.name() == rung.name) sum.Add(rung);
    report_.max_error = std::max(report_.max_error, own.max_error);
    report_.error_bound = std::max(report_.error_bound, own.error_bound);
    report_.error_share = std::max(report_.error_share, own.error_share);
    report_.verdict = std::max(report_.verdict, own.verdict);
    if (!own.first_mismatch.empty() && report_.first_mismatch.empty())
      report_.first_mismatch =
          Cat(count_ > 1 ? Cat(member.name, " for ", member.target.name, ": ") : "", own.first_mismatch);
  }

  // Waits for the compiler, and runs the self-test. A failure fails the whole library.
  void AddSelfTest(SelfTest* self_test) {
    RungSum& header = sums_.back();
    header.Add({kHeaderRung, RungOutcome::kNotRun, self_test->why_left_out}, self_test->left_out);
    if (self_test->members == 0) return;
    step_.Tell(Cat("verifying: header, self-test of ", self_test->members, " members"));
    const RungReport rung = self_test->Run();
    header.Add(rung, self_test->members);
    header.Remark(", through the public functions");
    if (rung.outcome != RungOutcome::kFailed) return;
    report_.verdict = Verdict::kFailed;
    if (report_.first_mismatch.empty()) report_.first_mismatch = Cat(kHeaderRung, ": ", rung.text);
  }

  void Show(std::string_view what) {
    step_.Tell(Cat("verifying", count_ == 1 ? "" : Cat(" member ", done_, " of ", count_), ": ", what));
  }

  VerifyOptions MemberOptions() {
    VerifyOptions options;
    options.progress = [this](std::string_view what) { Show(what); };
    options.abi = style_.abi;
    options.hot_loops = true;
    const auto share = [&](double flops) { return flops / static_cast<double>(count_); };
    options.most_flops_in_full = std::min(options.most_flops_in_full, share(kFlopsInFull));
    options.most_flops_interpreted = std::min(options.most_flops_interpreted, share(kFlopsInterpreted));
    return options;
  }

  const Library& library_;
  const LibraryStyle& style_;
  size_t count_ = 0, done_ = 0;
  std::array<RungSum, 3> sums_ = {RungSum(kInterpreterRung), RungSum(kJitRung), RungSum(kHeaderRung)};
  VerifyReport report_;
  const Step step_;
};

}  // namespace

VerifyReport VerifyLibrary(const Library& library, const LibraryStyle& style, Observer* observer) {
  return LibraryVerifier(library, style, observer).Run();
}

}  // namespace kirsch
