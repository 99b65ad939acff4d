// SPDX-License-Identifier: Apache-2.0
#include "spec/language/token_reader.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

bool IsWordCharacter(char c) {
  return c == '_' || c == '.' || c == '|' || absl::ascii_isalnum(static_cast<unsigned char>(c));
}
bool IsBlank(char c) { return absl::ascii_isspace(static_cast<unsigned char>(c)); }

std::vector<Word> Tokens(const Word& line) {
  std::vector<Word> tokens;
  size_t at = 0, last = 0;
  TextPosition position = line.position;  // of text[last]
  const std::string_view text = line.text;
  while (true) {
    while (at < text.size() && IsBlank(text[at])) ++at;
    position = PositionAfter(position, text.substr(last, at - last));
    last = at;
    size_t end = std::min(at + 1, text.size());
    if (at < text.size() && (IsWordCharacter(text[at]) || text[at] == '-')) {
      // Of numbers: t = size+p is a sum.
      const bool number = !absl::ascii_isalpha(static_cast<unsigned char>(text[at])) && text[at] != '_';
      const auto is_sign_of_exponent = [&] {
        return number && text[end - 1] == 'e' && (text[end] == '-' || text[end] == '+');
      };
      while (end < text.size() && (IsWordCharacter(text[end]) || is_sign_of_exponent())) ++end;
      if (end == at + 1 && text[at] == '-' && end < text.size() && text[end] == '>') ++end;
    }
    tokens.push_back({text.substr(at, end - at), position});
    if (at == text.size()) return tokens;
    at = end;
  }
}

}  // namespace

void TokenReader::Start(const Word& line) {
  tokens_ = Tokens(line);
  next_ = 0;
}

absl::Status TokenReader::TakeSign(std::string_view sign) {
  if (Peek().text != sign) return Expected(Peek(), Cat("'", sign, "'"));
  Take();
  return absl::OkStatus();
}

absl::Status TokenReader::ExpectEnd() const {
  return Peek().text.empty() ? absl::OkStatus() : Expected(Peek(), "the end of the line");
}

absl::Status TokenReader::Expected(const Word& word, std::string_view what, std::string_view hint) const {
  return ExpectedAt(source_, word, what, hint);
}

}  // namespace kirsch
