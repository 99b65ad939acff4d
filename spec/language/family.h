// SPDX-License-Identifier: Apache-2.0
// Holds a family of specs: one shorthand for many sizes, "matmul f32 1..64x4096x4096". Any size may be a
// range.
//
// One generated function serves all members. What differs between them is the sizes alone: types, layouts and
// options are every member's.
#ifndef KIRSCH_SPEC_LANGUAGE_FAMILY_H_
#define KIRSCH_SPEC_LANGUAGE_FAMILY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "spec/language/mixture.h"
#include "spec/language/parser.h"
#include "spec/language/varying_size.h"

namespace kirsch {

// Which sizes of a range count as members.
enum class FamilySizes {
  kLookedAt,  // all, or a sample where there are too many: see VaryingSize
  kEverySize,
  kUsual,  // UsualSizesBetween(low, high): few enough to solve in advance
};

// The usual sizes (usual_sizes.h) between `low` and `high`, and these two; ascending. 3..20 gives 3 to 14,
// 16, 20.
std::vector<uint32_t> UsualSizesBetween(uint32_t low, uint32_t high);

// A value; thread-safe to read. Every member is a valid spec, as ParseFamily has checked. Members are
// numbered with the last size varying fastest: of 1..2x8x1..2 they are 1x8x1, 1x8x2, 2x8x1, 2x8x2.
class SpecFamily {
 public:
  SpecFamily() = default;
  explicit SpecFamily(ParsedSpec single);  // a family of one

  const std::string& text() const { return text_; }  // in its shortest form
  const UserRanges& ranges() const { return ranges_; }
  std::vector<int> varying() const;  // the dims whose size varies, ascending
  std::vector<VaryingSize> varying_sizes(FamilySizes which = FamilySizes::kLookedAt) const;  // of these
  // Is an operand constant, and does one size vary that is none of its own? Then all members may have it
  // packed in one layout.
  bool SharesConstant() const;
  // How often each size is asked for, if a constant operand is packed for all. Empty: each as often as the
  // others.
  const std::vector<SizeShare>& mixture() const { return mixture_; }

  // INT64_MAX if there are that many or more.
  int64_t count(FamilySizes which = FamilySizes::kLookedAt) const;

  // Member 0 <= index < count(which). The last size varies fastest.
  UserSizes sizes(int64_t index, FamilySizes which = FamilySizes::kLookedAt) const;
  ParsedSpec member(int64_t index, FamilySizes which = FamilySizes::kLookedAt) const;
  // The member with these values of the sizes that vary. They need not be among those that are looked at, but
  // must lie within the ranges.
  ParsedSpec MemberOf(absl::Span<const uint32_t> values) const;

 private:
  // All sizes of the member with these values.
  UserSizes SizesOf(absl::Span<const uint32_t> values) const;

  friend absl::StatusOr<SpecFamily> ParseFamily(const Word& text, std::string_view source);
  friend std::optional<SpecFamily> MakeFamily(std::vector<ParsedSpec> members,
                                              const std::vector<VaryingSize>& sizes,
                                              const std::vector<SizeShare>& mixture);

  std::string text_;
  UserRanges ranges_;
  std::vector<VaryingSize> sizes_;
  std::vector<SizeShare> mixture_;
  std::optional<ParsedSpec> single_;  // of what is no matmul as it was written
  Spec form_;                         // else: every member's but for its sizes, see WithSizes
  std::vector<ParsedSpec> members_;   // of a kernel of the language: the same, with its parameters
};

// Reads the shorthand of a family; that of a single spec is a family of one. Errors are as of ParseSpec. One
// that not all members have names the member.
absl::StatusOr<SpecFamily> ParseFamily(const Word& text, std::string_view source);
inline absl::StatusOr<SpecFamily> ParseFamily(std::string_view text) {
  return ParseFamily(Word{text, {}}, "spec");
}

// The family of matmuls whose members these are, the last of `sizes` varying fastest. It is for kernels of
// the kernel language: sizes and parameters keep the names that they have there. Nothing: no shorthand says
// so.
std::optional<SpecFamily> MakeFamily(std::vector<ParsedSpec> members, const std::vector<VaryingSize>& sizes,
                                     const std::vector<SizeShare>& mixture);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_LANGUAGE_FAMILY_H_
