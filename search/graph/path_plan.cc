#include "search/graph/path_plan.h"

#include "search/graph/ahead_operations.h"
#include "search/graph/constant_copies.h"

namespace kirsch {
namespace {

void AddSlice(const PricedSlice& slice, int phase, Plan* plan) {
  plan->ahead.insert(plan->ahead.end(), slice.ahead.begin(), slice.ahead.end());
  for (const LoopNest& nest : slice.nests) {
    LoopNest& added = plan->nests.emplace_back(nest);
    added.slice = static_cast<int>(plan->slices.size());
    added.phase = phase;
  }
  plan->buffers.insert(plan->buffers.end(), slice.buffers.begin(), slice.buffers.end());
  plan->slices.push_back(slice.decision);
}

}  // namespace

Plan PlanAlong(const PlanPath& path, const Graph& graph, const Target& target, int threads,
               const std::function<const PricedSlice&(const SliceQuestion&)>& slice_of) {
  Plan plan;
  plan.graph = graph;
  plan.threads = threads;
  int phase = 0;
  for (const PlanStep& step : path.steps) {
    phase += step.waits ? 1 : 0;
    for (const SliceQuestion& slice : step.slices) AddSlice(slice_of(slice), phase, &plan);
  }
  MakeAhead(target, &plan);
  CopyConstants(target, &plan);
  return plan;
}

}  // namespace kirsch
