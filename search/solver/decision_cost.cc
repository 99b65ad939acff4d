// SPDX-License-Identifier: Apache-2.0
#include "search/solver/decision_cost.h"

#include "rewrites/spec/rewrite.h"
#include "search/solver/limits.h"

namespace kirsch {

Choice Look(const Spec& spec, const Decision& decision, Lines available, const CostModel& model) {
  Choice choice{decision, {}, 0, 0};
  Expand(spec, decision, model.target(), &choice.expansion);
  choice.below = AvailableBelow(spec, choice.expansion, available, model.target());
  // The same sum as in DecisionRanking::Fill: the node's own cost, and the closed forms of its children.
  choice.bound = model.Base(spec, decision, choice.expansion);
  for (size_t i = 0; i < static_cast<size_t>(choice.expansion.num_children); ++i) {
    const Expansion::Child& child = choice.expansion.children[i];
    if (child.weight > 0) choice.bound += child.weight * model.LowerBound(child.spec);
  }
  return choice;
}

Cost PriceChoice(const Choice& choice, Cost budget, const CostModel& model, Solver& solver) {
  if (choice.below < 0) return kInfiniteCost;
  // `cost` begins as a bound. Each step replaces one child's closed form by its cost. So the loop can end as
  // soon as the sum reaches the budget.
  Cost cost = choice.bound;
  for (size_t i = 0; i < static_cast<size_t>(choice.expansion.num_children) && cost < budget; ++i) {
    const Expansion::Child& child = choice.expansion.children[i];
    const Cost rest = cost - (child.weight > 0 ? child.weight * model.LowerBound(child.spec) : 0);
    // At least what the child may cost: a child that a budget of `room` refutes takes the sum to the budget
    // or above.
    const Cost room = child.weight > 0 ? (budget - rest) / child.weight + 1 : kInfiniteCost;
    const Solver::Outcome outcome = solver.Solve(child.spec, choice.below, room);
    if (!outcome.solved || solver.stopped()) return kInfiniteCost;
    cost = rest + child.weight * outcome.cost;
  }
  return cost;
}

}  // namespace kirsch
