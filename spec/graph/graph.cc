// SPDX-License-Identifier: Apache-2.0
#include "spec/graph/graph.h"

namespace kirsch {
namespace {

const TensorType& TypeOf(const Graph& graph, const GraphNode& node, size_t input) {
  return graph.at(node.inputs[input]).type;
}

// Positions along one side of the padded image; 0: the kernel doesn't fit.
uint32_t Positions(uint64_t padded, uint32_t kernel, const ConvolutionOptions& conv) {
  const uint64_t window = uint64_t{kernel - 1} * conv.dilation + 1;
  return window > padded ? 0 : static_cast<uint32_t>((padded - window) / conv.stride + 1);
}

}  // namespace

ConvolutionSizes SizesOfConvolution(const Graph& graph, const GraphNode& node) {
  const std::vector<uint32_t>&image = TypeOf(graph, node, 0).dims, &filters = TypeOf(graph, node, 1).dims;
  const bool nhwc = node.conv.layout == ImageLayout::kNhwc;
  ConvolutionSizes sizes{image[0],
                         image[nhwc ? 3 : 1],
                         image[nhwc ? 1 : 2],
                         image[nhwc ? 2 : 3],
                         filters[nhwc ? 3 : 0],
                         filters[nhwc ? 0 : 2],
                         filters[nhwc ? 1 : 3],
                         0,
                         0};
  const Padding& pad = node.conv.pad;
  const auto padded = [](uint32_t side, uint32_t before, uint32_t after) {
    return uint64_t{side} + before + after;
  };
  sizes.out_height = Positions(padded(sizes.height, pad.top, pad.bottom), sizes.kernel_height, node.conv);
  sizes.out_width = Positions(padded(sizes.width, pad.left, pad.right), sizes.kernel_width, node.conv);
  return sizes;
}

bool IsOfAttention(const Graph& graph, int softmax) {
  if (graph.result == softmax) return false;
  const auto is_weight = [&](int user, size_t input) {
    const GraphNode& node = graph.at(user);
    if (node.op == Operation::kCast) return IsFloating(node.type.dtype) && IsOfAttention(graph, user);
    return node.op == Operation::kMatmul && input == 0;
  };
  for (int user = softmax + 1; user < static_cast<int>(graph.nodes.size()); ++user)
    for (size_t input = 0; input < graph.at(user).inputs.size(); ++input)
      if (graph.at(user).inputs[input] == softmax && !is_weight(user, input)) return false;
  return true;
}

double TermsOf(const Graph& graph, const GraphNode& node) {
  if (node.op == Operation::kMatmul) return TypeOf(graph, node, 0).dims.back();
  return static_cast<double>(TypeOf(graph, node, 1).elements()) / SizesOfConvolution(graph, node).filters;
}

double Flops(const Graph& graph) {
  double flops = 0;
  for (const GraphNode& node : graph.nodes) {
    const auto elements = static_cast<double>(node.type.elements());
    switch (Info(node.op).kind) {
      case OperationKind::kContraction:
        flops += 2 * elements * TermsOf(graph, node);
        break;
      case OperationKind::kElementwise:
        flops += elements;
        break;
      case OperationKind::kReduction:
      case OperationKind::kRowwise:
        flops += static_cast<double>(TypeOf(graph, node, 0).elements());
        break;
      case OperationKind::kLeaf:
      case OperationKind::kTranspose:
      case OperationKind::kCast:
        break;
    }
  }
  return flops;
}

}  // namespace kirsch
