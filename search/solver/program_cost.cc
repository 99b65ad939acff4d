// SPDX-License-Identifier: Apache-2.0
#include "search/solver/program_cost.h"

#include "rewrites/spec/rewrite.h"

namespace kirsch {

ProgramCost::ProgramCost(const Impl& impl, const Target& target) { Add(impl, 1, target); }

void ProgramCost::Add(const Impl& impl, double weight, const Target& target) {
  Expansion expansion;
  Expand(impl.spec, impl.decision, target, &expansion);
  nodes_.push_back({impl.spec, impl.decision, expansion, weight});
  for (size_t i = 0; i < impl.children.size(); ++i)
    Add(impl.children[i].impl, weight * static_cast<double>(expansion.children[i].weight), target);
}

double ProgramCost::Cycles(const CostModel& model) const {
  double cycles = 0;
  for (const Node& node : nodes_)
    if (node.weight > 0)
      cycles += node.weight * ToCycles(model.Base(node.spec, node.decision, node.expansion));
  return cycles;
}

}  // namespace kirsch
