// SPDX-License-Identifier: Apache-2.0
// Texts that users may write, drawn from the grammars of matmuls' shorthands and of kernels of the language
// that have weights of blocks (docs/spec.md): families, mixtures, what lhs may be rounded to. Right ones,
// and such that have one piece that is wrong.
#ifndef KIRSCH_TESTS_TESTING_DRAWN_TEXT_H_
#define KIRSCH_TESTS_TESTING_DRAWN_TEXT_H_

#include <random>
#include <string>
#include <vector>

namespace kirsch::testing {

struct DrawnText {
  std::vector<std::string> pieces;  // one behind the other they are the text
  int wrong = -1;                   // the piece that is; -1: none

  std::string Text() const;
  // Is the byte at line and column, which count from 1, in the piece that is wrong, or the one behind it?
  bool IsWrongAt(int line, int column) const;
};

DrawnText RightSpec(std::mt19937& random);
DrawnText WrongSpec(std::mt19937& random);
DrawnText RightKernel(std::mt19937& random);
DrawnText WrongKernel(std::mt19937& random);

}  // namespace kirsch::testing

#endif  // KIRSCH_TESTS_TESTING_DRAWN_TEXT_H_
