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

// What is in the buffer that plans share: what a stage makes.
struct SharedItem {
  Stage stage;
  int64_t bytes = 0;

  int constant() const { return stage.operands[0].value; }
  bool IsOf(const Stage& other) const {
    return constant() == other.operands[0].value && CopyMadeBy(stage) == CopyMadeBy(other);
  }
};

size_t PlaceOf(const Stage& prepack, const std::vector<SharedItem>& items) {
  const auto same = [&](const SharedItem& item) { return item.IsOf(prepack); };
  return static_cast<size_t>(std::find_if(items.begin(), items.end(), same) - items.begin());
}

// Of all plans, in an order that hangs on nothing but what is made.
std::vector<SharedItem> ItemsOf(absl::Span<Plan* const> plans) {
  std::vector<SharedItem> items;
  for (const Plan* plan : plans)
    for (const Stage& stage : plan->prepacks) {
      const size_t place = PlaceOf(stage, items);
      if (place == items.size()) items.push_back({stage, 0});
      items[place].bytes = std::max(items[place].bytes, BufferBytes(*plan, stage.operands[1].value));
    }
  const auto order = [](const SharedItem& item) {
    return std::pair(item.constant(), PrintCopy(CopyMadeBy(item.stage)));
  };
  std::sort(items.begin(), items.end(),
            [&](const SharedItem& a, const SharedItem& b) { return order(a) < order(b); });
  return items;
}

int FirstFreeValue(const Plan& plan) {
  int first = static_cast<int>(plan.graph.nodes.size());
  for (const Buffer& buffer : plan.buffers) first = std::max(first, buffer.value + 1);
  return first;
}

void TakeItems(const std::vector<SharedItem>& items, Plan* plan) {
  std::map<int, size_t> made;   // by the values that the plan had for them
  std::map<size_t, Stage> own;  // the stages that the plan has itself
  for (const Stage& stage : plan->prepacks) {
    const size_t place = PlaceOf(stage, items);
    made[stage.operands[1].value] = place;
    own.try_emplace(place, stage);
  }
  int next = FirstFreeValue(*plan);
  std::erase_if(plan->buffers, [&](const Buffer& buffer) { return made.contains(buffer.value); });
  plan->prepacks.clear();
  for (size_t place = 0; place < items.size(); ++place) {
    const SharedItem& item = items[place];
    const auto known = own.find(place);
    Stage& stage = plan->prepacks.emplace_back(known == own.end() ? item.stage : known->second);
    const bool is_plain = std::holds_alternative<PlainCopy>(CopyMadeBy(stage));
    stage.operands[1].value = is_plain ? item.constant() : next++;
    plan->buffers.push_back({stage.operands[1].value, item.bytes});
  }
  for (LoopNest& nest : plan->nests)
    for (Stage* stage : StagesOf(nest))
      for (StageOperand& operand : stage->operands)
        if (const auto copy = made.find(operand.value); copy != made.end())
          operand.value = plan->prepacks[copy->second].operands[1].value;
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
    case StageKind::kContraction:
    case StageKind::kRows:
    case StageKind::kTranspose:
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
  const std::vector<SharedItem> items = ItemsOf(plans);
  for (Plan* plan : plans) TakeItems(items, plan);
}

}  // namespace kirsch
