// SPDX-License-Identifier: Apache-2.0
#include "synthesis/explain/cycle_kinds.h"

#include <algorithm>

namespace kirsch {

const std::vector<std::string>& CycleKinds() {
  static const std::vector<std::string> kinds = {
      "register tiles", "tiles into registers", "moves into caches", "copies, transforms",
      "loops",          "row programs",         "threads, waiting"};
  return kinds;
}

CycleKind CycleKindOf(const Decision& decision) {
  switch (decision.kind) {
    case RewriteKind::kMicrokernel:
      return kTileCycles;
    case RewriteKind::kMove:
      return decision.level == Level::kVrf ? kRegisterCycles : kCacheCycles;
    case RewriteKind::kPack:
      return kCopyCycles;
    default:
      return kLoopCycles;
  }
}

CycleKind CycleKindOf(StageKind kind) {
  return kind == StageKind::kContraction ? kTileCycles : kind == StageKind::kRows ? kRowCycles : kCopyCycles;
}

std::vector<double> CyclesByKind(const std::vector<ExplainedNode>& nodes) {
  std::vector<double> cycles(CycleKinds().size());
  for (const ExplainedNode& node : nodes)
    cycles[CycleKindOf(node.impl->decision)] += node.weight * ToCycles(node.own);
  return cycles;
}

std::vector<double> CyclesByKind(const ExplainedPlan& plan) {
  std::vector<double> cycles(CycleKinds().size());
  double sum = 0;
  for (const ExplainedStage& stage : plan.stages) {
    const double all = stage.weight * stage.stage->cycles;
    sum += all;
    if (stage.nodes.empty()) {
      cycles[CycleKindOf(stage.stage->kind)] += all;
      continue;
    }
    const std::vector<double> of_nodes = CyclesByKind(stage.nodes);
    // The nodes are those of one repeat. Scaled, they add up to what the stage takes in the whole plan.
    const double scale = all / ToCycles(stage.nodes.front().cost);
    for (size_t kind = 0; kind < cycles.size(); ++kind) cycles[kind] += scale * of_nodes[kind];
  }
  // Whatever no stage accounts for is the plan's own.
  cycles[kWholePlan] = std::max(0.0, plan.plan->cycles - sum);
  return cycles;
}

}  // namespace kirsch
