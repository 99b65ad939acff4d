// SPDX-License-Identifier: Apache-2.0
// The procedures that compute a register tile: one per form of the kernel catalogue (spec/microkernel.h),
// each specialised for the tile and the strides of its operands, with the length of the reduction at run
// time.
#ifndef KIRSCH_CODEGEN_KERNELS_MICROKERNELS_H_
#define KIRSCH_CODEGEN_KERNELS_MICROKERNELS_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "codegen/loop/loop_program.h"
#include "spec/program/kernel_shape.h"

namespace kirsch {

struct Microkernel : TileShape {
  bool scales = false;  // functions may use AVX-512F's instruction for a * 2^n
  int k_split = 1;      // accumulator sets
  // Vectors (kPartialSums) or groups of steps (others) of the reduction that one trip of the main loop
  // takes: with their parts, a multiple of k_split.
  int unroll = 1;
  bool fence_steps = false;  // loads keep to their step of the reduction
  bool fence_rows = false;   // and to their row
  int whole_digits = 0;      // of a window's reduction: digits that a trip takes whole

  // Steps, or groups of them, from one run of the digits that are taken whole to the next.
  int run_steps() const { return RunSteps(tile, reduction, whole_digits); }
  // Loops around the main one, over the other digits.
  int outer_loops() const { return std::max(0, reduction.digits - 1 - whole_digits); }
  // Elements from a step of the reduction to the one so many groups on, `strided` where it is no window's.
  Affine AdvanceOf(const MatrixLayout& layout, int groups, const Affine& strided) const {
    if (layout.window.empty()) return strided;
    const DigitAxis& axis = layout.window.ReductionAxis();
    return Constant(whole_digits == 0 ? groups * tile.group() * axis.stride(0)
                                      : groups / run_steps() * axis.stride(whole_digits));
  }
  // Of blocks, the shortest trip is a whole one.
  bool has_rest() const {
    return unroll > (IsOfBlocks(rhs.dtype) ? BlockOf(rhs.dtype) / step() : run_steps());
  }
  // A vector of operands or of accumulators.
  Dtype lhs_lanes() const { return LaneType(tile.arithmetic, MatmulDims::kLhs, lhs.dtype); }
  Dtype rhs_lanes() const { return LaneType(tile.arithmetic, MatmulDims::kRhs, rhs.dtype); }
  // Multiply-adds of one step: of pairs, first that of all the even elements, then that of the odd ones.
  int parts() const { return tile.instruction().parts(); }
  // The accumulator set of a part of step `u`.
  int SetOf(int u, int part) const { return (u * parts() + part) % k_split; }
  // What the accumulators' first update multiplies is to be kept, where there is a second one in the trip.
  bool keeps(int part) const { return (fence_steps || one_by_one()) && k_split == 1 && part + 1 < parts(); }
  // Vectors of rhs are made one at a time, so that not all of their parts take registers at once.
  bool one_by_one() const { return tile.rows == 1 && parts() > 1; }
  bool prefetches() const { return prefetch_k() != 0 || prefetch_n() != 0; }
  Dtype accumulator() const { return AccumulatorOf(lhs.dtype); }

  // Unique among kernels that differ.
  std::string Name() const;
  // The counts of loops that the procedure takes, for a reduction of length k (k mod step() == k_tail).
  std::vector<int64_t> Counts(int64_t k) const;
  // So many steps of the reduction a step of the main loop takes; no window's.
  int at_once() const { return unroll / run_steps(); }
};

// Sets k_split, unroll and the fences as suits the vector unit.
void FitToRegisters(const VectorUnit& unit, Microkernel* kernel);

// The procedure. Its parameters, those in brackets only where the kernel needs them:
//   lhs, rhs, out, [what the epilogue takes], trips of the main loop, [trips of the rest],
//   [trips of the loops around these, the innermost first], [what is left of the reduction],
//   [not 0 if it adds], [the run-time size], [KernelRun::last]
// There is a rest where the main loop takes several steps at once.
Procedure MicrokernelProcedure(const Microkernel& kernel);

// The forms, for MicrokernelProcedure.
Procedure OuterProductProcedure(const Microkernel& kernel);
Procedure DotProductProcedure(const Microkernel& kernel);
Procedure CodeProductProcedure(const Microkernel& kernel);   // dot products of integers that share scales
Procedure PanelProductProcedure(const Microkernel& kernel);  // outer products of them
Procedure LanewiseProcedure(const Microkernel& kernel);
Procedure TileProductProcedure(const Microkernel& kernel);  // of a matrix unit

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_KERNELS_MICROKERNELS_H_
