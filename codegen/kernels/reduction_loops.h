// SPDX-License-Identifier: Apache-2.0
// Writes the loops of a register tile over all steps of its reduction. Internal to codegen/.
#ifndef KIRSCH_CODEGEN_KERNELS_REDUCTION_LOOPS_H_
#define KIRSCH_CODEGEN_KERNELS_REDUCTION_LOOPS_H_

#include <cstdint>

#include "codegen/kernels/accumulators.h"
#include "codegen/kernels/tile_sums.h"

namespace kirsch {

// Writes the main loop and that of the rest, whose bodies steps(n) are n groups of steps. Both are inside of
// loops over the digits of a window's reduction. Of a convolution whose digits are channels, kernel columns
// and kernel rows:
//   for runs2                     kernel rows
//     for runs1                   kernel columns
//       for trips: steps(unroll)  channels
//       for rest: steps(run_steps)
//       pointers go to the next run of channels
//     pointers go to the next row
// Long sums end a block after a number of trips of one of these loops (tile_sums.h).
template <typename Steps>
class ReductionLoops {
 public:
  // Blocks end with trips of the innermost loop whose runs are longer than a block, or else of the outermost.
  ReductionLoops(ProcedureBuilder& builder, const Microkernel& kernel,
                 const MicrokernelParameters& parameters, const TileSums& sums, const Steps& steps)
      : builder_(builder), kernel_(kernel), parameters_(parameters), sums_(sums), steps_(steps) {
    while (loop_of_blocks_ < kernel.outer_loops() && StepsOf(loop_of_blocks_) <= kernel.block_steps())
      ++loop_of_blocks_;
  }

  void Write() const { Runs(kernel_.outer_loops(), Constant(0)); }

 private:
  // Returns the steps of all runs of the loop with so many loops around the main one; not of the outermost.
  int64_t StepsOf(int loop) const { return kernel_.reduction.unit(kernel_.whole_digits + loop + 1); }
  // Returns the steps of a trip of that loop.
  int64_t StepsOfTrip(int loop) const {
    return loop == 0 ? kernel_.unroll * kernel_.step() : StepsOf(loop - 1);
  }

  // Writes run number `run` of the loop, of those that the loops around it make. Loop 0 is the main one.
  void Runs(int loop, const Affine& run) const {
    const VarId trips = loop == 0 ? parameters_.trips : parameters_.outer[static_cast<size_t>(loop - 1)];
    const bool is_outermost = loop == kernel_.outer_loops();
    const auto trip = [&](const Affine& number) {
      if (loop == 0) return steps_(kernel_.unroll);
      // Runs of a loop are numbered through all loops around it, so that blocks of sums are.
      const int64_t in_run = is_outermost ? 0 : StepsOf(loop) / StepsOf(loop - 1);
      Runs(loop - 1, Plus(Times(run, in_run), number));
      NextRun(loop);
    };
    // A loop that ends no blocks.
    if (!sums_.are_in_blocks() || loop != loop_of_blocks_) {
      builder_.Loop(IndexOf(trips), [&](VarId number) { trip(IndexOf(number)); });
      if (loop == 0) Rest();
      return;
    }
    // A loop that ends blocks. If its runs are no whole blocks, the last block of each is shorter.
    const int64_t block = sums_.TripsOfBlock(StepsOfTrip(loop)) * StepsOfTrip(loop);
    const int64_t blocks = is_outermost ? 0 : (StepsOf(loop) + block - 1) / block;
    sums_.Loop(IndexOf(trips), StepsOfTrip(loop), Times(run, blocks), trip);
    if (loop == 0) Rest();
    if (!is_outermost && StepsOf(loop) % block != 0) sums_.EndBlock(Plus(Times(run, blocks), blocks - 1));
  }

  // Writes the loop over what the main loop leaves.
  void Rest() const {
    if (parameters_.rest == kNoVar) return;
    builder_.Loop(IndexOf(parameters_.rest), [&](VarId) { steps_(kernel_.run_steps()); });
  }

  // Moves the pointers from the end of a run of the loop below to the beginning of the next one. Operands
  // that are no windows go on where they are.
  void NextRun(int loop) const {
    const int level = kernel_.whole_digits + loop;
    const int64_t run = kernel_.reduction.digit[static_cast<size_t>(level - 1)].count;
    const auto next_run = [&](const MatrixLayout& matrix, VarId pointer) {
      if (matrix.window.empty()) return;
      const DigitAxis& axis = matrix.window.ReductionAxis();
      builder_.Do(Advance{pointer, Constant(axis.stride(level) - run * axis.stride(level - 1))});
    };
    next_run(kernel_.lhs, parameters_.lhs);
    next_run(kernel_.rhs, parameters_.rhs);
  }

  ProcedureBuilder& builder_;
  const Microkernel& kernel_;
  const MicrokernelParameters& parameters_;
  const TileSums& sums_;
  const Steps& steps_;
  // The loop whose runs have more steps than a block: its trips are parted.
  int loop_of_blocks_ = 0;
};

// Writes the loops; steps(n) writes n groups of steps and advances the pointers.
template <typename Steps>
void ForReduction(ProcedureBuilder& builder, const Microkernel& kernel,
                  const MicrokernelParameters& parameters, const TileSums& sums, const Steps& steps) {
  ReductionLoops<Steps>(builder, kernel, parameters, sums, steps).Write();
}

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_KERNELS_REDUCTION_LOOPS_H_
