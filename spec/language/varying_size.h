// SPDX-License-Identifier: Apache-2.0
// Sizes that vary in a family, by name: the values of each, and the members that these make together.
#ifndef KIRSCH_SPEC_LANGUAGE_VARYING_SIZE_H_
#define KIRSCH_SPEC_LANGUAGE_VARYING_SIZE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "spec/text/text.h"

namespace kirsch {

struct VaryingSize {
  std::string name;
  std::vector<uint32_t> values;  // ascending, at least one

  friend bool operator==(const VaryingSize&, const VaryingSize&) = default;
};

// More members are refused where each has a kernel of its own.
inline constexpr int64_t kMostMembers = 4096;
std::string TooManyMembers(int64_t count);  // what is said then

// A member for each choice of values; the last size varies fastest.
int64_t CountMembers(absl::Span<const VaryingSize> sizes);
std::vector<uint32_t> ValuesOf(absl::Span<const VaryingSize> sizes, int64_t member);

// The members that differ in this size only, by its values: a line for each choice of the others, ascending.
std::vector<std::vector<int64_t>> LinesAlong(absl::Span<const VaryingSize> sizes, size_t size);

// "kernel_m5_n8"
std::string MemberName(std::string name, absl::Span<const VaryingSize> sizes, int64_t member);

// "m = 5, n = 8"
std::string MemberText(absl::Span<const VaryingSize> sizes, int64_t member);

// Sizes and ranges of them, ascending, at most kMostMembers: "1..64", "1|2|4|8..16". Errors have their place.
absl::StatusOr<std::vector<uint32_t>> ParseValues(std::string_view source, const Word& word);
std::string PrintValues(absl::Span<const uint32_t> values);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_LANGUAGE_VARYING_SIZE_H_
