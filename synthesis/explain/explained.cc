// SPDX-License-Identifier: Apache-2.0
#include "synthesis/explain/explained.h"

namespace kirsch {
namespace {

ExplainedMember ExplainMember(const Member& member) {
  if (const auto* const graph = std::get_if<GraphSynthesis>(&member))
    return ExplainedGraph{graph, ExplainPlan(graph->result.plan, CostModel(graph->target))};
  const auto& spec = std::get<Synthesis>(member);
  return ExplainedSpec{&spec, Explain(spec.result.impl, CostModel(spec.target), *spec.memo)};
}

}  // namespace

ExplainedKernel ExplainKernel(const FamilySynthesis& synthesis) {
  ExplainedKernel explained{&synthesis, {}, {}};
  if (!explained.is_family()) {
    explained.members.push_back(ExplainMember(synthesis.members.front()));
    return explained;
  }
  for (const DispatchRange& region : synthesis.regions.list)
    explained.members.push_back(ExplainMember(synthesis.members[static_cast<size_t>(region.largest())]));
  return explained;
}

double Margin(double cycles, double other_cycles) { return 100 * (other_cycles / cycles - 1); }

}  // namespace kirsch
