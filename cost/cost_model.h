// SPDX-License-Identifier: Apache-2.0
// The affine cost model: cost(node) = base(spec, decision) + sum over children of weight * cost(child). The
// weight is how often the child runs, less where its runs share time with others. Bases are >= 0, so costs
// are monotone and dynamic programming over them is exact. See README.md. Thread-safe once constructed.
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

class CostModel {
 public:
  explicit CostModel(const Target& target);

  const Target& target() const { return target_; }

  // What the node costs beside its children.
  Cost Base(const Spec& spec, const Decision& decision, const Expansion& expansion) const;

  // Cycles the copy of a pack takes, one made ahead too (which is no part of Base).
  double PackCycles(const Spec& spec, const Decision& decision, const Expansion& expansion) const;

  // A lower bound of every program for `spec`, whatever the limits.
  Cost LowerBound(const Spec& spec) const;

  // A lower bound of what any program for `spec` costs more than it would with the operands at `slow` waiting
  // at `fast` instead.
  Cost SlowerLevelBound(const Spec& spec, Level slow, Level fast) const;

  // A lower bound of what any program for `spec` costs more than it would without the epilogue.
  Cost EpilogueBound(const Spec& spec) const;

  // Cycles the arithmetic takes at least, every operand in L1 and as it would best lie.
  double ComputeBound(const Spec& spec) const { return compute_.Products(spec); }

  // Cycles to bring these lines from `transfer.from` to the core and back, none of it hidden.
  double TransferCycles(const Transfer& transfer, int active_threads) const;

 private:
  struct Exposure {
    double total = 0;    // cycles of all transfers
    double exposed = 0;  // the part that never hides behind arithmetic
    double below = 0;    // that the same lines take from where they are brought to
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
  double EvictedCycles(const Spec& spec, const Expansion& expansion) const;
  double FarLinesCycles(const Spec& spec, const Footprint& rhs, const VectorUnit& unit) const;
  double BesideRhsCycles(const Spec& spec, const Expansion& expansion) const;
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
