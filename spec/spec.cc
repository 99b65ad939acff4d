#include "spec/spec.h"

#include "spec/check.h"

namespace kirsch {
namespace {

int64_t AxisExtent(const Spec& spec, const AxisMap& axis) {
  int64_t last = 0;
  for (const AxisMap::Term& term : axis.terms)
    if (term.dim >= 0) last += term.coefficient * (int64_t{spec.size[static_cast<size_t>(term.dim)]} - 1);
  return last + 1;
}

const AxisMap& StoredAxis(const Spec& spec, int operand, bool inner) {
  const OperandInfo& info = spec.op_info().operands[static_cast<size_t>(operand)];
  const bool row = spec.operand[static_cast<size_t>(operand)].layout.order == Order::kRow;
  return info.axes[static_cast<size_t>(info.rank - (row == inner ? 1 : 2))];
}

}  // namespace

TileExtent ExtentOf(const Spec& spec, int operand) {
  const OperandInfo& info = spec.op_info().operands[static_cast<size_t>(operand)];
  TileExtent extent{1, AxisExtent(spec, StoredAxis(spec, operand, false)),
                    AxisExtent(spec, StoredAxis(spec, operand, true))};
  for (int axis = 0; axis < info.rank - 2; ++axis)
    extent.batch *= AxisExtent(spec, info.axes[static_cast<size_t>(axis)]);
  return extent;
}

int OuterDim(const Spec& spec, int operand) { return StoredAxis(spec, operand, false).terms[0].dim; }
int InnerDim(const Spec& spec, int operand) { return StoredAxis(spec, operand, true).terms[0].dim; }

Spec WithoutEpilogue(const Spec& spec) {
  Spec sums = spec;
  for (int operand = spec.op_info().output() + 1; operand < spec.op_info().num_operands; ++operand)
    sums.operand[static_cast<size_t>(operand)] = {};
  sums.op = spec.op_info().base;
  return sums;
}

void LayOutEpilogue(Spec* spec) {
  const Epilogue& epilogue = spec->op_info().epilogue;
  auto operand = static_cast<size_t>(spec->op_info().output()) + 1;
  for (int i = 0; i < epilogue.count; ++i) {
    const EpilogueStep& step = epilogue.steps[static_cast<size_t>(i)];
    if (!step.HasOperand()) continue;
    TensorSpec& tensor = spec->operand[operand++];
    tensor.dtype = TypeBefore(epilogue, AccumulatorOf(*spec), i);
    tensor.layout = spec->out().layout;
    if (step.operand != EpilogueOperand::kAll) tensor.layout = Layout{.ld = 1};
  }
}

int ConstantOperand(const Spec& spec) {
  for (int operand = 0; operand < spec.op_info().output(); ++operand)
    if (spec.operand[static_cast<size_t>(operand)].constant != 0) return operand;
  return -1;
}

double Flops(const Spec& spec) {
  double points = 2;
  for (int dim = 0; dim < spec.op_info().num_dims; ++dim) points *= spec.size[static_cast<size_t>(dim)];
  return points;
}

}  // namespace kirsch
