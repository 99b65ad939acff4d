#include "rewrites/epilogue_fusion.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

#include "spec/epilogue_parser.h"

namespace kirsch {
namespace {

std::optional<EpilogueOp> StepOf(GraphOp op) {
  switch (op) {
    case GraphOp::kAdd:
      return EpilogueOp::kAdd;
    case GraphOp::kSub:
      return EpilogueOp::kSub;
    case GraphOp::kMul:
    case GraphOp::kNeg:
      return EpilogueOp::kMul;
    case GraphOp::kMax:
    case GraphOp::kRelu:
      return EpilogueOp::kMax;
    case GraphOp::kMin:
      return EpilogueOp::kMin;
    case GraphOp::kExp:
      return EpilogueOp::kExp;
    case GraphOp::kTanh:
      return EpilogueOp::kTanh;
    case GraphOp::kErf:
      return EpilogueOp::kErf;
    case GraphOp::kSigmoid:
      return EpilogueOp::kSigmoid;
    case GraphOp::kSilu:
      return EpilogueOp::kSilu;
    case GraphOp::kGelu:
      return EpilogueOp::kGelu;
    case GraphOp::kGeluTanh:
      return EpilogueOp::kGeluTanh;
    case GraphOp::kLeakyRelu:
      return EpilogueOp::kLeakyRelu;
    default:
      return std::nullopt;
  }
}

class EpilogueWriter {
 public:
  EpilogueWriter(const GraphUses& uses, int contraction, const IterationSpace& space, bool batched)
      : graph_(uses.graph()),
        uses_(uses),
        space_(space),
        batched_(batched),
        sum_(graph_.at(contraction).type.dtype) {
    fused_.result = contraction;
  }

  // False: the operation is no step on the result so far.
  bool Take(int node) {
    const GraphNode& at = graph_.at(node);
    const int before = fused_.result;
    const bool on_it = std::find(at.inputs.begin(), at.inputs.end(), before) != at.inputs.end();
    if (!on_it || ended_ || uses_.NumUses(before) != 1 ||
        at.type.elements() != graph_.at(before).type.elements())
      return false;
    const bool takes = at.op == GraphOp::kCast ? Cast(at) : Step(at);
    if (!takes) return false;
    fused_.result = node;
    ++fused_.taken;
    return true;
  }

  const FusedEpilogue& fused() const { return fused_; }

 private:
  Dtype type() const { return TypeAfter(fused_.epilogue, sum_); }

  bool Append(EpilogueOp op, EpilogueOperand operand, uint32_t number = 0) {
    Epilogue& epilogue = fused_.epilogue;
    if (epilogue.count == kMaxEpilogueSteps) return false;
    epilogue.steps[static_cast<size_t>(epilogue.count++)] = {op, operand, number};
    return true;
  }

  // From s32 to f32 it is a step; to what is stored, the end.
  bool Cast(const GraphNode& at) {
    if (type() == Dtype::kS32 && at.type.dtype == Dtype::kF32)
      return Append(EpilogueOp::kF32, EpilogueOperand::kNone);
    if (!MayStore(type(), at.type.dtype)) return false;
    // A type that only an epilogue may end in needs a step.
    if (fused_.epilogue.empty() &&
        !Append(type() == Dtype::kF32 ? EpilogueOp::kMul : EpilogueOp::kAdd, EpilogueOperand::kNumber,
                type() == Dtype::kF32 ? std::bit_cast<uint32_t>(1.0f) : 0))
      return false;
    ended_ = true;
    return true;
  }

  bool Step(const GraphNode& at) {
    const std::optional<EpilogueOp> op = StepOf(at.op);
    if (!op) return false;
    if (IsFunction(*op) && type() != Dtype::kF32) return false;
    if (!Info(*op).takes_operand) return Append(*op, EpilogueOperand::kNone);
    if (at.inputs.size() == 1) return Append(*op, EpilogueOperand::kNumber, NumberIn(at));
    const bool second = at.inputs[1] == fused_.result;
    // y - x is -x + y; which is greater is not symmetric where one is no number.
    if (second && (at.op == GraphOp::kSub || at.op == GraphOp::kMax || at.op == GraphOp::kMin)) return false;
    return Operand(*op, at.inputs[second ? 0 : 1]);
  }

  // The bits of the second operand of an operation that has only one in the graph.
  static uint32_t NumberIn(const GraphNode& at) {
    const float number = at.op == GraphOp::kNeg ? -1 : at.op == GraphOp::kLeakyRelu ? at.number : 0;
    return std::bit_cast<uint32_t>(number);
  }

  bool Operand(EpilogueOp op, int node) {
    const GraphNode& at = graph_.at(node);
    if (at.op == GraphOp::kNumber && type() == Dtype::kS32 && at.number != std::nearbyint(at.number))
      return false;
    if (at.op == GraphOp::kNumber)
      return Append(op, EpilogueOperand::kNumber,
                    type() == Dtype::kF32 ? std::bit_cast<uint32_t>(at.number)
                                          : static_cast<uint32_t>(static_cast<int32_t>(at.number)));
    const std::optional<MatrixStrides> strides = StridesIn(space_, at.type);
    if (!strides || at.type.dtype != type() || fused_.epilogue.operands() == kMaxEpilogueOperands)
      return false;
    const bool rows = strides->row != 0, columns = strides->column != 0;
    const bool all = rows && columns;
    if (batched_ && space_.batch() > 1 && all != (strides->batch != 0)) return false;
    fused_.operands.push_back(node);
    const bool whole = all || (at.type.elements() == graph_.at(fused_.result).type.elements());
    return Append(op, whole     ? EpilogueOperand::kAll
                      : rows    ? EpilogueOperand::kRows
                      : columns ? EpilogueOperand::kColumns
                                : EpilogueOperand::kScalar);
  }

  const Graph& graph_;
  const GraphUses& uses_;
  const IterationSpace& space_;
  const bool batched_;
  const Dtype sum_;
  FusedEpilogue fused_;
  bool ended_ = false;
};

}  // namespace

FusedEpilogue FuseEpilogue(const GraphUses& uses, size_t place, size_t end, const IterationSpace& space,
                           bool batched) {
  EpilogueWriter writer(uses, uses.operations()[place], space, batched);
  FusedEpilogue fused = writer.fused();
  for (size_t next = place + 1; next < end && writer.Take(uses.operations()[next]); ++next)
    fused = writer.fused();
  return fused;
}

}  // namespace kirsch
