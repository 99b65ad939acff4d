// SPDX-License-Identifier: Apache-2.0
#include "spec/graph/epilogue_operations.h"

#include <algorithm>
#include <string>
#include <utility>

#include "spec/text/cat.h"
#include "spec/text/text.h"

namespace kirsch {
namespace {

// A number of the step in the type that the sums have at this step.
int AddNumber(const EpilogueStep& step, Dtype type, GraphBuilder* builder) {
  const double number = NumberOf(step, type);
  if (type == Dtype::kF32) return builder->Number(static_cast<float>(number));
  if (IsFloating(type)) return builder->Number(PrintNumber(number), number);
  return builder->Number(Cat(static_cast<int32_t>(number)), number);
}

}  // namespace

std::vector<uint32_t> EpilogueShapes::Of(EpilogueOperand operand) const {
  switch (operand) {
    case EpilogueOperand::kRows:
      return rows;
    case EpilogueOperand::kColumns:
      return columns;
    case EpilogueOperand::kAll:
      return all;
    default:
      return {};
  }
}

bool IsGraphEpilogue(const Epilogue& epilogue) {
  return std::ranges::none_of(
      epilogue, [](const EpilogueStep& step) { return Info(step.op).arguments == 1 && step.HasOperand(); });
}

std::vector<int> AddEpilogueParameters(const Epilogue& epilogue, Dtype sum, const EpilogueShapes& shapes,
                                       GraphBuilder* builder) {
  const std::vector<std::string> names = EpilogueNames(epilogue);
  std::vector<int> parameters;
  for (int i = 0; i < epilogue.count; ++i) {
    const EpilogueStep& step = epilogue.steps[static_cast<size_t>(i)];
    if (!step.HasOperand()) continue;
    parameters.push_back(
        builder->Parameter(names[parameters.size()], TypeBefore(epilogue, sum, i), shapes.Of(step.operand)));
  }
  return parameters;
}

int AddEpilogueSteps(const Epilogue& epilogue, Dtype sum, Dtype stored, int value,
                     const std::vector<int>& parameters, GraphBuilder* builder) {
  // Parameters are in the order of the steps that read them, so one walk over both suffices.
  auto parameter = parameters.begin();
  for (int i = 0; i < epilogue.count; ++i) {
    const EpilogueStep& step = epilogue.steps[static_cast<size_t>(i)];
    // In a graph the conversion from s32 to f32 is a cast, not an operation.
    if (step.op == Operation::kF32) {
      value = builder->Cast(value, Dtype::kF32);
      continue;
    }
    GraphNode node = OperationNode(step.op);
    node.inputs = {value};
    if (Info(step.op).arguments == 2)
      node.inputs.push_back(step.HasOperand() ? *parameter++
                                              : AddNumber(step, TypeBefore(epilogue, sum, i), builder));
    // A function with an option (leaky_relu) has its number in the node, not as an input.
    else if (Info(step.op).operands() == 2)
      node.number = NumberOf(step, Dtype::kF32);
    value = builder->Add(std::move(node));
  }
  return builder->Cast(value, stored);
}

}  // namespace kirsch
