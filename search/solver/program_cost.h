// SPDX-License-Identifier: Apache-2.0
// What a given program costs, again and again under other constants: the question that a fit of the cost
// model asks. (The search, and Replay, price a program once.)
#ifndef KIRSCH_SEARCH_SOLVER_PROGRAM_COST_H_
#define KIRSCH_SEARCH_SOLVER_PROGRAM_COST_H_

#include <vector>

#include "cost/cost_model.h"
#include "spec/impl.h"
#include "spec/target.h"

namespace kirsch {

// Thread-safe. What decisions expand to does not depend on a target's cost keys, only on its vector units and
// on the sizes of its caches, lines and pages; so programs are taken apart once.
class ProgramCost {
 public:
  ProgramCost(const Impl& impl, const Target& target);

  // For a model whose target differs in nothing but cost keys. What the search finds, but for rounding.
  double Cycles(const CostModel& model) const;

 private:
  struct Node {
    const Spec spec;
    const Decision decision;
    const Expansion expansion;
    const double weight;  // runs that take time one after another
  };
  void Add(const Impl& impl, double weight, const Target& target);

  std::vector<Node> nodes_;
};

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_SOLVER_PROGRAM_COST_H_
