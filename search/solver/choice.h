// SPDX-License-Identifier: Apache-2.0
// Says of a decision what can be said before anything is searched, and builds the program that begins with
// it. Whoever searches, ranks, replays or explains programs compares decisions by these bounds. Internal to
// search/.
#ifndef KIRSCH_SEARCH_SOLVER_CHOICE_H_
#define KIRSCH_SEARCH_SOLVER_CHOICE_H_

#include <vector>

#include "cost/cost_model.h"
#include "memo/memo.h"
#include "rewrites/spec/rewrite.h"
#include "search/solver/limits.h"
#include "spec/decision.h"
#include "spec/expansion.h"
#include "spec/impl.h"
#include "spec/spec.h"

namespace kirsch {

struct Choice {
  Decision decision;
  Expansion expansion;
  Lines below = 0;           // left for the children; negative: the decision doesn't fit
  Cost base = 0, bound = 0;  // CostModel::Base; ClosedForm
};

// Expands the decision where `available` lines are left. The bound is infinite if the decision doesn't fit.
Choice Look(const Spec& spec, const Decision& decision, Lines available, const CostModel& model);

// Returns the choices that fit and whose bounds are below `limit`, in the order of trial (solver.h).
std::vector<Choice> ChoicesBelow(Cost limit, const Spec& spec, Lines available, const CostModel& model);

// What no program costs less that begins with a decision: the node's own cost, and the bounds of its children
// by `lower_bound`. What an extension forbids is infinite, and nothing is to be added to that.
template <typename LowerBound>
Cost ClosedForm(Cost base, const Expansion& expansion, LowerBound lower_bound) {
  Cost bound = base;
  for (size_t i = 0; i < static_cast<size_t>(expansion.num_children) && bound < kInfiniteCost; ++i) {
    const Expansion::Child& child = expansion.children[i];
    if (child.weight > 0) bound += child.weight * lower_bound(child.spec);
  }
  return bound;
}

// Builds the program that begins with a decision. `program_of(expansion, child, below)` returns that of the
// child with this number, for which `below` lines are left.
template <typename ProgramOf>
Impl BuildProgram(const Spec& spec, const Decision& decision, Lines available, const Target& target,
                  ProgramOf program_of) {
  Impl impl{spec, decision, {}};
  Expansion expansion;
  Expand(spec, decision, target, &expansion);
  const Lines below = AvailableBelow(spec, expansion, available, target);
  for (size_t i = 0; i < static_cast<size_t>(expansion.num_children); ++i)
    impl.children.push_back({expansion.children[i].trips, program_of(expansion, i, below)});
  return impl;
}

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_SOLVER_CHOICE_H_
