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

// States a copy as one of an rhs. An lhs is the rhs of the transposed problem, so its orders are turned.
PackedCopy MatrixCopyBy(const Stage& prepack, int operand, const TensorSpec& copy) {
  const Spec& spec = prepack.spec;
  const TileExtent extent = ExtentOf(spec, operand);
  const StageOperand& at = prepack.operands[0];
  MatrixCopy made{extent.outer, extent.inner,    spec.tensor(operand).layout,
                  at.offset,    prepack.repeats, prepack.repeats > 1 ? at.repeat_stride : 0,
                  copy.layout,  copy.dtype};
  made.from.ld = 0;
  if (operand == MatmulDims::kLhs) {
    made.from.order = Turned(made.from.order);
    made.to.order = Turned(made.to.order);
  }
  return made;
}

std::string Print(const MatrixCopy& copy) {
  std::string text;
  if (copy.count > 1) Append(&text, copy.count, " of ");
  Append(&text, copy.outer, "x", copy.inner, " ", PrintLayout(copy.from));
  if (copy.offset != 0) Append(&text, " from ", copy.offset);
  if (copy.count > 1) Append(&text, " every ", copy.every);
  Append(&text, " as ", PrintLayout(copy.to));
  if (copy.to.kind == LayoutKind::kStrided) Append(&text, " ld=", copy.to.ld);
  return Cat(text, " ", Info(copy.dtype).name);
}
std::string Print(const PlainCopy&) { return "as it is"; }
std::string Print(const TransformShape& shape) { return Cat("for Winograd's algorithm, ", shape.Name()); }

// A parameter's name, a number, or the operation with its arguments.
std::string NameOfConstant(const Graph& graph, int value) {
  const GraphNode& node = graph.at(value);
  if (node.inputs.empty()) return node.text;
  std::string arguments = Join(node.inputs, ", ", [&](int input) { return NameOfConstant(graph, input); });
  if (node.op == Operation::kCast) Append(&arguments, ", ", Info(node.type.dtype).name);
  return Cat(Info(node.op).name, "(", arguments, ")");
}

int64_t BufferBytes(const Plan& plan, int value) {
  const auto buffer = std::find_if(plan.buffers.begin(), plan.buffers.end(),
                                   [&](const Buffer& one) { return one.value == value; });
  KIRSCH_CHECK(buffer != plan.buffers.end());
  return buffer->bytes;
}

// A copy in the buffer that plans share: a stage that makes it, and its size. Keys are the constant and the
// copy.
struct SharedItem {
  Stage stage;
  int64_t bytes = 0;
};
using ItemKey = std::pair<int, PackedCopy>;
using Items = std::map<ItemKey, SharedItem>;

ItemKey KeyOf(const Stage& prepack) { return {prepack.operands[0].value, CopyMadeBy(prepack)}; }

// Adds what a plan makes. Plans may reserve different sizes for the same copy; the largest serves all.
void AddItems(const Plan& plan, Items* items) {
  for (const Stage& stage : plan.prepacks) {
    SharedItem& item = items->try_emplace(KeyOf(stage), SharedItem{stage, 0}).first->second;
    item.bytes = std::max(item.bytes, BufferBytes(plan, stage.operands[1].value));
  }
}

// The order of the shared buffer: one constant after the other, and of each the copies by their texts. It
// does not depend on the order of the plans.
std::multimap<std::pair<int, std::string>, const Items::value_type*> InOrder(const Items& items) {
  std::multimap<std::pair<int, std::string>, const Items::value_type*> ordered;
  for (const Items::value_type& item : items)
    ordered.emplace(std::pair(item.first.first, PrintCopy(item.first.second)), &item);
  return ordered;
}

int FirstFreeValue(const Plan& plan) {
  int first = static_cast<int>(plan.graph.nodes.size());
  for (const Buffer& buffer : plan.buffers) first = std::max(first, buffer.value + 1);
  return first;
}

// Gives a plan all items, in the order of the buffer, and renames what its stages read. For copies that it
// makes already it keeps its own stages; the others it takes from another plan.
void TakeItems(const Items& items, Plan* plan) {
  // First, what the plan makes, by key and by the values it has for them.
  std::map<ItemKey, Stage> own;
  std::map<int, ItemKey> made;  // by the values that the plan had for them
  for (const Stage& stage : plan->prepacks) {
    own.try_emplace(KeyOf(stage), stage);
    made[stage.operands[1].value] = KeyOf(stage);
  }
  int next = FirstFreeValue(*plan);
  std::map<ItemKey, int> values;
  std::erase_if(plan->buffers, [&](const Buffer& buffer) { return made.contains(buffer.value); });
  plan->prepacks.clear();
  for (const auto& [order, entry] : InOrder(items)) {
    const auto& [key, item] = *entry;
    const auto known = own.find(key);
    Stage stage = known == own.end() ? item.stage : known->second;
    // A plain copy keeps the number of its constant; other copies get new numbers.
    const bool is_plain = std::holds_alternative<PlainCopy>(key.second);
    const int value = values[key] = is_plain ? key.first : next++;
    stage.operands[1].value = value;
    plan->buffers.push_back({value, item.bytes});
    plan->prepacks.push_back(std::move(stage));
  }
  // Last, the plan's stages read the new values.
  for (LoopNest& nest : plan->nests)
    for (Stage* stage : StagesOf(nest))
      for (StageOperand& operand : stage->operands)
        if (const auto copy = made.find(operand.value); copy != made.end())
          operand.value = values.at(copy->second);
}

}  // namespace

PackedCopy CopyMadeBy(const Stage& prepack, const Decision& pack, const Target& target) {
  Expansion expansion;
  Expand(prepack.spec, pack, target, &expansion);
  const int operand = pack.operand;
  return MatrixCopyBy(prepack, operand, expansion.children[0].spec.tensor(operand));
}

PackedCopy CopyMadeBy(const Stage& prepack) {
  switch (prepack.kind) {
    case StageKind::kPack: {
      const int operand = prepack.impl.decision.operand;
      return MatrixCopyBy(prepack, operand, prepack.impl.children[0].impl.spec.tensor(operand));
    }
    case StageKind::kPad:
      return PlainCopy{};
    case StageKind::kTransform: {
      TransformShape shape = prepack.transform;
      shape.node = -1;
      return shape;
    }
    case StageKind::kTranspose: {
      MatrixCopy made;
      made.outer = prepack.copy.height;
      made.inner = prepack.copy.width;
      made.to.order = Order::kCol;
      made.to.ld = static_cast<uint32_t>(made.outer);
      return made;
    }
    case StageKind::kContraction:
    case StageKind::kRows:
      break;
  }
  KIRSCH_BUG("nothing that is made of constants");
}

std::string PrintCopy(const PackedCopy& copy) {
  return std::visit([](const auto& made) { return Print(made); }, copy);
}

std::vector<std::string> PrintCopies(const CopiesOfConstant& copies) {
  std::vector<std::string> texts;
  for (const PackedCopy& copy : copies) texts.push_back(PrintCopy(copy));
  std::sort(texts.begin(), texts.end());
  return texts;
}

PlanPacking FindPacking(const Plan& plan) {
  PlanPacking packing;
  for (int input = 0; input < plan.graph.num_inputs(); ++input)
    if (plan.graph.IsConstant(input)) packing[input];
  for (const Stage& stage : plan.prepacks) packing[stage.operands[0].value].insert(CopyMadeBy(stage));
  // What is computed ahead is there as it is.
  for (const LoopNest& nest : plan.nests)
    for (const Stage* stage : StagesOf(nest))
      for (const StageOperand& operand : stage->operands)
        if (operand.value >= plan.graph.num_inputs() && plan.graph.IsConstant(operand.value))
          packing[operand.value].insert(PlainCopy{});
  return packing;
}

std::string PrintPacking(const PlanPacking& packing, const Graph& graph) {
  std::string text;
  for (const auto& [constant, copies] : packing) {
    if (copies.empty()) continue;
    Append(&text, text.empty() ? "" : "; ", NameOfConstant(graph, constant), " ",
           Join(PrintCopies(copies), ", "));
  }
  return text;
}

void SharePacking(absl::Span<Plan* const> plans) {
  Items items;
  for (const Plan* plan : plans) AddItems(*plan, &items);
  for (Plan* plan : plans) TakeItems(items, plan);
}

}  // namespace kirsch
