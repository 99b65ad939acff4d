// SPDX-License-Identifier: Apache-2.0
#include "rewrites/graph/epilogue_fusion.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "spec/element.h"
#include "spec/language/epilogue_parser.h"

namespace kirsch {
namespace {

// Takes one operation after the other, as long as each is a step on the result of the one before.
class EpilogueWriter {
 public:
  EpilogueWriter(const FusionGroup& group, int contraction, const IterationSpace& space, bool batched,
                 bool apart)
      : group_(group),
        graph_(group.graph()),
        uses_(group.uses()),
        space_(space),
        batched_(batched),
        apart_(apart),
        sum_(graph_.at(contraction).type.dtype) {
    fused_.result = contraction;
  }

  // Takes the operation as the next step. Returns false if it is none on the result so far: that is not read
  // here, or is read elsewhere, too, or has another number of elements than this result.
  bool Take(int node) {
    const GraphNode& at = graph_.at(node);
    const int before = fused_.result;
    const bool on_it = std::ranges::find(at.inputs, before) != at.inputs.end();
    if (!on_it || ended_ || uses_.UsesOf(before).size() != 1 ||
        at.type.elements() != graph_.at(before).type.elements())
      return false;
    const bool takes = at.op == Operation::kCast ? Cast(at) : Step(at);
    if (!takes) return false;
    fused_.result = node;
    ++fused_.taken;
    return true;
  }

  // True if tensors with an element for each of the result's lie as the result does, and vectors with an
  // element for each row are without gaps. The kernel reads such tensors with the strides of the output.
  bool Fits() const {
    const std::optional<MatrixStrides> out = StridesIn(space_, graph_.at(fused_.result).type);
    size_t number = 0;
    for (int i = 0; out && i < fused_.epilogue.count; ++i) {
      const EpilogueStep& step = fused_.epilogue.steps[static_cast<size_t>(i)];
      if (!step.HasOperand()) continue;
      const int operand = fused_.operands[number++];
      const MatrixStrides strides = *StridesIn(space_, graph_.at(operand).type);
      if (step.operand == EpilogueOperand::kRows && strides.row > 1) return false;
      const bool alike = strides.row == out->row && (!batched_ || strides.batch == out->batch) &&
                         (!apart_ || group_.Makes(operand));
      if (step.operand == EpilogueOperand::kAll && !alike) return false;
    }
    return out.has_value();
  }

  const FusedEpilogue& fused() const { return fused_; }

 private:
  Dtype type() const { return TypeAfter(fused_.epilogue, sum_); }

  bool AddStep(Operation op, EpilogueOperand operand, uint64_t number = 0) {
    Epilogue& epilogue = fused_.epilogue;
    if (epilogue.count == kMaxEpilogueSteps) return false;
    epilogue.steps[static_cast<size_t>(epilogue.count++)] = {op, operand, number};
    return true;
  }

  // A cast from s32 to f32 is a step. A cast to the type that is stored ends the epilogue: the store does it.
  bool Cast(const GraphNode& at) {
    if (type() == Dtype::kS32 && at.type.dtype == Dtype::kF32)
      return AddStep(Operation::kF32, EpilogueOperand::kNone);
    if (!MayStore(type(), at.type.dtype)) return false;
    // Some types may only be stored behind a step. An empty epilogue gets one that changes nothing: times 1,
    // or plus 0.
    if (fused_.epilogue.empty() &&
        !AddStep(IsFloating(type()) ? Operation::kMul : Operation::kAdd, EpilogueOperand::kNumber,
                 WordOf(type(), IsFloating(type()) ? 1 : 0)))
      return false;
    ended_ = true;
    return true;
  }

  // Adds the operation as a step, if epilogues have it: of one operand, with a number, or with a tensor.
  bool Step(const GraphNode& at) {
    const OperationInfo& info = Info(at.op);
    if (info.equivalent)
      return AddStep(info.equivalent->op, EpilogueOperand::kNumber, WordOf(type(), info.equivalent->number));
    if (!IsStep(at.op)) return false;
    if (IsComposed(at.op) && type() != Dtype::kF32) return false;
    if (info.operands() == 1) return AddStep(at.op, EpilogueOperand::kNone);
    if (info.arguments == 1) return AddStep(at.op, EpilogueOperand::kNumber, WordOf(type(), at.number));
    const bool second = at.inputs[1] == fused_.result;
    // y - x is -x + y; maxnum and minnum are not symmetric where one is no number.
    if (second && (at.op == Operation::kSub || at.op == Operation::kMaxNum || at.op == Operation::kMinNum))
      return false;
    return Operand(at.op, at.inputs[second ? 0 : 1]);
  }

  // Adds a step with a second operand: a number of the text, or a tensor. The tensor's strides in the space
  // say what it has an element for: each sum, each row, each column, or all alike.
  bool Operand(Operation op, int node) {
    const GraphNode& at = graph_.at(node);
    if (at.op == Operation::kNumber)  // texts of epilogues have no infinities
      return std::isfinite(at.number) && AddStep(op, EpilogueOperand::kNumber, WordOf(type(), at.number));
    const std::optional<MatrixStrides> strides = StridesIn(space_, at.type);
    if (!strides || at.type.dtype != type() || fused_.epilogue.operands() == kMaxEpilogueOperands)
      return false;
    const bool rows = strides->row != 0, columns = strides->column != 0;
    const bool all = rows && columns;
    // A spec with a batch has matrices for each item, but one vector or number for all items.
    if (batched_ && space_.batch() > 1 && all != (strides->batch != 0)) return false;
    fused_.operands.push_back(node);
    const bool whole = all || (at.type.elements() == graph_.at(fused_.result).type.elements());
    return AddStep(op, whole     ? EpilogueOperand::kAll
                       : rows    ? EpilogueOperand::kRows
                       : columns ? EpilogueOperand::kColumns
                                 : EpilogueOperand::kScalar);
  }

  const FusionGroup& group_;
  const Graph& graph_;
  const GraphUses& uses_;
  const IterationSpace& space_;
  const bool batched_, apart_;
  const Dtype sum_;
  FusedEpilogue fused_;
  bool ended_ = false;
};

}  // namespace

FusedEpilogue FuseEpilogue(const FusionGroup& group, size_t place, const IterationSpace& space, bool batched,
                           bool apart) {
  // The longest prefix that fits wins. A longer one may fit where a shorter one does not, as the strides that
  // count are those of the last result.
  EpilogueWriter writer(group, group.at(place), space, batched, apart);
  FusedEpilogue fused = writer.fused();
  for (size_t next = place + 1; next < group.size() && writer.Take(group.at(next)); ++next)
    if (writer.Fits()) fused = writer.fused();
  return fused;
}

}  // namespace kirsch
