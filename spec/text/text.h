// SPDX-License-Identifier: Apache-2.0
// Pieces of input text with their place, so that an error can say where it is.
#ifndef KIRSCH_SPEC_TEXT_TEXT_H_
#define KIRSCH_SPEC_TEXT_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace kirsch {

// Both count from 1; columns count bytes.
struct TextPosition {
  int line = 1;
  int column = 1;

  friend bool operator==(const TextPosition&, const TextPosition&) = default;
};

// The position after `text` when `from` is the position of its first byte.
TextPosition PositionAfter(TextPosition from, std::string_view text);

struct Word {
  std::string_view text;  // into the caller's text
  TextPosition position;

  // The same word from its `offset`-th byte on, at most `length` bytes (a word has no line break).
  Word Part(size_t offset, size_t length = std::string_view::npos) const {
    return {text.substr(offset, length), {position.line, position.column + static_cast<int>(offset)}};
  }
};

// The words between white space, and, last, an empty word at the end of the text, which may have lines.
std::vector<Word> SplitWords(const Word& text);
inline std::vector<Word> SplitWords(std::string_view text) { return SplitWords(Word{text, {}}); }

// `word` split at every `separator`.
std::vector<Word> Split(const Word& word, char separator);

// `text` with what can't be printed as ASCII escaped: one line, whatever it is.
std::string Printable(std::string_view text);

// `text` in quotes for a one-line message: shortened, unprintable bytes escaped; "nothing" when empty.
std::string Quoted(std::string_view text, size_t longest = 40);

// The fewest digits that stand for the number.
std::string PrintNumber(float number);

// InvalidArgument "<source>:<line>:<column>: <message>".
absl::Status ErrorAt(std::string_view source, TextPosition position, std::string_view message);

// The same for input that is not what was expected: "... expected <expected>, got '<word>'<hint>". The hint
// is that of DidYouMean (spec/text/nearest.h), or nothing.
absl::Status ExpectedAt(std::string_view source, const Word& word, std::string_view expected,
                        std::string_view hint = "");

// A decimal number (digits only) from `low` to `high`, which are at least 0 and fit 32 bits; else the error
// "... expected <what> from <low> to <high>, got '<word>'".
absl::StatusOr<uint32_t> ParseNumber(std::string_view source, const Word& word, std::string_view what,
                                     int64_t low, int64_t high);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_TEXT_TEXT_H_
