// SPDX-License-Identifier: Apache-2.0
// Writes the decisions of a kernel's contractions in the words of MLIR's Transform dialect: a module with the
// kernel as a function of linalg, and a script that tiles each contraction as its program does.
// `mlir-opt --transform-interpreter` applies it.
#ifndef KIRSCH_SYNTHESIS_EXPLAIN_TRANSFORM_SCRIPT_H_
#define KIRSCH_SYNTHESIS_EXPLAIN_TRANSFORM_SCRIPT_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "spec/impl.h"
#include "spec/program/plan.h"
#include "spec/spec.h"
#include "spec/target.h"

namespace kirsch {

// InvalidArgument if linalg has no named operation for the spec: it is a matmul of floats, without an
// epilogue, whose matrices are dense, and of which one at most lies by columns.
absl::Status CheckTransformScript(const Spec& spec);

// Returns the module. Each tile and each copy on the way to the register tile that takes most of the time is
// a named sequence, and @__transform_main includes them, outermost first; the register tile is vectorized.
// Moves are comments. Precondition: CheckTransformScript(impl.spec).
std::string TransformScript(const Impl& impl, const Target& target);

// Returns the same for a plan: of each contraction the program that takes most of its time, and before it the
// tile of the loop nest that it is in. A contraction that the plan computes in other loops than the operation
// has gets a comment. InvalidArgument: WriteLinalg has no words for the graph.
absl::StatusOr<std::string> TransformScript(const Plan& plan, const Target& target);

}  // namespace kirsch

#endif  // KIRSCH_SYNTHESIS_EXPLAIN_TRANSFORM_SCRIPT_H_
