// SPDX-License-Identifier: Apache-2.0
// Says when loads put rows of rhs together in the groups that an instruction takes, so that no copy need do
// it. That suits a rhs that few rows of lhs share: a copy would take longer than the products.
//
//   groups of 2: rows a b c d and A B C D  ->  a A b B c C d D
#ifndef KIRSCH_SPEC_INTERLEAVING_H_
#define KIRSCH_SPEC_INTERLEAVING_H_

#include "spec/microkernel.h"

namespace kirsch {

// True if loads of rhs can make the groups of the arithmetic: its rows lie as they are, and its elements are
// of the arithmetic's own type. (Groups of 4 take so many shuffles that copies are faster.) `parts`: or those
// of parts of the spec can, as parts of a window may be plain matrices.
inline bool MayInterleave(const Spec& spec, Arithmetic arithmetic, bool parts = false) {
  constexpr int kRhs = MatmulDims::kRhs, kPair = 2;
  const TensorSpec& rhs = spec.operand[kRhs];
  const Instruction& row = Info(arithmetic);
  return row.groups_lhs() && row.group == kPair && !row.scales && rhs.layout.group == 1 &&
         rhs.layout.panel == 0 && (parts || !IsWindow(spec, kRhs)) &&
         InnerDim(spec, kRhs) == InnerDim(spec, spec.op_info().output()) &&
         LaneType(arithmetic, kRhs, rhs.dtype) == rhs.dtype;
}

// What it costs, as RegisterTile::widens_rhs counts it: a shuffle for each of two rows, a shift and an or.
inline constexpr double kInterleaving = 2;

// True if loads of the tile do so: its rhs is widened though it is of the arithmetic's own type.
inline bool Interleaves(const RegisterTile& tile) {
  return tile.form == LayoutKind::kVectors && tile.widens_rhs > 0 && tile.instruction().groups_lhs() &&
         LaneType(tile.arithmetic, MatmulDims::kRhs, tile.rhs) == tile.rhs && !IsOfBlocks(tile.rhs);
}

}  // namespace kirsch

#endif  // KIRSCH_SPEC_INTERLEAVING_H_
