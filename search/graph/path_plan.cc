// SPDX-License-Identifier: Apache-2.0
#include "search/graph/path_plan.h"

#include "search/graph/constant_copies.h"
#include "search/graph/constant_folding.h"

namespace kirsch {
namespace {

// Appends a group's nests, prepacks and buffers to the plan. Numbers of buffers are different in all groups
// of a plan.
void AddGroup(const PricedGroup& group, int phase, Plan* plan) {
  plan->prepacks.insert(plan->prepacks.end(), group.prepacks.begin(), group.prepacks.end());
  for (const LoopNest& nest : group.nests) {
    LoopNest& added = plan->nests.emplace_back(nest);
    added.group = static_cast<int>(plan->groups.size());
    added.phase = phase;
  }
  plan->buffers.insert(plan->buffers.end(), group.buffers.begin(), group.buffers.end());
  plan->groups.push_back(group.decision);
}

}  // namespace

Plan PlanAlong(const PlanPath& path, const Graph& graph, const Target& target, int threads,
               const std::function<const PricedGroup&(const GroupQuestion&)>& group_of) {
  Plan plan;
  plan.graph = graph;
  plan.threads = threads;
  int phase = 0;
  for (const PlanStep& step : path.steps) {
    phase += step.waits ? 1 : 0;
    for (const GroupQuestion& group : step.groups) AddGroup(group_of(group), phase, &plan);
  }
  // Last comes what is computed and copied ahead, as it depends on what the nests read.
  FoldConstants(target, &plan);
  CopyConstants(target, &plan);
  return plan;
}

}  // namespace kirsch
