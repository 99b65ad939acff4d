// SPDX-License-Identifier: Apache-2.0
#include "search/solver/choice.h"

#include <algorithm>

namespace kirsch {

Choice Look(const Spec& spec, const Decision& decision, Lines available, const CostModel& model) {
  Choice choice{decision, {}, 0, 0, kInfiniteCost};
  Expand(spec, decision, model.target(), &choice.expansion);
  choice.below = AvailableBelow(spec, choice.expansion, available, model.target());
  if (choice.below < 0) return choice;
  choice.base = model.Base(spec, decision, choice.expansion);
  choice.bound =
      ClosedForm(choice.base, choice.expansion, [&](const Spec& child) { return model.LowerBound(child); });
  return choice;
}

std::vector<Choice> ChoicesBelow(Cost limit, const Spec& spec, Lines available, const CostModel& model) {
  std::vector<Decision> decisions;
  EnumerateDecisions(spec, model.target(), &decisions);
  std::vector<Choice> choices;
  for (const Decision& decision : decisions)
    if (const Choice choice = Look(spec, decision, available, model); choice.bound < limit)
      choices.push_back(choice);
  std::ranges::stable_sort(choices, {}, &Choice::bound);
  return choices;
}

}  // namespace kirsch
