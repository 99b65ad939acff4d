// SPDX-License-Identifier: Apache-2.0
#include "search/solver/ranked_decisions.h"

#include <algorithm>

#include "search/solver/choice.h"

namespace kirsch {

RankedList* DecisionRanking::Kept(const Spec& spec, Lines available) {
  RankedList* list = lists_.Find(spec);
  return list != nullptr && list->proven_for >= available ? list : nullptr;
}

RankedList& DecisionRanking::Of(const Spec& spec, Lines available) {
  RankedList* list = lists_.Find(spec);
  if (list == nullptr) {
    list = &lists_.Keep(spec);
    Fill(spec, &list->decisions);
    list->proven_for = available;
  } else if (list->proven_for < available) {
    // More lines may allow cheaper programs than were proven to be the cheapest.
    for (RankedDecision& ranked : list->decisions) ranked.proven = ranked.bound;
    list->proven_for = available;
  }
  return *list;
}

void DecisionRanking::Fill(const Spec& spec, std::vector<RankedDecision>* decisions) {
  decisions->clear();
  Expansion expansion;
  EnumerateDecisions(spec, model_.target(), &enumerated_);
  for (const Decision& decision : enumerated_) {
    Expand(spec, decision, model_.target(), &expansion);
    const Lines needs = LinesNeeded(spec, expansion, model_.target());
    if (needs > kUnlimited) continue;
    const Cost base = model_.Base(spec, decision, expansion);
    const Cost bound = ClosedForm(base, expansion, [this](const Spec& child) { return LowerBound(child); });
    decisions->push_back({decision, needs, base, bound, bound});
  }
  std::ranges::stable_sort(*decisions, {}, &RankedDecision::bound);
}

Cost DecisionRanking::LowerBound(const Spec& spec) {
  if (const Cost* known = bounds_.Find(spec)) return *known;
  return bounds_.Keep(spec) = model_.LowerBound(spec);
}

}  // namespace kirsch
