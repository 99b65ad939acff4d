// SPDX-License-Identifier: Apache-2.0
#include "spec/language/varying_size.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "absl/strings/ascii.h"
#include "spec/check.h"
#include "spec/spec.h"
#include "spec/text/cat.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

constexpr std::string_view kDots = "..";

// How many values of a single size are looked at, if it is sampled. To look at so many takes about as long as
// at the members of two such sizes.
constexpr size_t kMostSampled = 512;

// The product of a number for each size; INT64_MAX if it is that or more.
template <typename Count>
int64_t CountAll(absl::Span<const VaryingSize> sizes, Count count_of) {
  int64_t count = 1;
  for (const VaryingSize& size : sizes)
    if (__builtin_mul_overflow(count, static_cast<int64_t>(count_of(size)), &count)) return INT64_MAX;
  return count;
}

// How many members there are if every range has `values` values at most.
int64_t CountWithAtMost(absl::Span<const VaryingSize> sizes, size_t values) {
  return CountAll(sizes, [&](const VaryingSize& size) {
    return size.is_range() ? std::min(values, size.values.size()) : size.values.size();
  });
}

// Leaves `count` values of a range. The first half are the least ones. Each of the others halves the widest
// gap, as ratios are: the new one is the geometric mean of its neighbours.
void SampleRange(size_t count, absl::Span<const uint32_t> kept, VaryingSize* size) {
  const uint32_t low = size->values.front(), high = size->values.back();
  std::set<uint32_t> values(kept.begin(), kept.end());
  values.insert(high);
  for (uint32_t value = low; value < low + std::max<size_t>(2, count / 2); ++value) values.insert(value);
  const auto ratio = [](uint32_t a, uint32_t b) { return static_cast<double>(b) / a; };
  // Take the two neighbours with the largest ratio that have a size between them.
  while (values.size() < count) {
    auto widest = values.begin();
    for (auto next = values.begin(); std::next(next) != values.end(); ++next)
      if (*std::next(next) - *next > 1 &&
          (*std::next(widest) - *widest < 2 ||
           ratio(*next, *std::next(next)) > ratio(*widest, *std::next(widest))))
        widest = next;
    const uint32_t from = *widest, to = *std::next(widest);
    const auto middle = static_cast<uint32_t>(std::lround(std::sqrt(static_cast<double>(from) * to)));
    values.insert(std::clamp(middle, from + 1, to - 1));
  }
  size->values.assign(values.begin(), values.end());
  size->sampled = true;
}

}  // namespace

uint32_t SizeSum::Of(absl::Span<const uint32_t> values) const {
  uint32_t sum = plus;
  for (size_t size : sizes) sum += values[size];
  return sum;
}

// The program of the first value that is not less serves it.
uint32_t VaryingSize::LeastServedAs(uint32_t value) const {
  return LeastServed(static_cast<size_t>(std::ranges::lower_bound(values, value) - values.begin()));
}

void SampleSizes(std::vector<VaryingSize>* sizes, absl::Span<const std::vector<uint32_t>> kept) {
  if (CountMembers(*sizes) <= kMostMembers) return;
  // All ranges get the same number of values, as many as the limit on members allows.
  size_t most = kMostSampled;
  while (most > 3 && CountWithAtMost(*sizes, most) > kMostMembers) --most;
  for (size_t i = 0; i < sizes->size(); ++i)
    if (VaryingSize& size = (*sizes)[i]; size.is_range() && size.values.size() > most)
      SampleRange(most, kept[i], &size);
}

int64_t CountMembers(absl::Span<const VaryingSize> sizes) {
  return CountAll(sizes, [](const VaryingSize& size) { return size.values.size(); });
}

int64_t CountServed(absl::Span<const VaryingSize> sizes) {
  return CountAll(sizes, [](const VaryingSize& size) {
    return size.sampled ? size_t{size.values.back()} - size.values.front() + 1 : size.values.size();
  });
}

absl::Status CheckEachLookedAt(absl::Span<const VaryingSize> sizes, absl::Span<const size_t> shared) {
  bool any_sample = CountMembers(sizes) > kMostMembers;
  for (size_t i = 0; i < sizes.size(); ++i)
    any_sample |= sizes[i].sampled && std::ranges::find(shared, i) == shared.end();
  if (!any_sample) return absl::OkStatus();
  return absl::InvalidArgumentError(
      Cat("expected at most ", kMostMembers, " sizes where each has a program of its own, got ",
          CountServed(sizes) < INT64_MAX ? Cat(CountServed(sizes)) : "more than 2^63"));
}

std::vector<uint32_t> ValuesOf(absl::Span<const VaryingSize> sizes, int64_t member) {
  KIRSCH_CHECK(member >= 0 && member < CountMembers(sizes));
  std::vector<uint32_t> values(sizes.size());
  // A member's number has a digit for each size, the last one being the lowest.
  for (size_t i = sizes.size(); i-- > 0;) {
    const auto count = static_cast<int64_t>(sizes[i].values.size());
    values[i] = sizes[i].values[static_cast<size_t>(member % count)];
    member /= count;
  }
  return values;
}

std::vector<std::vector<int64_t>> BoxesAlong(absl::Span<const VaryingSize> sizes,
                                             absl::Span<const size_t> along) {
  // A step of one size is as many members further as all later sizes make together.
  const auto stride = [&](size_t size) { return CountMembers(sizes.subspan(size + 1)); };
  const auto count = [&](size_t size) { return static_cast<int64_t>(sizes[size].values.size()); };
  std::vector<std::vector<int64_t>> boxes;
  for (int64_t first = 0; first < CountMembers(sizes); ++first) {
    const auto is_first = [&](size_t size) { return first / stride(size) % count(size) == 0; };
    if (!std::ranges::all_of(along, is_first)) continue;
    // Grow the list by one size after the other. `first` has the least value of each of them.
    std::vector<int64_t> box = {first};
    for (size_t size : along) {
      std::vector<int64_t> larger;
      for (int64_t member : box)
        for (int64_t i = 0; i < count(size); ++i) larger.push_back(member + i * stride(size));
      box = std::move(larger);
    }
    boxes.push_back(std::move(box));
  }
  return boxes;
}

std::vector<uint32_t> ValuesBetween(absl::Span<const VaryingSize> sizes, int64_t member) {
  std::vector<uint32_t> values = ValuesOf(sizes, member);
  for (size_t i = 0; i < sizes.size(); ++i) values[i] = (sizes[i].LeastServedAs(values[i]) + values[i]) / 2;
  return values;
}

std::string MemberName(std::string name, absl::Span<const VaryingSize> sizes, int64_t member) {
  const std::vector<uint32_t> values = ValuesOf(sizes, member);
  for (size_t i = 0; i < sizes.size(); ++i) {
    // A name that ends in a digit ("size0") must not run into the value.
    const bool digit = absl::ascii_isdigit(static_cast<unsigned char>(sizes[i].name.back()));
    Append(&name, "_", sizes[i].name, digit ? "_" : "", values[i]);
  }
  return name;
}

std::string SumText(absl::Span<const VaryingSize> sizes, const SizeSum& sum) {
  const std::string text = Join(sum.sizes, " + ", [&](size_t size) { return sizes[size].name; });
  if (text.empty()) return Cat(sum.plus);
  return sum.plus > 0 ? Cat(text, " + ", sum.plus) : text;
}

std::string MemberText(absl::Span<const VaryingSize> sizes, int64_t member) {
  const std::vector<uint32_t> values = ValuesOf(sizes, member);
  std::string text;
  for (size_t i = 0; i < sizes.size(); ++i)
    Append(&text, i == 0 ? "" : ", ", sizes[i].name, " = ", values[i]);
  return text;
}

absl::StatusOr<uint32_t> ParseLastSize(std::string_view source, const Word& word, uint32_t low) {
  if (word.text.empty()) return uint32_t{kMaxSide};
  return ParseNumber(source, word, "the last size of a range", low, kMaxSide);
}

absl::StatusOr<std::vector<uint32_t>> ParseValues(std::string_view source, const Word& word, uint32_t least) {
  std::vector<uint32_t> values;
  for (const Word& part : Split(word, '|')) {
    const size_t dots = part.text.find(kDots);
    // Values are ascending, so each part begins above the last one.
    const int64_t next = values.empty() ? least : values.back() + int64_t{1};
    KIRSCH_ASSIGN_OR_RETURN(const uint32_t low,
                            ParseNumber(source, part.Part(0, dots), "a size", next, kMaxSide));
    absl::StatusOr<uint32_t> high = low;
    if (dots != std::string_view::npos) high = ParseLastSize(source, part.Part(dots + kDots.size()), low);
    if (!high.ok()) return high.status();
    // A range alone may have any length: it can be sampled, and lists cannot.
    const bool alone = part.text == word.text;
    if (!alone && static_cast<int64_t>(values.size()) + *high - low >= kMostMembers)
      return ExpectedAt(source, word, Cat("at most ", kMostMembers, " sizes"));
    for (uint32_t value = low; value <= *high; ++value) values.push_back(value);
  }
  return values;
}

std::string PrintValues(absl::Span<const uint32_t> values) {
  std::string text;
  for (size_t begin = 0, end; begin < values.size(); begin = end) {
    for (end = begin + 1; end < values.size() && values[end] == values[end - 1] + 1;) ++end;
    Append(&text, begin == 0 ? "" : "|", values[begin]);
    if (end - begin > 1) Append(&text, kDots, values[end - 1]);
  }
  return text;
}

std::string PrintValues(const VaryingSize& size) {
  return size.sampled ? Cat(size.values.front(), kDots, size.values.back()) : PrintValues(size.values);
}

}  // namespace kirsch
