#include "spec/family.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_replace.h"
#include "spec/cat.h"
#include "spec/check.h"
#include "spec/shorthand.h"
#include "spec/text.h"
#include "spec/usual_sizes.h"

namespace kirsch {
namespace {

constexpr std::string_view kSource = "spec";
constexpr std::string_view kDots = "..";

// A size as it was written.
struct WrittenSize {
  Word word;
  SizeRange range;
};

absl::StatusOr<WrittenSize> ParseRange(const Word& word) {
  const size_t dots = word.text.find(kDots);
  absl::StatusOr<uint32_t> low = ParseNumber(kSource, word.Part(0, dots), "a size", 1, kMaxSide);
  if (!low.ok()) return low.status();
  if (dots == std::string_view::npos) return WrittenSize{word, {*low, *low}};
  absl::StatusOr<uint32_t> high =
      ParseNumber(kSource, word.Part(dots + kDots.size()), "the last size of a range", *low, kMaxSide);
  if (!high.ok()) return high.status();
  return WrittenSize{word, {*low, *high}};
}

// [B:]MxKxN, in the order of the text.
absl::StatusOr<std::vector<WrittenSize>> ParseRanges(const Word& word) {
  std::vector<Word> words;
  Word rest = word;
  if (const size_t colon = word.text.find(':'); colon != std::string_view::npos) {
    words.push_back(word.Part(0, colon));
    rest = word.Part(colon + 1);
  }
  const std::vector<Word> sides = Split(rest, 'x');
  if (sides.size() != 3)
    return ExpectedAt(kSource, word, "sizes as MxKxN or BATCH:MxKxN, each a size or a range a..b");
  words.insert(words.end(), sides.begin(), sides.end());
  std::vector<WrittenSize> sizes;
  for (const Word& size : words) {
    absl::StatusOr<WrittenSize> written = ParseRange(size);
    if (!written.ok()) return written.status();
    sizes.push_back(*written);
  }
  return sizes;
}

// `text` with every size replaced by its lower or upper end, filled up with zeros: nothing changes its place.
std::string MemberInPlace(std::string_view text, const std::vector<WrittenSize>& sizes, bool upper) {
  std::string member(text);
  for (const WrittenSize& size : sizes) {
    std::string digits = Cat(upper ? size.range.high : size.range.low);
    const size_t width = size.word.text.size();
    if (digits.size() < width) digits.insert(0, width - digits.size(), '0');
    member.replace(static_cast<size_t>(size.word.text.data() - text.data()), width, digits);
  }
  return member;
}

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

// Parses one end of the family where it stands, so that errors have the user's places and words.
absl::StatusOr<ParsedSpec> ParseEnd(std::string_view text, const Word& written,
                                    const std::vector<WrittenSize>& sizes, bool upper) {
  const std::string member = MemberInPlace(text, sizes, upper);
  absl::StatusOr<ParsedSpec> parsed = ParseSpec(member);
  if (parsed.ok()) return parsed;
  const auto offset = static_cast<size_t>(written.text.data() - text.data());
  const std::string_view padded = std::string_view(member).substr(offset, written.text.size());
  return absl::InvalidArgumentError(absl::StrReplaceAll(
      parsed.status().message(), {{Cat("got ", Quoted(padded)), Cat("got ", Quoted(written.text))}}));
}

// Where the sizes are in the words of a spec, and where the options begin in its text.
constexpr size_t kSizesWord = 2;

struct SplitText {
  std::string head, options;
};

SplitText SplitAtSizes(const std::string& text) {
  const Word sizes = SplitWords(text)[kSizesWord];
  const auto offset = static_cast<size_t>(sizes.text.data() - text.data());
  return {text.substr(0, offset), text.substr(offset + sizes.text.size())};
}

uint32_t SizeAt(const SizeRange& range, FamilySizes which, int64_t index) {
  if (which == FamilySizes::kEverySize) return range.low + static_cast<uint32_t>(index);
  return LatticeSizes(range.low, range.high)[static_cast<size_t>(index)];
}

}  // namespace

std::vector<uint32_t> LatticeSizes(uint32_t low, uint32_t high) {
  std::vector<uint32_t> sizes = {low, high};
  const auto add = [&](uint32_t size) {
    if (size > low && size < high) sizes.push_back(size);
  };
  for (uint32_t size : kUsualSizes) add(size);
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

std::vector<int> SpecFamily::varying() const {
  std::vector<int> dims;
  for (int dim = 0; dim < kFamilyDims; ++dim)
    if (ranges_[static_cast<size_t>(dim)].varies()) dims.push_back(dim);
  return dims;
}

std::vector<VaryingSize> SpecFamily::varying_sizes(FamilySizes which) const {
  std::vector<VaryingSize> sizes;
  for (int dim : varying()) {
    VaryingSize size{std::string(kMatmulInfo.dims[static_cast<size_t>(dim)].name), {}};
    for (int64_t i = 0; i < count_along(dim, which); ++i)
      size.values.push_back(SizeAt(ranges_[static_cast<size_t>(dim)], which, i));
    sizes.push_back(std::move(size));
  }
  return sizes;
}

int64_t SpecFamily::count_along(int dim, FamilySizes which) const {
  const SizeRange& range = ranges_[static_cast<size_t>(dim)];
  if (which == FamilySizes::kEverySize) return int64_t{range.high} - range.low + 1;
  return static_cast<int64_t>(LatticeSizes(range.low, range.high).size());
}

int64_t SpecFamily::count(FamilySizes which) const {
  int64_t count = 1;
  for (int dim = 0; dim < kFamilyDims; ++dim)
    KIRSCH_CHECK(!__builtin_mul_overflow(count, count_along(dim, which), &count));
  return count;
}

UserSizes SpecFamily::sizes(int64_t index, FamilySizes which) const {
  KIRSCH_CHECK(index >= 0 && index < count(which));
  UserSizes sizes;
  for (size_t dim = kFamilyDims; dim-- > 0;) {
    const int64_t count = count_along(static_cast<int>(dim), which);
    sizes[dim] = SizeAt(ranges_[dim], which, index % count);
    index /= count;
  }
  return sizes;
}

ParsedSpec SpecFamily::member(int64_t index, FamilySizes which) const {
  if (single_) return *single_;
  UserRanges single;
  const UserSizes size = sizes(index, which);
  for (size_t dim = 0; dim < single.size(); ++dim) single[dim] = {size[dim], size[dim]};
  absl::StatusOr<ParsedSpec> parsed = ParseSpec(Cat(head_, SizesText(single), options_));
  KIRSCH_CHECK(parsed.ok());  // all limits grow with the sizes, and the largest member was read
  return *std::move(parsed);
}

absl::StatusOr<SpecFamily> SpecFamily::Single(std::string_view text) {
  absl::StatusOr<ParsedSpec> parsed = ParseSpec(text);
  if (!parsed.ok()) return parsed.status();
  SpecFamily family;
  UserSizes sizes;
  std::copy_n(parsed->spec.size.begin(), sizes.size(), sizes.begin());
  if (parsed->swapped) std::swap(sizes[MatmulDims::kM], sizes[MatmulDims::kN]);
  for (size_t dim = 0; dim < sizes.size(); ++dim) family.ranges_[dim] = {sizes[dim], sizes[dim]};
  family.text_ = parsed->text;
  family.single_ = *std::move(parsed);
  return family;
}

absl::StatusOr<SpecFamily> ParseFamily(std::string_view text) {
  const std::vector<Word> words = SplitWords(text);
  if (words[0].text == kConvolutionWord) return SpecFamily::Single(text);
  if (words.size() <= kSizesWord + 1) return ParseSpec(text).status();  // it lacks its sizes
  const Word& written = words[kSizesWord];
  absl::StatusOr<std::vector<WrittenSize>> sizes = ParseRanges(written);
  if (!sizes.ok()) {
    // What is wrong before the sizes, or with a single spec, ParseSpec says best.
    const bool range = written.text.find(kDots) != std::string_view::npos;
    return range ? sizes.status() : ParseSpec(text).status();
  }
  absl::StatusOr<ParsedSpec> smallest = ParseEnd(text, written, *sizes, /*upper=*/false);
  if (!smallest.ok()) return smallest.status();
  SpecFamily family;
  UserRanges largest;
  const size_t first = family.ranges_.size() - sizes->size();  // the batch may be left out
  for (size_t i = 0; i < sizes->size(); ++i) {
    family.ranges_[first + i] = (*sizes)[i].range;
    largest[first + i] = {(*sizes)[i].range.high, (*sizes)[i].range.high};
  }
  if (absl::Status status = ParseEnd(text, written, *sizes, /*upper=*/true).status(); !status.ok())
    return absl::InvalidArgumentError(
        Cat(std::string(status.message()), " (for the member ", SizesText(largest), ")"));
  // A leading dimension that is given differs from the smallest member's default, or is every member's.
  const SplitText around = SplitAtSizes(smallest->text);
  family.head_ = around.head;
  family.options_ = around.options;
  family.text_ = Cat(around.head, SizesText(family.ranges_), around.options);
  return family;
}

}  // namespace kirsch
