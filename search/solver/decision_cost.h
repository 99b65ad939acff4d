// SPDX-License-Identifier: Apache-2.0
// Prices the best program that begins with a given decision, so that any decision can be compared with the
// one that the search took. `explain` finds the second best decision this way (search/explain/explain.h).
#ifndef KIRSCH_SEARCH_SOLVER_DECISION_COST_H_
#define KIRSCH_SEARCH_SOLVER_DECISION_COST_H_

#include "cost/cost_model.h"
#include "memo/memo.h"
#include "search/solver/solver.h"
#include "spec/decision.h"
#include "spec/expansion.h"
#include "spec/spec.h"

namespace kirsch {

// A decision for a spec, with all that can be said of it before anything is searched.
struct Choice {
  Decision decision;
  Expansion expansion;
  Lines below = 0;  // left for the children; negative: the decision doesn't fit
  Cost bound = 0;   // no program that begins with the decision costs less
};

// Expands the decision where `available` lines are left, and adds up its closed-form bound. Searches nothing.
Choice Look(const Spec& spec, const Decision& decision, Lines available, const CostModel& model);

// The cost of the cheapest program that begins with the choice, if that is below `budget`. Otherwise it
// returns some cost that is not below it. That is kInfiniteCost if the choice doesn't fit, or if the solver
// was stopped.
Cost PriceChoice(const Choice& choice, Cost budget, const CostModel& model, Solver& solver);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_SOLVER_DECISION_COST_H_
