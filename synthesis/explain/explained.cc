// SPDX-License-Identifier: Apache-2.0
#include "synthesis/explain/explained.h"

namespace kirsch {
namespace {

ExplainedMember ExplainMember(const Synthesis& member) {
  const CostModel model(member.target);
  if (const auto* const plan = std::get_if<Plan>(&member.program))
    return ExplainedGraph{&member, ExplainPlan(*plan, model)};
  return ExplainedSpec{&member, Explain(std::get<Impl>(member.program), model, *member.memo)};
}

}  // namespace

ExplainedKernel ExplainKernel(const FamilySynthesis& synthesis) {
  ExplainedKernel explained{&synthesis, {}, {}};
  if (!explained.is_family()) {
    explained.members.push_back(ExplainMember(synthesis.members.front()));
    return explained;
  }
  for (const DispatchRange& region : synthesis.regions.list)
    explained.members.push_back(ExplainMember(synthesis.largest(region)));
  return explained;
}

double Margin(double cycles, double other_cycles) { return 100 * (other_cycles / cycles - 1); }

}  // namespace kirsch
