// SPDX-License-Identifier: Apache-2.0
#include "search/graph/constant_folding.h"

#include <algorithm>
#include <utility>

#include "cost/cost.h"
#include "cost/cost_model.h"
#include "rewrites/analysis/fusion_group.h"
#include "rewrites/analysis/graph_uses.h"
#include "rewrites/graph/row_schedules.h"
#include "search/graph/group_pricer.h"
#include "search/graph/stage_cost.h"
#include "spec/check.h"
#include "spec/graph/row_passes.h"

namespace kirsch {
namespace {

// Up to so many operations, every choice is searched: at most 2^4 searches. Beyond, only all and none.
constexpr size_t kMostChosen = 4;

// For each node: true if it depends on constant parameters, and on nothing else but numbers.
std::vector<bool> HangOnConstants(const Graph& graph) {
  std::vector<bool> constant(graph.nodes.size());
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const GraphNode& node = graph.nodes[i];
    if (Info(node.op).kind == OperationKind::kLeaf) {
      constant[i] = node.constant;
      continue;
    }
    // An operation depends on constants if at least one input does, and if every other input does, too, or is
    // a number.
    constant[i] = Info(node.op).kind != OperationKind::kContraction;
    bool any = false;
    for (int input : node.inputs) {
      any |= constant[static_cast<size_t>(input)];
      constant[i] =
          constant[i] && (constant[static_cast<size_t>(input)] || graph.at(input).op == Operation::kNumber);
    }
    constant[i] = constant[i] && any;
  }
  return constant;
}

// Gives a row program that keeps values in scratch memory the first of its schedules that keeps none. Scratch
// memory belongs to a call, and these stages run ahead of all calls.
void LeaveScratchAlone(const Target& target, Stage* stage) {
  if (stage->kind != StageKind::kRows || ScratchElements(stage->schedule, stage->columns) == 0) return;
  for (const RowSchedule& schedule : EnumerateRowSchedules(stage->program, stage->columns, target)) {
    if (ScratchElements(schedule, stage->columns) != 0) continue;
    PriceStage(std::vector<Level>(stage->operands.size(), Level::kRam), target, &schedule, stage);
    return;
  }
  KIRSCH_BUG("every row program can compute its values anew");
}

}  // namespace

std::vector<int> ConstantOperations(const Graph& graph, const Target& target) {
  const GraphUses uses(graph);
  if (!graph.HasConstants() || uses.operations().size() > kMaxOperations) return {};
  const std::vector<bool> constant = HangOnConstants(graph);
  const CostModel model(target);
  const PlanOptions options;
  GroupPricer pricer(uses, model, options);
  std::vector<int> operations;
  for (size_t place = 0; place < uses.operations().size(); ++place) {
    const int node = uses.operations()[place];
    if (!constant[static_cast<size_t>(node)] || graph.IsResult(node)) continue;
    const std::vector<int>& inputs = graph.at(node).inputs;
    const bool reads_known = std::all_of(inputs.begin(), inputs.end(), [&](int input) {
      const int stored = uses.Stored(input);
      return Info(graph.at(stored).op).kind == OperationKind::kLeaf ||
             std::find(operations.begin(), operations.end(), stored) != operations.end();
    });
    if (!reads_known) continue;
    // An operation is folded alone, so it must be a group by itself.
    const absl::StatusOr<double> bound = pricer.Bound(OperationSet::Of(place), Workers::kOne);
    if (bound.ok() && *bound < kInfiniteCycles) operations.push_back(node);
  }
  return operations;
}

std::vector<std::vector<int>> FoldingChoices(const Graph& graph, const std::vector<int>& operations) {
  if (operations.empty()) return {{}};
  if (operations.size() > kMostChosen) return {operations, {}};
  const GraphUses uses(graph);
  std::vector<std::vector<int>> choices;
  for (uint32_t set = 0; set < 1u << operations.size(); ++set) {
    std::vector<int> choice;
    for (size_t i = 0; i < operations.size(); ++i)
      if ((set >> i & 1) != 0) choice.push_back(operations[i]);
    // Keep the choices in which every operation finds its inputs: each is a parameter, or in the choice
    // itself.
    const bool closed = std::all_of(choice.begin(), choice.end(), [&](int node) {
      const std::vector<int>& inputs = graph.at(node).inputs;
      return std::all_of(inputs.begin(), inputs.end(), [&](int input) {
        const int stored = uses.Stored(input);
        return std::find(operations.begin(), operations.end(), stored) == operations.end() ||
               std::find(choice.begin(), choice.end(), stored) != choice.end();
      });
    });
    if (closed) choices.push_back(std::move(choice));
  }
  std::stable_sort(choices.begin(), choices.end(),
                   [](const std::vector<int>& a, const std::vector<int>& b) { return a.size() > b.size(); });
  return choices;
}

Graph WithConstants(const Graph& graph, const std::vector<int>& operations) {
  Graph constant = graph;
  for (int node : operations) constant.nodes[static_cast<size_t>(node)].constant = true;
  return constant;
}

void FoldConstants(const Target& target, Plan* plan) {
  // The operations are nodes of the plan's graph that are marked as constant. To price them, take the marks
  // away.
  Graph whole = plan->graph;
  std::vector<int> folded;
  for (int node = whole.num_inputs(); node < static_cast<int>(whole.nodes.size()); ++node)
    if (std::exchange(whole.nodes[static_cast<size_t>(node)].constant, false)) folded.push_back(node);
  if (folded.empty()) return;
  const CostModel model(target);
  const GraphUses uses(whole);
  const PlanOptions options;
  GroupPricer pricer(uses, model, options);
  // One group for each operation, in the graph's order, so that each reads what is there. Their cycles cost a
  // call nothing.
  for (int node : folded) {
    const std::vector<int>& operations = uses.operations();
    const auto place = std::find(operations.begin(), operations.end(), node) - operations.begin();
    absl::StatusOr<GroupPrice> price = pricer.Price(OperationSet::Of(place), Workers::kOne, kInfiniteCycles);
    KIRSCH_CHECK(price.ok() && price->group.has_value());
    for (LoopNest& nest : price->group->nests) {
      for (Stage* stage : StagesOf(nest)) LeaveScratchAlone(target, stage);
      plan->folded.push_back(std::move(nest));
    }
    for (const Buffer& buffer : price->group->buffers) plan->buffers.push_back(buffer);
    const auto own = std::find_if(plan->buffers.begin(), plan->buffers.end(),
                                  [&](const Buffer& buffer) { return buffer.value == node; });
    if (own == plan->buffers.end()) plan->buffers.push_back({node, whole.at(node).type.bytes()});
  }
}

}  // namespace kirsch
