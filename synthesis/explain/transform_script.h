// SPDX-License-Identifier: Apache-2.0
// Writes the outer decisions of a matmul's program in the words of MLIR's Transform dialect: a module with
// the matmul as a linalg operation, and a script that tiles it as the program does. `mlir-opt
// --transform-interpreter` applies it.
//
//   transform.named_sequence @tile_m_0(%op: !transform.any_op {transform.consumed}) -> !transform.any_op {
//     %tiled, %loop = transform.structured.tile_using_for %op tile_sizes [64, 0, 0] : ...
//     transform.yield %tiled : !transform.any_op
//   }
#ifndef KIRSCH_SYNTHESIS_EXPLAIN_TRANSFORM_SCRIPT_H_
#define KIRSCH_SYNTHESIS_EXPLAIN_TRANSFORM_SCRIPT_H_

#include <string>

#include "absl/status/status.h"
#include "spec/impl.h"
#include "spec/spec.h"
#include "spec/target.h"

namespace kirsch {

// InvalidArgument if linalg has no named operation for the spec: it is a matmul of floats, without an
// epilogue, whose matrices are dense, and of which one at most lies by columns.
absl::Status CheckTransformScript(const Spec& spec);

// Returns the module. Each tile on the way to the register tile that takes most of the time is a named
// sequence, and @__transform_main includes them, outermost first. What MLIR has no word for there, copies and
// moves, are comments. Precondition: CheckTransformScript(impl.spec).
std::string TransformScript(const Impl& impl, const Target& target);

}  // namespace kirsch

#endif  // KIRSCH_SYNTHESIS_EXPLAIN_TRANSFORM_SCRIPT_H_
