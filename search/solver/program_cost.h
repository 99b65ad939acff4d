// SPDX-License-Identifier: Apache-2.0
// Prices one given program again and again under different cost constants, as a fit of the cost model does.
// The search and Replay price a program once, and would expand its decisions anew each time.
#ifndef KIRSCH_SEARCH_SOLVER_PROGRAM_COST_H_
#define KIRSCH_SEARCH_SOLVER_PROGRAM_COST_H_

#include <vector>

#include "cost/cost_model.h"
#include "spec/impl.h"
#include "spec/target.h"

namespace kirsch {

// Takes a program apart once into nodes, and then adds up their costs for any cost model. This is sound since
// the expansion of a decision doesn't depend on a target's cost keys. It depends only on the vector units and
// on the sizes of caches, lines and pages. Thread-safe.
class ProgramCost {
 public:
  ProgramCost(const Impl& impl, const Target& target);

  // The cycles of the program under `model`, whose target may differ from the constructor's in cost keys
  // only. Equal to the cost that the search finds, but for rounding: the sum is one of doubles.
  double Cycles(const CostModel& model) const;

 private:
  struct Node {
    const Spec spec;
    const Decision decision;
    const Expansion expansion;
    const double weight;  // runs in the whole program that take time one after another
  };
  // Appends the nodes of a subtree that runs `weight` times.
  void Add(const Impl& impl, double weight, const Target& target);

  std::vector<Node> nodes_;
};

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_SOLVER_PROGRAM_COST_H_
