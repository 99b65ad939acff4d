// SPDX-License-Identifier: Apache-2.0
// Brings all ways to ask for the same computation on the same memory to one Spec. So the search solves it
// once, and the table remembers it once. For example, where "swapped" says that the problem was transposed:
//
//   matmul f32 4x8x6 out=col   ->   matmul f32 6x8x4 lhs=col rhs=col, swapped
#ifndef KIRSCH_SPEC_CANONICAL_H_
#define KIRSCH_SPEC_CANONICAL_H_

#include "spec/spec.h"

namespace kirsch {

struct CanonicalSpec {
  Spec spec;
  bool swapped;  // spec is the transposed problem: its lhs is the asked rhs, transposed, and the other way
                 // round
};

// Returns the canonical form of `asked`: a root spec (every operand strided, in RAM) as a user states it, its
// output in either order.
//
// - The output of the result is row-major. out=col becomes out^T = rhs^T lhs^T: m and n change places,
//   and so do lhs and rhs, each with its order turned (memory stays where it is).
// - A matrix with a side of 1 can be stated in several ways. A contiguous vector is one whose inner axis
//   is the long one; its leading dimension is its length when nothing depends on it (a batch does: the next
//   matrix is outer * ld elements on). A contiguous output vector is m == 1. A 1x1 matrix is row-major; where
//   it is the output, lhs is the row that is contiguous, or of narrower elements.
// - Specs with a window are as they are asked for, their output in row order.
//
// No rewriting moves an element, within a matrix or from one of a batch to the next. Idempotent.
CanonicalSpec Canonicalise(const Spec& asked);

// The operand of the transposed problem that an operand is, if `swapped`: lhs and rhs change places. The same
// the other way.
constexpr int SwappedOperand(int operand, bool swapped) {
  return swapped && operand < MatmulDims::kOut ? 1 - operand : operand;
}

}  // namespace kirsch

#endif  // KIRSCH_SPEC_CANONICAL_H_
