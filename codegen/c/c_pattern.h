// C text parted into what is the same in similar lines, and the numbers in which they differ.
#ifndef KIRSCH_CODEGEN_C_C_PATTERN_H_
#define KIRSCH_CODEGEN_C_C_PATTERN_H_

#include <string>
#include <string_view>
#include <vector>

namespace kirsch {

// A number as it is written, or a macro's parameter.
struct Hole {
  std::string value;
  bool pasted = false;  // part of a name, as the two in c0_3
  bool bound = false;   // a parameter of the macro that the text is in
};

struct Pattern {
  std::vector<std::string> text = {""};  // before each hole, and behind the last
  std::vector<Hole> holes;

  std::string shape() const;  // equal for texts that differ in numbers only
  void Append(const Pattern& more);
  // The text with other values in the holes, so that a macro may have parameters there.
  std::string With(const std::vector<std::string>& values) const;
};

// What a macro's own parameters are called while its text is parted again: N1, N2, ...
inline constexpr char kBound = 'N';

// Numbers are decimal literals, and what follows the letters of a variable's name (c0_3_1, i16), but not the
// digits of other names (__m512, _mm_loadu_si128).
Pattern PatternOf(std::string_view text);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_C_C_PATTERN_H_
