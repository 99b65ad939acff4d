// SPDX-License-Identifier: Apache-2.0
// Names the sizes that vary in a family, their values, and the members that these make together.
//
// Members are numbered: there is one for each choice of values, and the last size varies fastest. With m =
// 1|2 and n = 8|16, member 0 is (1, 8), 1 is (1, 16), 2 is (2, 8), 3 is (2, 16).
#ifndef KIRSCH_SPEC_LANGUAGE_VARYING_SIZE_H_
#define KIRSCH_SPEC_LANGUAGE_VARYING_SIZE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "spec/text/text.h"

namespace kirsch {

// A size that varies, with the values at which the search looks.
struct VaryingSize {
  std::string name;
  std::vector<uint32_t> values;  // ascending, at least one
  // Are the values a sample of a range? Then sizes between two of them are members that nobody looks at
  // alone: the program of the next larger value serves them, too. So that of 64, after 48, serves 49 to 64.
  bool sampled = false;

  // Is every size between the first and the last value served?
  bool is_range() const { return sampled || values.back() - values.front() + 1 == values.size(); }
  // The least size that the program of value number i serves. It is the value itself, unless the values are a
  // sample.
  uint32_t LeastServed(size_t i) const { return sampled && i > 0 ? values[i - 1] + 1 : values[i]; }
  // The same for the program that serves `value`.
  uint32_t LeastServedAs(uint32_t value) const;

  friend bool operator==(const VaryingSize&, const VaryingSize&) = default;
};

// A sum of sizes and a number, as "q + p + 128" is. Its value is computed in size_t where kernels run.
struct SizeSum {
  std::vector<size_t> sizes;  // by number; one that is there twice is added twice
  uint32_t plus = 0;

  SizeSum() = default;
  explicit SizeSum(size_t size) : sizes{size} {}  // the size itself

  bool Has(size_t size) const { return std::ranges::find(sizes, size) != sizes.end(); }
  // `values`: of all sizes.
  uint32_t Of(absl::Span<const uint32_t> values) const;

  friend bool operator==(const SizeSum&, const SizeSum&) = default;
};

// A size that follows from others: callers pass those, and never it.
struct TiedSize {
  std::string name;
  SizeSum sum;
};

// So many members may each have a kernel of their own. Of more, only a sample is looked at.
inline constexpr int64_t kMostMembers = 4096;

// Makes samples of the ranges if there are more than kMostMembers together. A sample has all of the least
// sizes, and then sizes that grow by about one ratio. The sizes in `kept`, a list for each of `sizes`, stay.
// Lists such as 8|16 are never sampled.
void SampleSizes(std::vector<VaryingSize>* sizes, absl::Span<const std::vector<uint32_t>> kept);

// An error if some size is a sample, or there are too many members, where each value is to have a kernel of
// its own. `shared`: numbers of the sizes whose values need none.
absl::Status CheckEachLookedAt(absl::Span<const VaryingSize> sizes, absl::Span<const size_t> shared = {});

// How many members there are: those that are looked at, and all that are served. INT64_MAX: that many or
// more.
int64_t CountMembers(absl::Span<const VaryingSize> sizes);  // those that are looked at; INT64_MAX: or more
int64_t CountServed(absl::Span<const VaryingSize> sizes);   // all of them; likewise
// The values of a member, one for each size.
std::vector<uint32_t> ValuesOf(absl::Span<const VaryingSize> sizes, int64_t member);

// Groups the members that differ in the sizes `along` only: a list for each choice of the other sizes, in
// ascending order. Within a list, the last of `along` varies fastest.
std::vector<std::vector<int64_t>> BoxesAlong(absl::Span<const VaryingSize> sizes,
                                             absl::Span<const size_t> along);

// Sizes that the member's program serves besides the member's own, for tests of a sample: of each size the
// one in the middle between the least that is served and the member's. They are the member's own if it serves
// nothing else.
std::vector<uint32_t> ValuesBetween(absl::Span<const VaryingSize> sizes, int64_t member);

// "kernel_m5_n8"
std::string MemberName(std::string name, absl::Span<const VaryingSize> sizes, int64_t member);

// "q + p + 128"
std::string SumText(absl::Span<const VaryingSize> sizes, const SizeSum& sum);

// "m = 5, n = 8"
std::string MemberText(absl::Span<const VaryingSize> sizes, int64_t member);

// Reads the size behind the dots of a range that begins at `low`: none stands for kMaxSide.
absl::StatusOr<uint32_t> ParseLastSize(std::string_view source, const Word& word, uint32_t low);

// Reads sizes and ranges of them, ascending: "1..64", "1|2|4|8..16". There are kMostMembers at most, except
// in a single range, which can be sampled. `least`: the first one may be no less. Errors have their place.
absl::StatusOr<std::vector<uint32_t>> ParseValues(std::string_view source, const Word& word,
                                                  uint32_t least = 1);
// The inverse, in the shortest form; of a sample, the range that it is of.
std::string PrintValues(absl::Span<const uint32_t> values);
std::string PrintValues(const VaryingSize& size);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_LANGUAGE_VARYING_SIZE_H_
