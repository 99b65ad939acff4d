// SPDX-License-Identifier: Apache-2.0
#include "spec/text/text.h"

#include <algorithm>
#include <charconv>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "spec/text/cat.h"

namespace kirsch {

TextPosition PositionAfter(TextPosition from, std::string_view text) {
  for (char c : text) {
    ++from.column;
    if (c == '\n') from = {from.line + 1, 1};
  }
  return from;
}

std::vector<Word> SplitWords(const Word& whole) {
  const std::string_view text = whole.text;
  std::vector<Word> words;
  TextPosition position = whole.position;
  size_t begin = 0;
  // One turn for each word: skip the white space, and take what follows. A turn that finds nothing is at the
  // end, and has added the empty word there.
  while (true) {
    size_t end = begin;
    while (end < text.size() && absl::ascii_isspace(static_cast<unsigned char>(text[end]))) ++end;
    position = PositionAfter(position, text.substr(begin, end - begin));
    begin = end;
    while (end < text.size() && !absl::ascii_isspace(static_cast<unsigned char>(text[end]))) ++end;
    words.push_back({text.substr(begin, end - begin), position});
    if (begin == end) return words;
    position = PositionAfter(position, text.substr(begin, end - begin));
    begin = end;
  }
}

std::vector<Word> Split(const Word& word, char separator) {
  std::vector<Word> parts;
  size_t begin = 0;
  while (true) {
    const size_t end = word.text.find(separator, begin);
    parts.push_back(word.Part(begin, end == std::string_view::npos ? end : end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

std::string Printable(std::string_view text) {
  std::string printable;
  for (char c : text) {
    if (absl::ascii_isprint(static_cast<unsigned char>(c)))
      printable += c;
    else
      // Always two digits, so that what follows cannot be taken for a third.
      Append(&printable, "\\x", absl::Hex(static_cast<unsigned char>(c), absl::kZeroPad2));
  }
  return printable;
}

std::string Quoted(std::string_view text, size_t longest) {
  if (text.empty()) return "nothing";
  return Cat("'", Printable(text.substr(0, longest)), text.size() > longest ? "...'" : "'");
}

namespace {

// Without a precision, to_chars writes the fewest digits that are read back as the same number.
template <typename Number>
std::string FewestDigits(Number number) {
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof(digits), number);
  return std::string(digits, static_cast<size_t>(end.ptr - digits));
}

}  // namespace

std::string PrintNumber(float number) { return FewestDigits(number); }
std::string PrintNumber(double number) { return FewestDigits(number); }

absl::Status ErrorAt(std::string_view source, TextPosition position, std::string_view message) {
  return absl::InvalidArgumentError(Cat(source, ":", position.line, ":", position.column, ": ", message));
}

absl::Status ExpectedAt(std::string_view source, const Word& word, std::string_view expected,
                        std::string_view hint) {
  return ErrorAt(source, word.position, Cat("expected ", expected, ", got ", Quoted(word.text), hint));
}

absl::StatusOr<uint32_t> ParseNumber(std::string_view source, const Word& word, std::string_view what,
                                     int64_t low, int64_t high) {
  uint64_t value = 0;
  // SimpleAtoi alone would accept a sign, and blanks around the number.
  const bool digits = std::ranges::all_of(word.text, [](char c) { return c >= '0' && c <= '9'; });
  if (digits && absl::SimpleAtoi(ForAbsl(word.text), &value) && value >= static_cast<uint64_t>(low) &&
      value <= static_cast<uint64_t>(high))
    return static_cast<uint32_t>(value);
  return ExpectedAt(source, word, Cat(what, " from ", low, " to ", high));
}

}  // namespace kirsch
