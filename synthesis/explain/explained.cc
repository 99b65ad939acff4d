// SPDX-License-Identifier: Apache-2.0
#include "synthesis/explain/explained.h"

#include "absl/strings/str_format.h"
#include "synthesis/explain/cycle_kinds.h"

namespace kirsch {
namespace {

ExplainedMember ExplainMember(const Synthesis& member) {
  const CostModel model(member.target);
  if (const auto* const plan = std::get_if<Plan>(&member.program)) {
    ExplainedPlan explained = ExplainPlan(*plan, model);
    return {&member, explained, plan->cycles, explained.traffic, CyclesByKind(explained)};
  }
  // The search's memo knows the runners-up. Without it they would be searched for.
  Explanation explained = Explain(std::get<Impl>(member.program), model, *member.memo);
  return {&member, explained, ToCycles(explained.nodes.front().cost), explained.traffic,
          CyclesByKind(explained.nodes)};
}

}  // namespace

ExplainedKernel ExplainKernel(const FamilySynthesis& synthesis) {
  ExplainedKernel explained{&synthesis, {}, {}};
  if (!explained.is_family()) {
    explained.members.push_back(ExplainMember(synthesis.members.front()));
    return explained;
  }
  for (const Region& region : synthesis.regions.list)
    explained.members.push_back(ExplainMember(synthesis.last(region)));
  return explained;
}

std::string Amount(double bytes) {
  if (bytes < 10240) return absl::StrFormat("%.0f B", bytes);
  if (bytes < 10240.0 * 1024) return absl::StrFormat("%.0f KiB", bytes / 1024);
  return absl::StrFormat("%.1f MiB", bytes / (1024 * 1024));
}

double Margin(double cycles, double other_cycles) { return 100 * (other_cycles / cycles - 1); }

std::string RunnerUpText(std::string_view what, double cycles, double other_cycles) {
  return absl::StrFormat("%s, %+.2f%%", what, Margin(cycles, other_cycles));
}

}  // namespace kirsch
