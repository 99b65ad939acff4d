// SPDX-License-Identifier: Apache-2.0
// Prices each step of a program, and bounds from below what any program of a spec must cost. The model is
// affine:
//
//   cost(node) = base(spec, decision) + sum over children of weight * cost(child)
//
// The weight is how often the child runs, less where its runs share time with others. Bases are >= 0 and
// depend on nothing but the spec and the decision, so costs are monotone and dynamic programming over them is
// exact. See README.md.
//
//   matmul f32 100x300x512, tile m 32:
//     base = 4 * loop_cycles;  cost = base + 3 * cost(32x300x512) + 1 * cost(4x300x512)
//
// Thread-safe once constructed.
#ifndef KIRSCH_COST_COST_MODEL_H_
#define KIRSCH_COST_COST_MODEL_H_

#include <array>
#include <vector>

#include "cost/compute_bound.h"
#include "cost/cost.h"
#include "spec/decision.h"
#include "spec/expansion.h"
#include "spec/microkernel.h"
#include "spec/spec.h"
#include "spec/target.h"

namespace kirsch {

// Keeps a copy of the target, and tables that follow from it.
class CostModel {
 public:
  explicit CostModel(const Target& target);

  const Target& target() const { return target_; }

  // Returns what the node costs beside its children. `expansion` is what Expand makes of the spec and the
  // decision. Where the target has an extension, it has the last word.
  Cost Base(const Spec& spec, const Decision& decision, const Expansion& expansion) const;

  // Returns the cycles of the copy that a pack makes. For a copy that is made ahead, too: Base leaves that
  // out, as it is paid once, not in each run.
  double PackCycles(const Spec& spec, const Decision& decision, const Expansion& expansion) const;

  // Returns a lower bound of every program for `spec`, whatever the limits. It is consistent: a step's base
  // and the bounds of its children are together no less.
  Cost LowerBound(const Spec& spec) const;

  // Returns a lower bound of the cost that the operands at `slow` add to any program for `spec`, compared
  // with `fast`, where they would be resident instead. Bounds of relaxed specs are raised by it
  // (search/solver/relaxation.h).
  Cost SlowerLevelBound(const Spec& spec, Level slow, Level fast) const;

  // Returns a lower bound of the cost that the epilogue adds to any program for `spec`.
  Cost EpilogueBound(const Spec& spec) const;

  // Returns the least cycles that the arithmetic takes, every operand in L1 and as it would best lie.
  // Transfers hide behind no more than this.
  double ComputeBound(const Spec& spec) const { return compute_.Products(spec); }

  // Returns the cycles to bring these lines from `transfer.from` to the core and back, none of it hidden.
  // `active_threads` is how many threads share the caches.
  double TransferCycles(const Transfer& transfer, int active_threads) const;

 private:
  Cost BuiltInBase(const Spec& spec, const Decision& decision, const Expansion& expansion) const;
  // The cycles of transfers, and how much of them has to be waited for.
  struct Exposure {
    double total = 0;    // cycles of all transfers
    double exposed = 0;  // the part that never hides behind arithmetic
    double below = 0;    // cycles of the same lines from where they are brought to
  };
  int64_t CompulsoryLines(const Spec& spec, int operand) const;
  Exposure Compulsory(const Spec& spec, int operand, int64_t lines, Level from) const;
  Exposure Compulsory(const Spec& spec, int operand, Level from) const;
  double OutputBound(const Spec& spec) const;
  double LateShare(const Transfer& transfer) const;
  double UnstreamedCycles(const Transfer& transfer) const;
  double PageCycles(const Transfer& transfer) const;
  double StreamingCycles(const Transfer& transfer) const;
  Exposure ExposureOf(const Transfer& transfer, int active_threads) const;
  Exposure ExposureOf(const Spec& spec, const Expansion& expansion) const;
  double OverrunCycles(const Spec& spec, const Expansion& expansion) const;
  double WideStepCycles(const Spec& spec, const VectorUnit& unit) const;
  double EvictedCycles(const Spec& spec, const Expansion& expansion) const;
  double WideLoadCycles(const Spec& spec, const Footprint& rhs, const VectorUnit& unit) const;
  double LhsContentionCycles(const Spec& spec, const Expansion& expansion) const;
  double AskingCycles(const Spec& spec, const Decision& decision, Transfer* transfer) const;
  double AskingWaiting(const Spec& spec, const Decision& decision, const Expansion& expansion,
                       double waited) const;
  double LeastAsking(const Spec& spec, int64_t lines) const;
  double CutPanelsCycles(const Spec& spec, const Expansion& expansion) const;
  double RegisterTileBase(const Spec& spec, const Decision& decision) const;
  double HidingPlace(const Spec& spec, int operand) const;
  double BesideTiles(const Spec& spec, const Decision& decision) const;
  Target target_;
  ComputeBounds compute_;
  double cycles_per_byte_read_ = 0;  // per byte of sums, best unit
  double cycles_per_byte_written_ = 0;
};

}  // namespace kirsch

#endif  // KIRSCH_COST_COST_MODEL_H_
