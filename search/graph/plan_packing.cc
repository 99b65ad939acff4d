// SPDX-License-Identifier: Apache-2.0
#include "search/graph/plan_packing.h"

#include <algorithm>
#include <utility>

#include "rewrites/spec/rewrite.h"
#include "spec/check.h"
#include "spec/expansion.h"
#include "spec/language/printer.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

Order Turned(Order order) { return order == Order::kRow ? Order::kCol : Order::kRow; }

// Of a stage that packs. The same bytes are an lhs, or the rhs of the transposed problem: it is told as the
// latter.
std::string TextOfPack(const Stage& stage, int operand, const TensorSpec& copy) {
  const Spec& spec = stage.spec;
  const TileExtent extent = ExtentOf(spec, operand);
  Layout from = spec.tensor(operand).layout, to = copy.layout;
  if (operand == MatmulDims::kLhs) {
    from.order = Turned(from.order);
    to.order = Turned(to.order);
  }
  const StageOperand& at = stage.operands[0];
  std::string text;
  if (stage.repeats > 1) Append(&text, stage.repeats, " of ");
  Append(&text, extent.outer, "x", extent.inner, " ", PrintLayout(from));
  if (at.offset != 0) Append(&text, " from ", at.offset);
  if (stage.repeats > 1) Append(&text, " every ", at.repeat_stride);
  Append(&text, " as ", PrintLayout(to));
  if (to.kind == LayoutKind::kStrided) Append(&text, " ld=", to.ld);
  return Cat(text, " ", Info(copy.dtype).name);
}

std::string TextOfStage(const Stage& prepack) {
  switch (prepack.kind) {
    case StageKind::kPack: {
      const int operand = prepack.impl.decision.operand;
      return TextOfPack(prepack, operand, prepack.impl.children[0].impl.spec.tensor(operand));
    }
    case StageKind::kPad:
      return std::string(kPlainCopy);
    case StageKind::kTransform:
      return Cat("for Winograd's algorithm, ", prepack.transform.Name());
    case StageKind::kContraction:
    case StageKind::kRows:
    case StageKind::kTranspose:
      break;
  }
  KIRSCH_BUG("nothing that is made of constants");
}

struct SharedItem {
  Stage stage;
  int64_t bytes = 0;
};
using Items = std::map<std::pair<int, std::string>, SharedItem>;

std::pair<int, std::string> PrepackKey(const Stage& prepack) {
  return {prepack.operands[0].value, TextOfStage(prepack)};
}

// A parameter's name, a number, or what is computed of such.
std::string NameOfConstant(const Graph& graph, int value) {
  const GraphNode& node = graph.at(value);
  if (node.inputs.empty()) return node.text;
  std::string arguments;
  for (int input : node.inputs)
    Append(&arguments, arguments.empty() ? "" : ", ", NameOfConstant(graph, input));
  if (node.op == Operation::kCast) Append(&arguments, ", ", Info(node.type.dtype).name);
  return Cat(Info(node.op).name, "(", arguments, ")");
}

int64_t BufferBytes(const Plan& plan, int value) {
  const auto buffer = std::find_if(plan.buffers.begin(), plan.buffers.end(),
                                   [&](const Buffer& one) { return one.value == value; });
  KIRSCH_CHECK(buffer != plan.buffers.end());
  return buffer->bytes;
}

void AddItems(const Plan& plan, Items* items) {
  for (const Stage& stage : plan.prepacks) {
    SharedItem& item = items->try_emplace(PrepackKey(stage), SharedItem{stage, 0}).first->second;
    item.bytes = std::max(item.bytes, BufferBytes(plan, stage.operands[1].value));
  }
}

int FirstFreeValue(const Plan& plan) {
  int first = static_cast<int>(plan.graph.nodes.size());
  for (const Buffer& buffer : plan.buffers) first = std::max(first, buffer.value + 1);
  return first;
}

void TakeItems(const Items& items, Plan* plan) {
  std::map<std::pair<int, std::string>, Stage> own;
  std::map<int, std::pair<int, std::string>> made;  // by the values that the plan had for them
  for (const Stage& stage : plan->prepacks) {
    own.try_emplace(PrepackKey(stage), stage);
    made[stage.operands[1].value] = PrepackKey(stage);
  }
  int next = FirstFreeValue(*plan);
  std::map<std::pair<int, std::string>, int> values;
  std::erase_if(plan->buffers, [&](const Buffer& buffer) { return made.contains(buffer.value); });
  plan->prepacks.clear();
  for (const auto& [key, item] : items) {
    const auto known = own.find(key);
    Stage stage = known == own.end() ? item.stage : known->second;
    const int value = values[key] = key.second == kPlainCopy ? key.first : next++;
    stage.operands[1].value = value;
    plan->buffers.push_back({value, item.bytes});
    plan->prepacks.push_back(std::move(stage));
  }
  for (LoopNest& nest : plan->nests)
    for (Stage* stage : StagesOf(nest))
      for (StageOperand& operand : stage->operands)
        if (const auto copy = made.find(operand.value); copy != made.end())
          operand.value = values.at(copy->second);
}

}  // namespace

std::string TextOfCopy(const Stage& prepack, const Decision& pack, const Target& target) {
  Expansion expansion;
  Expand(prepack.spec, pack, target, &expansion);
  const int operand = pack.operand;
  return TextOfPack(prepack, operand, expansion.children[0].spec.tensor(operand));
}

std::string TextOfCopy(const Stage& prepack) { return TextOfStage(prepack); }

std::vector<int> FoldedOperations(const Plan& plan) {
  std::vector<int> operations;
  for (int node = plan.graph.num_inputs(); node < static_cast<int>(plan.graph.nodes.size()); ++node)
    if (plan.graph.IsConstant(node)) operations.push_back(node);
  return operations;
}

PlanPacking PackingOf(const Plan& plan) {
  PlanPacking packing;
  for (int input = 0; input < plan.graph.num_inputs(); ++input)
    if (plan.graph.IsConstant(input)) packing[input];
  for (const Stage& stage : plan.prepacks) packing[stage.operands[0].value].insert(TextOfStage(stage));
  // What is computed ahead is there as it is.
  for (const LoopNest& nest : plan.nests)
    for (const Stage* stage : StagesOf(nest))
      for (const StageOperand& operand : stage->operands)
        if (operand.value >= plan.graph.num_inputs() && plan.graph.IsConstant(operand.value))
          packing[operand.value].insert(std::string(kPlainCopy));
  return packing;
}

std::string PrintPacking(const PlanPacking& packing, const Graph& graph) {
  std::string text;
  for (const auto& [constant, copies] : packing) {
    if (copies.empty()) continue;
    Append(&text, text.empty() ? "" : "; ", NameOfConstant(graph, constant), " ");
    for (const std::string& copy : copies) Append(&text, copy == *copies.begin() ? "" : ", ", copy);
  }
  return text;
}

void SharePacking(absl::Span<Plan* const> plans) {
  Items items;
  for (const Plan* plan : plans) AddItems(*plan, &items);
  for (Plan* plan : plans) TakeItems(items, plan);
}

}  // namespace kirsch
