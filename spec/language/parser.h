// SPDX-License-Identifier: Apache-2.0
// Text to specs. The grammar of the shorthand is in docs/spec.md.
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

struct ParsedSpec {
  Spec spec;         // the canonical root: all operands in RAM, one thread
  bool swapped;      // spec is the transposed problem, see spec/canonical.h
  std::string text;  // what was asked, in its shortest form
  // Inputs in the order of the text, whatever the spec's operands are, then out.
  std::vector<Parameter> parameters = {};

  friend bool operator==(const ParsedSpec&, const ParsedSpec&) = default;
};

// `asked`: a root spec as a user states it. Its parameters are lhs, rhs, what the epilogue takes, out.
ParsedSpec CanonicalRequest(const Spec& asked);

// Reads a shorthand such as "matmul f32 64x64x64 rhs=col". Any text is safe to pass. An error is
// InvalidArgument, one line: "<source>:<line>:<column>: expected <what>, got '<text>'".
absl::StatusOr<ParsedSpec> ParseSpec(const Word& text, std::string_view source);
inline absl::StatusOr<ParsedSpec> ParseSpec(std::string_view text) {
  return ParseSpec(Word{text, {}}, "spec");
}

// The sizes from `low` to `high`, both included.
struct SizeRange {
  uint32_t low = 1, high = 1;
  bool varies() const { return low < high; }
  friend bool operator==(const SizeRange&, const SizeRange&) = default;
};

// Per dim of MatmulDims, as the user states them: of the request, which may be solved as its transpose.
inline constexpr int kFamilyDims = 4;
using UserSizes = std::array<uint32_t, kFamilyDims>;
using UserRanges = std::array<SizeRange, kFamilyDims>;

// A matmul's shorthand, whose sizes may be ranges. What it has of the text lives as long as that.
class ParsedMatmul {
 public:
  // `words`: those after "matmul", with the empty word at the end.
  static absl::StatusOr<ParsedMatmul> Parse(absl::Span<const Word> words, std::string_view source);

  const UserRanges& ranges() const { return ranges_; }
  // A size that is written as a range.
  const std::optional<Word>& range() const { return range_; }
  // As the user states it, or what is wrong with these sizes.
  absl::StatusOr<Spec> Member(const UserSizes& sizes) const;
  // Its sizes are 1, and leading dimensions that are not given 0.
  const Spec& form() const { return form_; }

 private:
  explicit ParsedMatmul(std::string_view source) : source_(source) {}
  absl::Status Expected(const Word& word, std::string_view expected) const {
    return ExpectedAt(source_, word, expected);
  }
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

// The options of a matmul's shorthand, as the grammar has them: "lhs=row|col", "lda=N" and so on.
std::vector<std::string> MatmulOptions();

// `form` with these sizes, and leading dimensions that make operands contiguous where it has 0.
Spec WithSizes(Spec form, const UserSizes& sizes);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_LANGUAGE_PARSER_H_
