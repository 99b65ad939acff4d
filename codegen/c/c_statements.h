// SPDX-License-Identifier: Apache-2.0
// C text as a tree of statements, which may be parted into groups and put together again.
#ifndef KIRSCH_CODEGEN_C_C_STATEMENTS_H_
#define KIRSCH_CODEGEN_C_C_STATEMENTS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "codegen/c/c_parameters.h"
#include "codegen/c/c_pattern.h"

namespace kirsch {

// A line, or one that begins a block with all up to the block's end; or the call of a macro.
struct Statement {
  Pattern head;  // of a call its arguments, "(4, N1)"
  std::vector<Statement> body = {};
  bool is_block = false;
  size_t macro = kNone;
};
using Statements = std::vector<Statement>;

// Lines end with "\n", those that begin a block with "{"; its end has the same indent.
Statements SplitStatements(std::string_view text);

// Equal for statements that differ in numbers only.
std::string ShapeOf(const Statement& statement);

// All numbers, in order.
std::vector<Hole> FindHoles(absl::Span<const Statement> statements);
// With what the macro has in the holes.
Statements WithValues(absl::Span<const Statement> statements, const Parameters& parameters);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_C_C_STATEMENTS_H_
