// SPDX-License-Identifier: Apache-2.0
// What a spec's program costs at least if it begins with a given decision: to compare other decisions with
// the one that the search took.
#ifndef KIRSCH_SEARCH_SOLVER_DECISION_COST_H_
#define KIRSCH_SEARCH_SOLVER_DECISION_COST_H_

#include "cost/cost_model.h"
#include "memo/memo.h"
#include "search/solver/solver.h"
#include "spec/decision.h"
#include "spec/expansion.h"
#include "spec/spec.h"

namespace kirsch {

// A decision, and what it makes of a spec.
struct Choice {
  Decision decision;
  Expansion expansion;
  Lines below = 0;  // left for the children; negative: the decision doesn't fit
  Cost bound = 0;   // no program that begins with the decision costs less
};

Choice Look(const Spec& spec, const Decision& decision, Lines available, const CostModel& model);

// The cost of the cheapest program that begins with the choice, if that is below `budget`; else
// something that isn't, which is kInfiniteCost where the choice doesn't fit or the solver was stopped.
Cost PriceChoice(const Choice& choice, Cost budget, const CostModel& model, Solver& solver);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_SOLVER_DECISION_COST_H_
