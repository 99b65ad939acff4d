// SPDX-License-Identifier: Apache-2.0
// C text parted into what is the same in similar lines, and the numbers in which they differ.
#ifndef KIRSCH_CODEGEN_C_C_PATTERN_H_
#define KIRSCH_CODEGEN_C_C_PATTERN_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kirsch {

// The largest one that is a hole: sums of a few products of such numbers are within C's int.
inline constexpr int64_t kMostNumber = int64_t{1} << 28;

// A constant and multiples of the parameters of the macro that the text is in.
struct Number {
  int64_t constant = 0;
  std::vector<std::pair<size_t, int64_t>> terms = {};  // parameter, times (not 0); ascending

  bool IsConstant() const { return terms.empty(); }
  bool IsParameter() const { return constant == 0 && terms.size() == 1 && terms[0].second == 1; }
  // How often the parameter is in it.
  int64_t Times(size_t parameter) const;
  // As C, in parentheses where it has an operator. Terms are positive.
  std::string Text() const;

  friend bool operator==(const Number&, const Number&) = default;
};
// times * a + b
Number Sum(int64_t times, const Number& a, const Number& b);

struct Hole {
  Number value;
  bool pasted = false;  // part of a name, as the two in c0_3, or becomes one: a constant or a parameter
};

struct Pattern {
  std::vector<std::string> text = {""};  // before each hole, and behind the last
  std::vector<Hole> holes = {};

  std::string Shape() const;  // equal for texts that differ in numbers only
  std::string Text() const;
};

// Numbers are decimal literals, and what follows the letters of a variable's name (c0_3_1, i16), but not the
// digits of other names (__m512, _mm_loadu_si128).
Pattern PatternOf(std::string_view text);

// What the macro's parameter of that number (from 0) is called: N1, N2, ...
std::string ParameterName(size_t number);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_C_C_PATTERN_H_
