// SPDX-License-Identifier: Apache-2.0
#include "spec/language/varying_size.h"

#include "absl/strings/ascii.h"
#include "spec/check.h"
#include "spec/spec.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

constexpr std::string_view kDots = "..";

}  // namespace

int64_t CountMembers(absl::Span<const VaryingSize> sizes) {
  int64_t count = 1;
  for (const VaryingSize& size : sizes)
    KIRSCH_CHECK(!__builtin_mul_overflow(count, static_cast<int64_t>(size.values.size()), &count));
  return count;
}

std::string TooManyMembers(int64_t count) {
  return Cat("expected a family of at most ", kMostMembers, " sizes, got ", count);
}

std::vector<uint32_t> ValuesOf(absl::Span<const VaryingSize> sizes, int64_t member) {
  KIRSCH_CHECK(member >= 0 && member < CountMembers(sizes));
  std::vector<uint32_t> values(sizes.size());
  for (size_t i = sizes.size(); i-- > 0;) {
    const auto count = static_cast<int64_t>(sizes[i].values.size());
    values[i] = sizes[i].values[static_cast<size_t>(member % count)];
    member /= count;
  }
  return values;
}

std::vector<std::vector<int64_t>> LinesAlong(absl::Span<const VaryingSize> sizes, size_t size) {
  const int64_t stride = CountMembers(sizes.subspan(size + 1));
  const auto count = static_cast<int64_t>(sizes[size].values.size());
  std::vector<std::vector<int64_t>> lines;
  for (int64_t first = 0; first < CountMembers(sizes); ++first) {
    if (first / stride % count != 0) continue;
    lines.emplace_back();
    for (int64_t i = 0; i < count; ++i) lines.back().push_back(first + i * stride);
  }
  return lines;
}

std::string MemberName(std::string name, absl::Span<const VaryingSize> sizes, int64_t member) {
  const std::vector<uint32_t> values = ValuesOf(sizes, member);
  for (size_t i = 0; i < sizes.size(); ++i) {
    const bool digit = absl::ascii_isdigit(static_cast<unsigned char>(sizes[i].name.back()));
    Append(&name, "_", sizes[i].name, digit ? "_" : "", values[i]);
  }
  return name;
}

std::string MemberText(absl::Span<const VaryingSize> sizes, int64_t member) {
  const std::vector<uint32_t> values = ValuesOf(sizes, member);
  std::string text;
  for (size_t i = 0; i < sizes.size(); ++i)
    Append(&text, i == 0 ? "" : ", ", sizes[i].name, " = ", values[i]);
  return text;
}

absl::StatusOr<std::vector<uint32_t>> ParseValues(std::string_view source, const Word& word) {
  std::vector<uint32_t> values;
  for (const Word& part : Split(word, '|')) {
    const size_t dots = part.text.find(kDots);
    const int64_t least = values.empty() ? 1 : values.back() + int64_t{1};
    const absl::StatusOr<uint32_t> low = ParseNumber(source, part.Part(0, dots), "a size", least, kMaxSide);
    if (!low.ok()) return low.status();
    absl::StatusOr<uint32_t> high = *low;
    if (dots != std::string_view::npos)
      high = ParseNumber(source, part.Part(dots + kDots.size()), "the last size of a range", *low, kMaxSide);
    if (!high.ok()) return high.status();
    if (static_cast<int64_t>(values.size()) + *high - *low >= kMostMembers)
      return ExpectedAt(source, word, Cat("at most ", kMostMembers, " sizes"));
    for (uint32_t value = *low; value <= *high; ++value) values.push_back(value);
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

}  // namespace kirsch
