// SPDX-License-Identifier: Apache-2.0
// Splits input text into pieces that know their place, so that an error can say where it is.
//
// Parsers read Words and give their errors by ExpectedAt. So errors about input have one form:
//
//   <source>:<line>:<column>: expected <what>, got '<text>'
//
// `source` is what the errors call the text: a file's path, or "spec" for an argument of the command line.
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

// A place in a text. Both members count from 1; columns count bytes, not characters.
struct TextPosition {
  int line = 1;
  int column = 1;

  friend bool operator==(const TextPosition&, const TextPosition&) = default;
};

// The position after `text` when `from` is the position of its first byte: one column further for each byte,
// at the beginning of the next line behind a line break.
TextPosition PositionAfter(TextPosition from, std::string_view text);

// A piece of the user's text. It owns nothing: the text must outlive it.
struct Word {
  std::string_view text;  // into the caller's text
  TextPosition position;

  // The same word from its `offset`-th byte on, at most `length` bytes. It has its own place, which is right
  // as long as the word has no line break.
  Word Part(size_t offset, size_t length = std::string_view::npos) const {
    return {text.substr(offset, length), {position.line, position.column + static_cast<int>(offset)}};
  }
};

// The words between white space. The last one is always empty, at the end of the text, so that a parser has a
// place for "... expected X, got nothing". The text may have several lines.
std::vector<Word> SplitWords(const Word& text);
inline std::vector<Word> SplitWords(std::string_view text) { return SplitWords(Word{text, {}}); }

// `word` split at every `separator`: one part more than there are separators. Parts may be empty, as the
// middle one of "1xx2" is.
std::vector<Word> Split(const Word& word, char separator);

// `text` with every byte that is not printable ASCII written as "\x0a": one line, whatever it holds.
std::string Printable(std::string_view text);

// `text` in quotes for a one-line message: at most `longest` bytes of it and then "...", unprintable bytes
// escaped. "nothing" if it is empty.
std::string Quoted(std::string_view text, size_t longest = 40);

// The shortest decimal text that reads as exactly this number: "0.1", not "0.100000001".
std::string PrintNumber(float number);
std::string PrintNumber(double number);

// InvalidArgument "<source>:<line>:<column>: <message>".
absl::Status ErrorAt(std::string_view source, TextPosition position, std::string_view message);

// The same for input that is not what was expected: "... expected <expected>, got '<word>'<hint>". `hint` is
// the result of DidYouMean (spec/text/nearest.h), or nothing.
absl::Status ExpectedAt(std::string_view source, const Word& word, std::string_view expected,
                        std::string_view hint = "");

// Reads a decimal number (digits only) from `low` to `high`. Both bounds are at least 0 and fit 32 bits. Else
// the error is "... expected <what> from <low> to <high>, got '<word>'".
absl::StatusOr<uint32_t> ParseNumber(std::string_view source, const Word& word, std::string_view what,
                                     int64_t low, int64_t high);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_TEXT_TEXT_H_
