// SPDX-License-Identifier: Apache-2.0
// Visits the statements inside of a statement, so that a pass over a program need not name every kind of
// loop.
#ifndef KIRSCH_CODEGEN_LOOP_NESTED_H_
#define KIRSCH_CODEGEN_LOOP_NESTED_H_

#include <variant>

namespace kirsch {

// Calls visit(block) for each block of statements directly inside of the statement: the body of a loop, or
// each body of a Switch. Statements without any are passed over. Blocks may be changed if the statement is
// not const.
template <typename Statement, typename Visit>
void ForNested(Statement& stmt, const Visit& visit) {
  std::visit(
      [&](auto& op) {
        if constexpr (requires { op.body; }) visit(op.body);
        if constexpr (requires { op.bodies; })
          for (auto& body : op.bodies) visit(body);
      },
      stmt.op);
}

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_LOOP_NESTED_H_
