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
  // The values are a sample of a range. Sizes between two of them are members that nobody looks at alone:
  // what serves the next value serves them, too.
  bool sampled = false;

  // Is all between the first and the last value served?
  bool is_range() const { return sampled || values.back() - values.front() + 1 == values.size(); }
  // The least size that the program of value number i serves.
  uint32_t LeastServed(size_t i) const { return sampled && i > 0 ? values[i - 1] + 1 : values[i]; }
  // The same of the program that serves this size.
  uint32_t LeastServedAs(uint32_t value) const;

  friend bool operator==(const VaryingSize&, const VaryingSize&) = default;
};

// Of so many members each may have a kernel of its own. Of more, some are looked at.
inline constexpr int64_t kMostMembers = 4096;

// Makes samples of ranges that have more members together: all of the least sizes, and then sizes that grow
// by about one ratio. The sizes in `kept`, a list for each, stay.
void SampleSizes(std::vector<VaryingSize>* sizes, absl::Span<const std::vector<uint32_t>> kept);

// What is said where some size is a sample, and each value is to have a kernel of its own. `shared`: numbers
// of sizes that need none. OK: no other size is a sample.
absl::Status CheckEachLookedAt(absl::Span<const VaryingSize> sizes, absl::Span<const size_t> shared = {});

// A member for each choice of values; the last size varies fastest.
int64_t CountMembers(absl::Span<const VaryingSize> sizes);  // those that are looked at; INT64_MAX: or more
int64_t CountServed(absl::Span<const VaryingSize> sizes);   // all of them; likewise
std::vector<uint32_t> ValuesOf(absl::Span<const VaryingSize> sizes, int64_t member);

// The members that differ in these sizes only, the last of which varies fastest: for each choice of the
// others, ascending.
std::vector<std::vector<int64_t>> BoxesAlong(absl::Span<const VaryingSize> sizes,
                                             absl::Span<const size_t> along);

// Sizes that what serves the member serves, too: of each size one in the middle between the least of these
// and the member's. The member's own where that is all.
std::vector<uint32_t> ValuesBetween(absl::Span<const VaryingSize> sizes, int64_t member);

// "kernel_m5_n8"
std::string MemberName(std::string name, absl::Span<const VaryingSize> sizes, int64_t member);

// "m = 5, n = 8"
std::string MemberText(absl::Span<const VaryingSize> sizes, int64_t member);

// Sizes and ranges of them, ascending: "1..64", "1|2|4|8..16"; at most kMostMembers, but for a single range.
// Errors have their place.
absl::StatusOr<std::vector<uint32_t>> ParseValues(std::string_view source, const Word& word);
std::string PrintValues(absl::Span<const uint32_t> values);
std::string PrintValues(const VaryingSize& size);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_LANGUAGE_VARYING_SIZE_H_
