// SPDX-License-Identifier: Apache-2.0
// Writes the procedures that compute a register tile. There is one per form of the kernel catalogue
// (spec/microkernel.h), each specialised for the tile and the strides of its operands. The length of the
// reduction is known at run time.
#ifndef KIRSCH_CODEGEN_KERNELS_MICROKERNELS_H_
#define KIRSCH_CODEGEN_KERNELS_MICROKERNELS_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "codegen/loop/loop_program.h"
#include "spec/program/kernel_shape.h"

namespace kirsch {

// Adds to a TileShape what only its code depends on. FitToRegisters sets all of it but `scales`. Kernels that
// are equal are one procedure, whose name says all that they differ in.
struct Microkernel : TileShape {
  bool scales = false;  // functions may use AVX-512F's instruction for a * 2^n
  int k_split = 1;      // accumulator sets
  // Vectors (kPartialSums) or groups of steps (others) of the reduction that one trip of the main loop
  // takes: with their parts, a multiple of k_split.
  int unroll = 1;
  bool fence_steps = false;  // loads keep to their step of the reduction
  bool fence_rows = false;   // and to their row
  int whole_digits = 0;      // of a window's reduction: digits that a trip takes whole

  // Returns the steps, or groups of them, from one run of the digits that are taken whole to the next.
  int run_steps() const { return RunSteps(tile, reduction, whole_digits); }
  // Returns how many loops are around the main one: those over the other digits.
  int outer_loops() const { return std::max(0, reduction.digits - 1 - whole_digits); }
  // Returns the elements from a step of the reduction to the one so many groups on. It is `strided` unless
  // the operand is a window, whose steps are as far apart as its digits say.
  Affine AdvanceOf(const MatrixLayout& layout, int groups, const Affine& strided) const {
    if (layout.window.empty()) return strided;
    const DigitAxis& axis = layout.window.ReductionAxis();
    return Constant(whole_digits == 0 ? groups * tile.group() * axis.stride(0)
                                      : groups / run_steps() * axis.stride(whole_digits));
  }
  // True if a second loop takes the steps that are too few for a trip of the main loop. Of blocks, the
  // shortest trip is a whole one.
  bool has_rest() const {
    return unroll > (IsOfBlocks(rhs.dtype) ? BlockOf(rhs.dtype) / step() : run_steps());
  }
  // Return the element types of vectors of operands, to which loads widen.
  Dtype lhs_lanes() const { return LaneType(tile.arithmetic, MatmulDims::kLhs, lhs.dtype); }
  Dtype rhs_lanes() const { return LaneType(tile.arithmetic, MatmulDims::kRhs, rhs.dtype); }
  // Returns the multiply-adds of one step: of pairs, first that of all the even elements, then that of the
  // odd ones.
  int parts() const { return tile.instruction().parts(); }
  // Returns the accumulator set of a part of step `u`: sets take turns.
  int SetOf(int u, int part) const { return (u * parts() + part) % k_split; }
  // True if what a multiply-add reads has to be kept (see Keep), as a second one in the trip updates the same
  // accumulators.
  bool keeps(int part) const { return (fence_steps || one_by_one()) && k_split == 1 && part + 1 < parts(); }
  // True if vectors of rhs are made one at a time, so that not all of their parts take registers at once.
  bool one_by_one() const { return tile.rows == 1 && parts() > 1; }
  bool prefetches() const { return prefetch_k() != 0 || prefetch_n() != 0; }
  Dtype accumulator() const { return AccumulatorOf(lhs.dtype); }

  // Unique among kernels that differ, as lower.cc tells procedures apart by name. For example,
  // fma_14x32_v16_r512_r32p32_r512_add is a tile of 14 x 32 with 16 lanes: lhs in rows 512 apart, rhs in rows
  // of a panel 32 wide, out in rows 512 apart, to which it adds.
  std::string Name() const;
  // Returns the counts of loops that the procedure takes, for a reduction of length k (k mod step() ==
  // k_tail): of the main loop, of the rest if there is one, then of the loops around, the innermost first.
  std::vector<int64_t> Counts(int64_t k) const;
  // Returns how many steps of the reduction, or groups of them, one step of the main loop takes. Not for
  // windows.
  int at_once() const { return unroll / run_steps(); }
};

// Sets k_split, unroll and the fences as suits the vector unit. The cost model prices the same choices
// (MainLoopOf).
void FitToRegisters(const VectorUnit& unit, Microkernel* kernel);

// The procedure. Its parameters, those in brackets only where the kernel needs them:
//   lhs, rhs, out, [what the epilogue takes], [what is asked for], trips of the main loop, [trips of the
//   rest], [trips of the loops around these, the innermost first], [what is left of the reduction], [not 0 if
//   it adds], [kStride], [kLast]
// There is a rest where the main loop takes several steps at once.
Procedure MicrokernelProcedure(const Microkernel& kernel);

// The forms, for MicrokernelProcedure, which chooses by the tile's form and arithmetic.
Procedure OuterProductProcedure(const Microkernel& kernel);
Procedure DotProductProcedure(const Microkernel& kernel);
Procedure CodeProductProcedure(const Microkernel& kernel);   // dot products of integers that share scales
Procedure PanelProductProcedure(const Microkernel& kernel);  // outer products of them
Procedure LanewiseProcedure(const Microkernel& kernel);
Procedure TileProductProcedure(const Microkernel& kernel);  // of a matrix unit

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_KERNELS_MICROKERNELS_H_
