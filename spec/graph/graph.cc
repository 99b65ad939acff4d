// SPDX-License-Identifier: Apache-2.0
#include "spec/graph/graph.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "spec/spec.h"

namespace kirsch {

uint32_t PixelsAlong(const ConvolutionSizes::Axis& sizes, const AxisOptions& options) {
  const uint64_t padded = uint64_t{sizes.image} + options.before + options.after;
  // A kernel with dilation covers (taps - 1) * dilation + 1 pixels.
  const uint64_t window = uint64_t{sizes.kernel - 1} * options.dilation + 1;
  return window > padded ? 0 : static_cast<uint32_t>((padded - window) / options.stride + 1);
}

uint32_t TransposedPixelsAlong(const ConvolutionSizes::Axis& sizes, const AxisOptions& options) {
  const int64_t whole = int64_t{sizes.image - 1} * options.stride +
                        int64_t{sizes.kernel - 1} * options.dilation + 1,
                pixels = whole - options.before - options.after;
  return pixels < 1 || pixels > kMaxSide ? 0 : static_cast<uint32_t>(pixels);
}

int64_t TransposedTapsAlong(const ConvolutionSizes::Axis& sizes, const AxisOptions& options) {
  // Taps that a pixel meets are a whole number of strides apart.
  const int64_t apart = options.stride / std::gcd(options.stride, options.dilation);
  return (sizes.kernel + apart - 1) / apart;
}

ConvolutionSizes SizesOfConvolution(const Graph& graph, const GraphNode& node) {
  const std::vector<uint32_t>&image = graph.InputType(node, 0).dims, &filters = graph.InputType(node, 1).dims;
  const bool nhwc = node.conv.layout == ImageLayout::kNhwc;
  const uint32_t block = std::max(ChannelBlock(node.conv.layout), 1u);
  // Images of fewer axes use the last entries of `axes`: of height and width, depth stays at its default.
  const size_t count = Info(node.op).image_axes;
  const bool transposed = IsTransposedConvolution(node.op);
  ConvolutionSizes sizes{image[0], image[nhwc ? count + 1 : 1] * block,
                         filters[nhwc         ? count + 1
                                 : transposed ? 1
                                              : 0] *
                             block};
  for (size_t i = 0; i < count; ++i) {
    const size_t axis = ImageAxes::kCount - count + i;
    ConvolutionSizes::Axis& along = sizes.axes[axis];
    along.image = image[nhwc ? i + 1 : i + 2];
    along.kernel = filters[nhwc ? i : i + 2];
    const AxisOptions& options = node.conv.axes[axis];
    along.out = transposed ? TransposedPixelsAlong(along, options) : PixelsAlong(along, options);
  }
  return sizes;
}

double NumberAround(const GraphNode& node) {
  if (node.op != Operation::kWindowMax) return node.number;  // 0 of a sum
  return IsFloating(node.type.dtype) ? -std::numeric_limits<double>::infinity()
                                     : std::numeric_limits<int32_t>::min();
}

std::vector<uint32_t> ImageDims(ImageLayout layout, uint32_t images, absl::Span<const uint32_t> axes,
                                uint32_t channels) {
  std::vector<uint32_t> dims = {images};
  dims.insert(dims.end(), axes.begin(), axes.end());
  const uint32_t block = ChannelBlock(layout);
  if (block != 0) dims.push_back(block);
  dims.insert(layout == ImageLayout::kNhwc ? dims.end() : dims.begin() + 1, channels / std::max(block, 1u));
  return dims;
}

std::vector<uint32_t> FiltersDims(const ConvolutionOptions& options, absl::Span<const uint32_t> kernel,
                                  uint32_t channels, uint32_t filters, bool transposed) {
  std::vector<uint32_t> dims(kernel.begin(), kernel.end());
  const uint32_t block = ChannelBlock(options.layout), inner = std::min(block, channels);
  if (block != 0) {
    dims.insert(dims.begin(), {filters / block, channels / inner});
    dims.insert(dims.end(), {inner, block});
  } else if (options.layout == ImageLayout::kNhwc) {
    dims.insert(dims.end(), {channels, filters});
  } else {
    dims.insert(dims.begin(), {transposed ? channels : filters, transposed ? filters : channels});
  }
  return dims;
}

bool FitsBlocks(const ConvolutionSizes& sizes, const ConvolutionOptions& options) {
  const uint32_t block = std::max(ChannelBlock(options.layout), 1u);
  const uint32_t groups = IsDepthwise(sizes, options) ? 1 : options.groups;
  return sizes.channels / groups % block == 0 && sizes.filters / groups % block == 0;
}

bool IsOfAttention(const Graph& graph, int softmax) {
  // A result is seen by the caller, who expects what a softmax usually means.
  if (graph.IsResult(softmax)) return false;
  const auto is_weight = [&](int user, size_t input) {
    const GraphNode& node = graph.at(user);
    if (node.op == Operation::kCast) return IsFloating(node.type.dtype) && IsOfAttention(graph, user);
    return node.op == Operation::kMatmul && input == 0;
  };
  // Later nodes only, since a node reads nothing behind it.
  for (int user = softmax + 1; user < static_cast<int>(graph.nodes.size()); ++user)
    for (size_t input = 0; input < graph.at(user).inputs.size(); ++input)
      if (graph.at(user).inputs[input] == softmax && !is_weight(user, input)) return false;
  return true;
}

double TermsOf(const Graph& graph, const GraphNode& node) {
  if (node.op == Operation::kMatmul) return graph.InputType(node, 0).dims.back();
  if (IsTransposedConvolution(node.op)) {
    const ConvolutionSizes sizes = SizesOfConvolution(graph, node);
    double terms = sizes.channels;
    for (size_t axis = 0; axis < sizes.axes.size(); ++axis)
      terms *= static_cast<double>(TransposedTapsAlong(sizes.axes[axis], node.conv.axes[axis]));
    return terms;
  }
  // A filter has as many elements as its sums have terms.
  return static_cast<double>(graph.InputType(node, 1).elements()) / SizesOfConvolution(graph, node).filters;
}

double CallersBytes(const Graph& graph) {
  double bytes = 0;
  for (int input = 0; input < graph.num_inputs(); ++input)
    bytes += static_cast<double>(graph.at(input).type.bytes());
  for (const GraphResult& result : graph.results) bytes += static_cast<double>(graph.TypeOf(result).bytes());
  return bytes;
}

double Flops(const Graph& graph) {
  double flops = 0;
  for (const GraphNode& node : graph.nodes) {
    const auto elements = static_cast<double>(node.type.elements());
    switch (Info(node.op).kind) {
      case OperationKind::kContraction:
        // Each pixel of a transposed convolution's image goes through all taps.
        flops += IsTransposedConvolution(node.op)
                     ? 2 * static_cast<double>(graph.InputType(node, 0).elements()) *
                           static_cast<double>(graph.InputType(node, 1).elements()) /
                           SizesOfConvolution(graph, node).channels
                     : 2 * elements * TermsOf(graph, node);
        break;
      case OperationKind::kElementwise:
        flops += elements;
        break;
      case OperationKind::kReduction:
      case OperationKind::kRowwise:
        flops += static_cast<double>(graph.InputType(node, 0).elements());
        break;
      case OperationKind::kAlongAxis:
        if (IsWindow(node.op)) flops += elements * (node.along.size - 1);
        if (node.op == Operation::kCumsum) flops += elements;
        break;
      case OperationKind::kLeaf:
      case OperationKind::kTranspose:
      case OperationKind::kRearrange:
      case OperationKind::kCast:
        break;
    }
  }
  return flops;
}

}  // namespace kirsch
