// SPDX-License-Identifier: Apache-2.0
// Statements inside of statements.
#ifndef KIRSCH_CODEGEN_LOOP_NESTED_H_
#define KIRSCH_CODEGEN_LOOP_NESTED_H_

#include <variant>

#include "codegen/loop/loop_program.h"

namespace kirsch {

// `visit(block)` for the blocks of statements that are inside of the statement.
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
