// SPDX-License-Identifier: Apache-2.0
// Holds C text as a tree of statements, so that groups of them can be compared, taken out and put together
// again. `if (x) {`, two lines and `}` are one statement with a body of two.
#ifndef KIRSCH_CODEGEN_C_C_STATEMENTS_H_
#define KIRSCH_CODEGEN_C_C_STATEMENTS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "codegen/c/c_parameters.h"
#include "codegen/c/c_pattern.h"

namespace kirsch {

// A line; or a line that begins a block, with all statements up to the block's end; or the call of a macro.
struct Statement {
  Pattern head;  // of a macro's call its arguments, "(4,_z1)"
  std::vector<Statement> body = {};
  bool is_block = false;
  size_t macro = kNone;  // the number of the macro that it calls, a block with its beginning; kNone: none
};
using Statements = std::vector<Statement>;

// Parts text into statements. Lines end with "\n". A line that begins a block ends with "{", and the block
// ends with a line "}". Indents do not matter.
Statements SplitStatements(std::string_view text);

// Returns a key that is equal for statements that differ in numbers only. "a3 = b[7];" and "a4 = b[0];" have
// one shape.
std::string ShapeOf(const Statement& statement);

// Returns the numbers of all statements, in the order of the text.
std::vector<Hole> FindHoles(absl::Span<const Statement> statements);
// Returns the statements with the macro's expressions in their holes: "a = b[300];" becomes "a = b[_z1];".
Statements WithValues(absl::Span<const Statement> statements, const Parameters& parameters);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_C_C_STATEMENTS_H_
