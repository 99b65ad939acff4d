#include "spec/text.h"

#include "absl/strings/ascii.h"
#include "spec/cat.h"

namespace kirsch {

TextPosition Advance(TextPosition from, std::string_view text) {
  for (char c : text) {
    ++from.column;
    if (c == '\n') from = {from.line + 1, 1};
  }
  return from;
}

std::vector<Word> SplitWords(std::string_view text) {
  std::vector<Word> words;
  TextPosition position;
  size_t begin = 0;
  while (true) {
    size_t end = begin;
    while (end < text.size() && absl::ascii_isspace(static_cast<unsigned char>(text[end]))) ++end;
    position = Advance(position, text.substr(begin, end - begin));
    begin = end;
    while (end < text.size() && !absl::ascii_isspace(static_cast<unsigned char>(text[end]))) ++end;
    words.push_back({text.substr(begin, end - begin), position});
    if (begin == end) return words;
    position = Advance(position, text.substr(begin, end - begin));
    begin = end;
  }
}

std::string Quoted(std::string_view text, size_t longest) {
  if (text.empty()) return "nothing";
  std::string quoted = "'";
  for (char c : text.substr(0, longest)) {
    if (absl::ascii_isprint(static_cast<unsigned char>(c)))
      quoted += c;
    else
      Append(&quoted, "\\x", absl::Hex(static_cast<unsigned char>(c), absl::kZeroPad2));
  }
  return quoted + (text.size() > longest ? "...'" : "'");
}

absl::Status ErrorAt(std::string_view source, TextPosition position, std::string_view message) {
  return absl::InvalidArgumentError(Cat(source, ":", position.line, ":", position.column, ": ", message));
}

absl::Status ExpectedAt(std::string_view source, const Word& word, std::string_view expected) {
  return ErrorAt(source, word.position, Cat("expected ", expected, ", got ", Quoted(word.text)));
}

}  // namespace kirsch
