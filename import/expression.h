// SPDX-License-Identifier: Apache-2.0
// Reads small expressions in the words of the kernel language. Tables use them: what an operation of MLIR
// is here, and which expressions have a name of their own.
//
//   "div(1, sqrt($0))"                    $0: the first operand
//   "mul(x, sigmoid(x))"                  x: anything, the same at both places
#ifndef KIRSCH_IMPORT_EXPRESSION_H_
#define KIRSCH_IMPORT_EXPRESSION_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"

namespace kirsch {

struct Expression {
  enum class Kind { kNumber, kVariable, kCall } kind = Kind::kNumber;
  double number = 0;
  std::string name;  // of the variable ("$0", "x") or of the operation called
  std::vector<Expression> arguments = {};
};

// Precondition: the text is an expression, as those of our tables are.
Expression ParseExpression(std::string_view text);

// The elementwise operation's exact result for numbers. Precondition: IsKnown(operation).
double ValueOf(const std::string& operation, absl::Span<const double> arguments);
// True for the elementwise operations that ValueOf computes.
bool IsKnown(const std::string& operation);

}  // namespace kirsch

#endif  // KIRSCH_IMPORT_EXPRESSION_H_
