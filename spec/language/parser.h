// SPDX-License-Identifier: Apache-2.0
// Reads specs: the shorthand of matmuls, and those of convolutions that are a single contraction. The grammar
// is in docs/spec.md.
#ifndef KIRSCH_SPEC_LANGUAGE_PARSER_H_
#define KIRSCH_SPEC_LANGUAGE_PARSER_H_

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "spec/parameter.h"
#include "spec/spec.h"
#include "spec/text/text.h"

namespace kirsch {

// A spec as it is solved, and what is needed to call it as the user asked for it.
struct ParsedSpec {
  Spec spec;         // the canonical root: all operands in RAM, one thread
  bool swapped;      // spec is the transposed problem, see spec/canonical.h
  std::string text;  // what was asked, in its shortest form
  // Inputs in the order of the text, whatever the spec's operands are, then out.
  std::vector<Parameter> parameters = {};

  friend bool operator==(const ParsedSpec&, const ParsedSpec&) = default;
};

// The contraction whose shorthand begins with `name` and has sizes, as matmul's does; null if there is none.
// Those that only convolutions have are not among them.
const OpInfo* FindContraction(std::string_view name);
std::vector<std::string_view> ContractionsOfSizes();  // the names of all of them

// Brings a root spec, as a user states it, into its canonical form. The parameters are lhs, rhs, the
// epilogue's operands, out, as the user knows them.
ParsedSpec CanonicalRequest(const Spec& asked);

// Reads a shorthand of a single spec such as "matmul f32 64x64x64 rhs=col"; ranges are refused. Any text is
// safe to pass. An error is InvalidArgument, one line: "<source>:<line>:<column>: expected <what>, got
// '<text>'".
absl::StatusOr<ParsedSpec> ParseSpec(const Word& text, std::string_view source);
inline absl::StatusOr<ParsedSpec> ParseSpec(std::string_view text) {
  return ParseSpec(Word{text, {}}, "spec");
}

// The sizes from `low` to `high`, both included. A single size has low == high.
struct SizeRange {
  uint32_t low = 1, high = 1;
  bool varies() const { return low < high; }
  friend bool operator==(const SizeRange&, const SizeRange&) = default;
};

// Sizes for each dim of MatmulDims, as the user states them. The spec that is solved may be the transposed
// problem, whose M and N are exchanged.
inline constexpr int kFamilyDims = 4;
using UserSizes = std::array<uint32_t, kFamilyDims>;
using UserRanges = std::array<SizeRange, kFamilyDims>;

// A matmul's shorthand, whose sizes may be ranges. The text is read once, and members are made from it, so
// errors about one member still have their place. It points into the text, which has to outlive it.
class ParsedMatmul {
 public:
  // `words`: the first one names a contraction (FindContraction); the last one is empty, at the end.
  static absl::StatusOr<ParsedMatmul> Parse(absl::Span<const Word> words, std::string_view source);

  const UserRanges& ranges() const { return ranges_; }
  // A size that is written as a range.
  const std::optional<Word>& range() const { return range_; }
  // The spec with these sizes as the user states it, not canonical; or what is wrong with these sizes.
  absl::StatusOr<Spec> Member(const UserSizes& sizes) const;
  // The matmul without sizes: these are 1, and leading dimensions are 0. WithSizes makes a member's spec of
  // it.
  const Spec& form() const { return form_; }

 private:
  explicit ParsedMatmul(std::string_view source) : source_(source) {}
  absl::Status Expected(const Word& word, std::string_view expected) const {
    return ExpectedAt(source_, word, expected);
  }
  // The methods below read a part of the text each, and keep its word where a later check needs the place.
  absl::Status ExpectedOption(const Word& word) const;
  absl::Status ParseSizes();
  absl::StatusOr<SizeRange> ParseRange(const Word& word);
  absl::Status ParseOption(const Word& word);
  absl::Status ParseConstant(const Word& word);
  absl::Status ParseOrder(const Word& word, int operand);
  absl::Status SetLd(int operand, Spec* spec) const;
  absl::Status CheckRounding() const;
  absl::Status CheckBlocks(const Spec& spec) const;

  std::string_view source_;
  Spec form_;
  UserRanges ranges_;
  Word types_word_, sizes_word_;
  std::array<std::optional<Word>, 3> ld_;
  std::optional<Word> range_, epilogue_, constant_, lhs_as_;
  std::vector<std::string_view> seen_;
};

// The options of a matmul's shorthand, as the grammar has them: "lhs=row|col", "lda=N" and so on. For help
// and messages.
std::vector<std::string> MatmulOptions();

// Returns `form` with these sizes. A leading dimension that is 0 becomes the one that makes the operand
// contiguous.
Spec WithSizes(Spec form, const UserSizes& sizes);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_LANGUAGE_PARSER_H_
