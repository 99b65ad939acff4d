// SPDX-License-Identifier: Apache-2.0
// Parts C text into what is the same in similar lines and the numbers in which they differ. The numbers
// become holes, which a macro fills with its parameters.
//
// For example, "c0_3 = a[4] + b5;" has the numbers 0, 3, 4 and 5. With parameters in three of its holes:
//   c0_##_z1 = a[(_z1+3*_z2+7)] + b##_z2;
#ifndef KIRSCH_CODEGEN_C_C_PATTERN_H_
#define KIRSCH_CODEGEN_C_C_PATTERN_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kirsch {

// The largest number that becomes a hole. Larger ones stay text. Sums of a few products of such numbers are
// within C's int.
inline constexpr int64_t kMostNumber = int64_t{1} << 28;

// A constant and multiples of the parameters of the macro that the text is in: 7 + 1 * _z1 + 3 * _z2.
struct Number {
  int64_t constant = 0;
  std::vector<std::pair<size_t, int64_t>> terms = {};  // parameter, times (not 0); ascending

  bool IsConstant() const { return terms.empty(); }
  bool IsParameter() const { return constant == 0 && terms.size() == 1 && terms[0].second == 1; }
  // Returns how often the parameter is in it; 0: it is not.
  int64_t Times(size_t parameter) const;
  // Returns it as C, in parentheses where it has an operator. Factors of parameters must be positive.
  std::string Text() const;

  friend bool operator==(const Number&, const Number&) = default;
};
// Returns times * a + b.
Number Sum(int64_t times, const Number& a, const Number& b);

// A place for a number in a text.
struct Hole {
  Number value;
  bool pasted = false;  // part of a name, as both in c0_3: holds a constant or one parameter, joined by ##
};

// A text with holes: text[0], hole 0, text[1], hole 1, ..., so that there is one text more than holes.
struct Pattern {
  std::vector<std::string> text = {""};  // before each hole, and behind the last
  std::vector<Hole> holes = {};

  std::string Shape() const;  // equal for texts that differ in numbers only
  std::string Text() const;
};

// Finds the numbers. They are decimal literals, and those in names of variables and functions (c0_3_1,
// fma_3x16_r64). Digits of other names stay text (__m512, _mm_loadu_si128), as do hexadecimal numbers,
// floats, numbers that begin with other zeros, and strings.
Pattern PatternOf(std::string_view text);

// Returns the name of a macro's parameter: _z1 for number 0, then _z2, ... No name in a header begins so:
// users' names do not begin with "_".
std::string ParameterName(size_t number);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_C_C_PATTERN_H_
