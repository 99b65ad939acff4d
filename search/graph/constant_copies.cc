// SPDX-License-Identifier: Apache-2.0
#include "search/graph/constant_copies.h"

#include <set>

#include "search/graph/stage_cost.h"

namespace kirsch {
namespace {

// The constant parameters that stages of nests read. Values that are computed ahead have buffers of their own
// already.
std::set<int> ConstantsReadIn(const Plan& plan) {
  std::set<int> constants;
  for (const LoopNest& nest : plan.nests)
    for (const Stage* stage : StagesOf(nest))
      for (const StageOperand& operand : stage->operands)
        if (operand.value < plan.graph.num_inputs() && plan.graph.IsConstant(operand.value))
          constants.insert(operand.value);
  return constants;
}

}  // namespace

void CopyConstants(const Target& target, Plan* plan) {
  for (int constant : ConstantsReadIn(*plan)) {
    const TensorType& type = plan->graph.at(constant).type;
    Stage copy;
    copy.kind = StageKind::kPad;
    copy.copy.width = type.span();  // gaps between rows, too: readers keep the strides of the parameter
    copy.copy.dtype = type.dtype;
    if (IsOfBlocks(type.dtype)) {  // byte by byte
      copy.copy.width = Bytes(type.dtype, type.span());
      copy.copy.dtype = Dtype::kU8;
    }
    copy.operands = {{constant, 0, 0, 0}, {constant, 0, 0, 0}};
    // For people only: what is done ahead of all calls costs no call anything.
    PriceStage({Level::kRam, Level::kRam}, target, nullptr, &copy);
    plan->prepacks.push_back(std::move(copy));
    plan->buffers.push_back({constant, Bytes(type.dtype, type.span())});
  }
}

}  // namespace kirsch
