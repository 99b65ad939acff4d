// SPDX-License-Identifier: Apache-2.0
#include "spec/language/family.h"

#include <algorithm>
#include <utility>

#include "spec/check.h"
#include "spec/language/printer.h"
#include "spec/text/cat.h"
#include "spec/text/status_macros.h"
#include "spec/text/text.h"
#include "spec/usual_sizes.h"

namespace kirsch {
namespace {

constexpr std::string_view kDots = "..";
constexpr size_t kSizesWord = 2;  // "matmul f32 1..64x256x256"

// The sizes of a shorthand, ranges included: "4:1..64x256x256". A batch of one is left out.
std::string SizesText(const UserRanges& ranges) {
  std::string text;
  for (size_t dim = 0; dim < ranges.size(); ++dim) {
    const SizeRange& range = ranges[dim];
    if (dim == MatmulDims::kB && range.high == 1) continue;
    Append(&text, range.low);
    if (range.varies()) Append(&text, kDots, range.high);
    if (dim != MatmulDims::kN) Append(&text, dim == MatmulDims::kB ? ":" : "x");
  }
  return text;
}

UserRanges Single(const UserSizes& sizes) {
  UserRanges ranges;
  for (size_t dim = 0; dim < sizes.size(); ++dim) ranges[dim] = {sizes[dim], sizes[dim]};
  return ranges;
}

// The sizes that vary, with all of their values. Their names are those of the dims.
std::vector<VaryingSize> EverySize(const UserRanges& ranges) {
  std::vector<VaryingSize> sizes;
  for (size_t dim = 0; dim < ranges.size(); ++dim) {
    if (!ranges[dim].varies()) continue;
    VaryingSize& size = sizes.emplace_back(VaryingSize{std::string(kMatmulInfo.dims[dim].name), {}});
    for (uint32_t value = ranges[dim].low; value <= ranges[dim].high; ++value) size.values.push_back(value);
  }
  return sizes;
}

// The same as samples, where there are too many members. Sizes of the mixture stay, as these are asked for. A
// mixture is of the only size that varies.
std::vector<VaryingSize> LookedAt(std::vector<VaryingSize> sizes, const std::vector<SizeShare>& mixture) {
  std::vector<std::vector<uint32_t>> kept(sizes.size());
  for (const SizeShare& share : mixture) kept.front().push_back(share.size);
  SampleSizes(&sizes, kept);
  return sizes;
}

}  // namespace

std::vector<uint32_t> UsualSizesBetween(uint32_t low, uint32_t high) {
  std::vector<uint32_t> sizes = {low, high};
  const auto add = [&](uint32_t size) {
    if (size > low && size < high) sizes.push_back(size);
  };
  for (uint32_t size : kUsualSizes) add(size);
  std::ranges::sort(sizes);
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

std::vector<int> SpecFamily::varying() const {
  std::vector<int> dims;
  for (int dim = 0; dim < kFamilyDims; ++dim)
    if (ranges_[static_cast<size_t>(dim)].varies()) dims.push_back(dim);
  return dims;
}

// The names are those of `sizes_`: MakeFamily sets them.
std::vector<VaryingSize> SpecFamily::varying_sizes(FamilySizes which) const {
  if (which == FamilySizes::kLookedAt) return sizes_;
  std::vector<VaryingSize> sizes = EverySize(ranges_);
  for (size_t i = 0; i < sizes.size(); ++i) {
    std::vector<uint32_t>& values = sizes[i].values;
    if (which == FamilySizes::kUsual) values = UsualSizesBetween(values.front(), values.back());
    sizes[i].name = sizes_[i].name;
  }
  return sizes;
}

// A convolution's filters are constant, too, but a convolution is no family.
bool SpecFamily::SharesConstant() const {
  const std::vector<int> dims = varying();
  const int constant = single_ ? -1 : ConstantOperand(form_);
  return constant >= 0 && dims.size() == 1 &&
         !kMatmulInfo.operands[static_cast<size_t>(constant)].UsesDim(dims.front());
}

int64_t SpecFamily::count(FamilySizes which) const {
  return CountMembers(which == FamilySizes::kLookedAt ? sizes_ : varying_sizes(which));
}

// `values` has an entry for each size that varies; the others have one value.
UserSizes SpecFamily::SizesOf(absl::Span<const uint32_t> values) const {
  UserSizes sizes;
  const auto* next = values.begin();
  for (size_t dim = 0; dim < sizes.size(); ++dim)
    sizes[dim] = ranges_[dim].varies() ? *next++ : ranges_[dim].low;
  return sizes;
}

UserSizes SpecFamily::sizes(int64_t index, FamilySizes which) const {
  return SizesOf(ValuesOf(varying_sizes(which), index));
}

// Members of a kernel of the language are kept, as their parameters' names and types are in no shorthand.
ParsedSpec SpecFamily::member(int64_t index, FamilySizes which) const {
  if (which != FamilySizes::kLookedAt) return MemberOf(ValuesOf(varying_sizes(which), index));
  return members_.empty() ? MemberOf(ValuesOf(sizes_, index)) : members_[static_cast<size_t>(index)];
}

ParsedSpec SpecFamily::MemberOf(absl::Span<const uint32_t> values) const {
  return single_ ? *single_ : CanonicalRequest(WithSizes(form_, SizesOf(values)));
}

// The sizes are those of the user, before the problem was transposed.
SpecFamily::SpecFamily(ParsedSpec single) : text_(single.text) {
  UserSizes sizes;
  std::copy_n(single.spec.size.begin(), sizes.size(), sizes.begin());
  if (single.swapped) std::swap(sizes[MatmulDims::kM], sizes[MatmulDims::kN]);
  ranges_ = Single(sizes);
  single_ = std::move(single);
}

absl::StatusOr<SpecFamily> ParseFamily(const Word& text, std::string_view source) {
  std::vector<Word> words = SplitWords(text);
  // Only matmuls have families of specs. Ranges in other shorthands are families of graphs.
  if (FindContraction(words[0].text) == nullptr) {
    KIRSCH_ASSIGN_OR_RETURN(ParsedSpec single, ParseSpec(text, source));
    return SpecFamily(std::move(single));
  }
  KIRSCH_ASSIGN_OR_RETURN(const std::optional<Word> mixture, TakeMixture(source, &words));
  KIRSCH_ASSIGN_OR_RETURN(const ParsedMatmul matmul, ParsedMatmul::Parse(words, source));
  SpecFamily family;
  family.ranges_ = matmul.ranges();
  UserSizes low, next, high;
  for (size_t dim = 0; dim < low.size(); ++dim) {
    low[dim] = family.ranges_[dim].low;
    high[dim] = family.ranges_[dim].high;
    next[dim] = std::min(low[dim] + 1, high[dim]);
  }
  KIRSCH_ASSIGN_OR_RETURN(const Spec smallest, matmul.Member(low));
  // A mistake in a member has to be found without looking at all of them. Limits grow with the sizes, so the
  // largest member breaks them first. A size that must be a multiple of something is none in the member after
  // the smallest.
  for (const UserSizes& sizes : {high, next})
    if (absl::Status status = matmul.Member(sizes).status(); !status.ok())
      return absl::InvalidArgumentError(
          Cat(std::string(status.message()), " (for the member ", SizesText(Single(sizes)), ")"));
  // Members keep a leading dimension that was given, and have their own default for others, which is 0 in
  // form_. One that was given differs from the smallest member's default, or is every member's.
  family.form_ = matmul.form();
  for (int operand = 0; operand <= kMatmulInfo.output(); ++operand) {
    const uint32_t ld = smallest.operand[static_cast<size_t>(operand)].layout.ld;
    if (ld != ExtentOf(smallest, operand).inner) family.form_.tensor(operand).layout.ld = ld;
  }
  family.text_ = PrintSpec(smallest, SizesText(family.ranges_));
  std::vector<VaryingSize> sizes = EverySize(family.ranges_);
  if (!mixture) {
    family.sizes_ = LookedAt(std::move(sizes), {});
    return family;
  }
  // A mixture decides how a constant operand is packed. Without such an operand it would mean nothing.
  if (!family.SharesConstant())
    return ExpectedAt(source, *mixture,
                      "a mixture only where an operand is constant, and one size varies that it lacks");
  KIRSCH_ASSIGN_OR_RETURN(family.mixture_,
                          ParseMixture(source, mixture->Part(kMixtureOption.size()), sizes.front()));
  family.sizes_ = LookedAt(std::move(sizes), family.mixture_);
  Append(&family.text_, " ", kMixtureOption, PrintMixture(family.mixture_));
  return family;
}

namespace {

// The text of the family with this first and last member: "matmul f32 1..64x256x256 rhs=col". Options are
// those of the last one, which has the fewest special forms.
std::string FamilyText(const ParsedSpec& first, const ParsedSpec& last) {
  UserRanges ranges = SpecFamily(last).ranges();
  for (size_t dim = 0; dim < ranges.size(); ++dim) ranges[dim].low = SpecFamily(first).ranges()[dim].low;
  std::vector<std::string> words;
  for (const Word& word : SplitWords(last.text))
    words.push_back(words.size() == kSizesWord ? SizesText(ranges) : std::string(word.text));
  return Join(words, " ");
}

}  // namespace

std::optional<SpecFamily> MakeFamily(std::vector<ParsedSpec> members, const std::vector<VaryingSize>& sizes,
                                     const std::vector<SizeShare>& mixture) {
  std::string text = FamilyText(members.front(), members.back());
  if (!mixture.empty()) Append(&text, " ", kMixtureOption, PrintMixture(mixture));
  // The text is a guess. So the family that it stands for is compared with the members, sizes first.
  absl::StatusOr<SpecFamily> family = ParseFamily(text);
  if (!family.ok() || family->count() != std::ssize(members)) return std::nullopt;
  if (family->sizes_.size() > sizes.size()) return std::nullopt;
  for (size_t i = 0; i < family->sizes_.size(); ++i) {
    const bool same =
        family->sizes_[i].values == sizes[i].values && family->sizes_[i].sampled == sizes[i].sampled;
    if (!same) return std::nullopt;
    // The kernel's own name for the size replaces the dim's.
    family->sizes_[i].name = sizes[i].name;
  }
  // Sizes alone do not make members equal: strides and parameters' order may differ, too.
  for (int64_t i = 0; i < family->count(); ++i) {
    const ParsedSpec member = family->member(i), &own = members[static_cast<size_t>(i)];
    if (member.spec != own.spec || member.swapped != own.swapped) return std::nullopt;
  }
  family->members_ = std::move(members);
  return *std::move(family);
}

}  // namespace kirsch
