#include "codegen/c/c_pattern.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "spec/check.h"

namespace kirsch {
namespace {

bool IsWord(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; }
bool IsDigit(char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)); }
bool IsSmall(char c) { return absl::ascii_islower(static_cast<unsigned char>(c)); }

bool IsNumber(std::string_view word) { return std::all_of(word.begin(), word.end(), IsDigit); }

// The sign of an exponent (0x1.8p-3f) belongs to its number.
size_t EndOfWord(std::string_view text, size_t begin) {
  size_t end = begin;
  while (end < text.size()) {
    const bool exponent = end > begin && (text[end] == '+' || text[end] == '-') && IsDigit(text[begin]) &&
                          std::string_view("eEpP").find(text[end - 1]) != std::string_view::npos;
    if (!IsWord(text[end]) && !exponent) break;
    ++end;
  }
  return end;
}

// The letters that a variable's name begins with, if numbers follow, with '_' between them; else 0.
size_t LettersOfVariable(std::string_view word) {
  const size_t letters =
      static_cast<size_t>(std::find_if_not(word.begin(), word.end(), IsSmall) - word.begin());
  if (letters == 0 || letters == word.size() || !IsDigit(word.back())) return 0;
  for (size_t i = letters; i < word.size(); ++i)
    if (!IsDigit(word[i]) && (word[i] != '_' || !IsDigit(word[i - 1]))) return 0;
  return letters;
}

void AddHole(std::string_view value, bool pasted, bool bound, Pattern* pattern) {
  pattern->holes.push_back({std::string(value), pasted, bound});
  pattern->text.emplace_back();
}

void AddVariable(std::string_view word, size_t letters, Pattern* pattern) {
  pattern->text.back() += word.substr(0, letters);
  for (size_t i = letters; i < word.size();) {
    const size_t end = std::min(word.find('_', i), word.size());
    AddHole(word.substr(i, end - i), /*pasted=*/true, /*bound=*/false, pattern);
    if (end < word.size()) pattern->text.back() += '_';
    i = end + 1;
  }
}

void AddWord(std::string_view word, Pattern* pattern) {
  if (IsNumber(word)) return AddHole(word, /*pasted=*/false, /*bound=*/false, pattern);
  if (word[0] == kBound && word.size() > 1 && IsNumber(word.substr(1)))
    return AddHole(word, /*pasted=*/false, /*bound=*/true, pattern);
  const size_t letters = LettersOfVariable(word);
  if (letters > 0) return AddVariable(word, letters, pattern);
  pattern->text.back() += word;
}

}  // namespace

std::string Pattern::shape() const {
  std::string shape;
  for (size_t i = 0; i < text.size(); ++i) {
    shape += text[i];
    if (i < holes.size()) shape += holes[i].bound ? '\2' : '\1';
  }
  return shape;
}

void Pattern::Append(const Pattern& more) {
  text.back() += more.text.front();
  text.insert(text.end(), more.text.begin() + 1, more.text.end());
  holes.insert(holes.end(), more.holes.begin(), more.holes.end());
}

std::string Pattern::With(const std::vector<std::string>& values) const {
  KIRSCH_CHECK(values.size() == holes.size());
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    result += text[i];
    if (i == holes.size()) break;
    const bool pastes = holes[i].pasted && !IsNumber(values[i]);
    if (pastes) result += "##";
    result += values[i];
    if (pastes && !text[i + 1].empty() && IsWord(text[i + 1][0])) result += "##";
  }
  return result;
}

Pattern PatternOf(std::string_view text) {
  Pattern pattern;
  for (size_t i = 0; i < text.size();) {
    if (!IsWord(text[i])) {
      pattern.text.back() += text[i++];
      continue;
    }
    const size_t end = EndOfWord(text, i);
    AddWord(text.substr(i, end - i), &pattern);
    i = end;
  }
  return pattern;
}

}  // namespace kirsch
