// SPDX-License-Identifier: Apache-2.0
#include "codegen/c/c_pattern.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "spec/check.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

bool IsWord(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; }
bool IsDigit(char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)); }
bool IsSmall(char c) { return absl::ascii_islower(static_cast<unsigned char>(c)); }

// True if the word is a number that may be a hole, which is set then.
bool IsNumber(std::string_view word, int64_t* number) {
  return std::ranges::all_of(word, IsDigit) && (word[0] != '0' || word == "0") &&
         absl::SimpleAtoi(ForAbsl(word), number) && *number <= kMostNumber;
}

// Returns the end of the word that begins there. The sign of an exponent (0x1.8p-3f) belongs to its number.
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

// True if the word is the name of a variable or of a function, such as "c0_3" or "fma_3x16_v8_r64_add". Names
// of types (uint16_t), intrinsics (_mm256_add_ps) and macros (KIR5) are not.
bool IsName(std::string_view word) {
  return absl::ascii_isalpha(static_cast<unsigned char>(word[0])) && std::ranges::any_of(word, IsSmall) &&
         word.find('.') == word.npos && !word.ends_with("_t");
}

// Appends a number as a hole. A word that is no number, or too large a one, stays text.
void AddNumber(std::string_view word, bool pasted, Pattern* pattern) {
  int64_t number = 0;
  if (!IsNumber(word, &number)) {
    pattern->text.back() += word;
    return;
  }
  pattern->holes.push_back({{number}, pasted});
  pattern->text.emplace_back();
}

// Each number of a name is a hole of its own: "c0_3" is c, hole, _, hole.
void AddName(std::string_view word, Pattern* pattern) {
  for (size_t i = 0; i < word.size();) {
    const auto* const digits = std::ranges::find_if(word.substr(i), IsDigit);
    const auto* const rest = std::find_if_not(digits, word.end(), IsDigit);
    pattern->text.back() += std::string_view(word.begin() + i, digits);
    if (digits != rest) AddNumber({digits, rest}, /*pasted=*/true, pattern);
    i = static_cast<size_t>(rest - word.begin());
  }
}

void AddWord(std::string_view word, Pattern* pattern) {
  if (IsName(word)) return AddName(word, pattern);
  AddNumber(word, /*pasted=*/false, pattern);
}

}  // namespace

std::string ParameterName(size_t number) { return Cat("_z", number + 1); }

int64_t Number::Times(size_t parameter) const {
  for (const auto& [number, times] : terms)
    if (number == parameter) return times;
  return 0;
}

std::string Number::Text() const {
  if (IsConstant()) return Cat(constant);
  std::string text;
  for (const auto& [parameter, times] : terms) {
    KIRSCH_CHECK(times > 0);
    Append(&text, text.empty() ? "" : "+", times == 1 ? "" : Cat(times, "*"), ParameterName(parameter));
  }
  if (constant != 0) Append(&text, constant < 0 ? "-" : "+", constant < 0 ? -constant : constant);
  return IsParameter() ? text : Cat("(", text, ")");
}

Number Sum(int64_t times, const Number& a, const Number& b) {
  Number sum{times * a.constant + b.constant};
  // Merges the terms of both, which ascend by parameter. Terms that cancel out are left out.
  size_t i = 0, j = 0;
  while (i < a.terms.size() || j < b.terms.size()) {
    const bool from_a = j == b.terms.size() || (i < a.terms.size() && a.terms[i].first <= b.terms[j].first);
    const bool from_b = i == a.terms.size() || (j < b.terms.size() && b.terms[j].first <= a.terms[i].first);
    const size_t parameter = from_a ? a.terms[i].first : b.terms[j].first;
    const int64_t of = (from_a ? times * a.terms[i++].second : 0) + (from_b ? b.terms[j++].second : 0);
    if (of != 0) sum.terms.emplace_back(parameter, of);
  }
  return sum;
}

// A hole is a byte that C text has not; a pasted one is another, so that it never matches a literal.
std::string Pattern::Shape() const {
  std::string shape = text[0];
  for (size_t i = 0; i < holes.size(); ++i) Append(&shape, holes[i].pasted ? "\2" : "\1", text[i + 1]);
  return shape;
}

// A parameter within a name is pasted to its neighbours by ##. Beside punctuation there is nothing to paste
// to, and ## would be an error.
std::string Pattern::Text() const {
  std::string result = text[0];
  for (size_t i = 0; i < holes.size(); ++i) {
    const bool pastes = holes[i].pasted && !holes[i].value.IsConstant();
    if (pastes && !text[i].empty() && IsWord(text[i].back())) result += "##";
    result += holes[i].value.Text();
    if (pastes && !text[i + 1].empty() && IsWord(text[i + 1][0])) result += "##";
    result += text[i + 1];
  }
  return result;
}

Pattern PatternOf(std::string_view text) {
  Pattern pattern;
  for (size_t i = 0; i < text.size();) {
    if (text[i] == '"') {  // strings have no holes
      const size_t end = text.find('"', i + 1) + 1;
      KIRSCH_CHECK(end != 0);
      pattern.text.back() += text.substr(i, end - i);
      i = end;
      continue;
    }
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
