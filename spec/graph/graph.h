// SPDX-License-Identifier: Apache-2.0
// Represents a kernel of several operations: a small graph of operations on tensors. Shapes and types are
// inferred and checked when nodes are added (builder.h), so every graph is well-typed. The grammar is in
// docs/spec.md.
//
// Invariant: a node reads only nodes with lower numbers, so the order of the list is an order of execution.
#ifndef KIRSCH_SPEC_GRAPH_GRAPH_H_
#define KIRSCH_SPEC_GRAPH_GRAPH_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "spec/check.h"
#include "spec/layout.h"
#include "spec/lhs_as.h"
#include "spec/operation.h"
#include "spec/tensor_type.h"
#include "spec/text/text.h"

namespace kirsch {

// Prints a type as the kernel language writes it: "f32[32,512]", or with strides, where it is not dense,
// "f32[12,1024,64] strides=[64,768,1]".
std::string PrintTensorType(const TensorType& type);

// How a convolution steps along one axis of its image.
struct AxisOptions {
  uint32_t stride = 1, dilation = 1;
  uint32_t before = 0, after = 0;  // pixels of zeros around it

  bool padded() const { return (before | after) != 0; }
  friend bool operator==(const AxisOptions&, const AxisOptions&) = default;
};

// The options of a convolution. The axes are those of ImageAxes; an axis that the images do not have keeps
// its defaults. For images of two axes the operands are
//   kNchw: image [N,C,H,W], filters [F,C/groups,KH,KW];
//   kNhwc: image [N,H,W,C], filters [KH,KW,C/groups,F];
//   in blocks of B channels: image [N,C/B,H,W,B], filters [F/B,C/groups/B,KH,KW,B,B], of a depthwise one
//   [C/B,1,KH,KW,1,B].
// Filters of a transposed convolution, which has one group, are [C,F,KH,KW] and [KH,KW,C,F]. Its strides,
// dilations and pads are those of the convolution that makes its image of its output: pixels of the output
// are as far apart, and the pads are cut off.
struct ConvolutionOptions {
  std::array<AxisOptions, ImageAxes::kCount> axes = {};
  // Each group of channels has filters of its own; groups divides both channels and filters.
  uint32_t groups = 1;
  ImageLayout layout = ImageLayout::kNchw;

  bool padded() const { return std::ranges::any_of(axes, &AxisOptions::padded); }
  friend bool operator==(const ConvolutionOptions&, const ConvolutionOptions&) = default;
};

// The sizes of a convolution, whatever its layout. They are 1 along axes that its images do not have, so that
// loops can go over all axes.
struct ConvolutionSizes {
  struct Axis {
    uint32_t image = 1, kernel = 1, out = 1;  // pixels before padding, taps, pixels of the output
  };
  uint32_t images = 1, channels = 1, filters = 1;
  std::array<Axis, ImageAxes::kCount> axes = {};
};

// What an operation does along its axis (OperationKind::kAlongAxis). Fields that it does not have keep their
// defaults.
struct AlongAxis {
  uint32_t from = 0, to = 0;  // kSlice: the first index, and the one behind the last
  uint32_t size = 1;          // of a window
  // kSlice: the stride. kPad: before and after. Of a window all: what is around the tensor changes nothing.
  AxisOptions steps = {};

  friend bool operator==(const AlongAxis&, const AlongAxis&) = default;
};

// One operation with its inputs. A field that names operations in its comment has a meaning for these only.
struct GraphNode {
  Operation op = Operation::kInput;
  TensorType type;                // kNumber: that of what it meets
  std::vector<int> inputs;        // nodes before this one
  std::string text;               // kInput: its name; kNumber: as it was written
  std::vector<uint32_t> axes;     // kReduction: ascending; kAlongAxis: one; kPermute: of the input
  double number = 0;              // kNumber: an f32 or an s32; the option, an f32
  ConvolutionOptions conv = {};   // of convolutions, transposed ones too
  AlongAxis along = {};           // kAlongAxis
  LhsAs lhs_as = LhsAs::kItself;  // kMatmul
  // For kInput: the values are known before all calls, so that they may be packed once. In a plan's graph, an
  // operation on such values that is computed ahead is marked, too (constant folding).
  bool constant = false;
  TextPosition position;
};

// A value that the kernel computes for its caller, into memory of the caller's.
struct GraphResult {
  int value = 0;             // its node
  std::string name = "out";  // of the function's parameter
};

inline constexpr size_t kMaxParameters = 1024, kMaxResults = 8;

struct Graph {
  std::string name;
  std::vector<GraphNode> nodes;  // the kernel's parameters first, in their order
  // In the order of the return. If there are several, each is another node, and none is a parameter.
  std::vector<GraphResult> results;

  const GraphNode& at(int node) const { return nodes[static_cast<size_t>(node)]; }
  const TensorType& TypeOf(const GraphResult& result) const { return at(result.value).type; }
  // The place of the result that the node is, from 0; nothing if it is none.
  std::optional<size_t> FindResult(int node) const {
    for (size_t i = 0; i < results.size(); ++i)
      if (results[i].value == node) return i;
    return std::nullopt;
  }
  bool IsResult(int node) const { return FindResult(node).has_value(); }
  // The node of the only result. Must not be called if there are several.
  int only_result() const {
    KIRSCH_CHECK(results.size() == 1);
    return results.front().value;
  }
  const TensorType& InputType(const GraphNode& node, size_t input) const {
    return at(node.inputs[input]).type;
  }
  // How many parameters the graph has: the inputs at the front of the list.
  int num_inputs() const {
    int inputs = 0;
    while (inputs < static_cast<int>(nodes.size()) && at(inputs).op == Operation::kInput) ++inputs;
    return inputs;
  }
  // True if the value is known before all calls. Plans number further values behind the graph's nodes; these
  // are never constant.
  bool IsConstant(int value) const { return value < static_cast<int>(nodes.size()) && at(value).constant; }
  // The operations that are computed once for all calls, as all they read are constants.
  std::vector<int> FoldedOperations() const {
    std::vector<int> folded;
    for (int node = num_inputs(); node < static_cast<int>(nodes.size()); ++node)
      if (IsConstant(node)) folded.push_back(node);
    return folded;
  }
  bool HasConstants() const { return std::ranges::any_of(nodes, &GraphNode::constant); }
};

// The sizes that follow from the types of a convolution's inputs and from its options. It may be transposed.
ConvolutionSizes SizesOfConvolution(const Graph& graph, const GraphNode& node);

// The number of output pixels along an axis. 0 means that the dilated kernel is longer than the padded image.
// Example: an image of 10, a kernel of 3 with stride 2 and one zero on each side: (12 - 3) / 2 + 1 = 5.
uint32_t PixelsAlong(const ConvolutionSizes::Axis& sizes, const AxisOptions& options);

// The same of a transposed convolution: the pixels whose convolution has the image's. 0 means that the pads
// leave none, or that there are more than kMaxSide.
// Example: an image of 5, a kernel of 3 with stride 2, cut off by one on each side: 4 * 2 + 3 - 2 = 9.
uint32_t TransposedPixelsAlong(const ConvolutionSizes::Axis& sizes, const AxisOptions& options);

// How many taps of a transposed convolution an output pixel meets along an axis, at most. Example: of a
// kernel of 5 with stride 2 it is 3, the taps 0, 2 and 4.
int64_t TransposedTapsAlong(const ConvolutionSizes::Axis& sizes, const AxisOptions& options);

// The element of a window that meets no element of the tensor, or of a pad: what the operation has around it.
double NumberAround(const GraphNode& node);

// Puts the dims of an image in the order of its layout: [N, C, axes...], [N, axes..., C], or [N, C / block,
// axes..., block], where the block divides C.
std::vector<uint32_t> ImageDims(ImageLayout layout, uint32_t images, absl::Span<const uint32_t> axes,
                                uint32_t channels);

// Does the same for filters, each of so many channels of its group. `kernel`: the taps along each axis.
std::vector<uint32_t> FiltersDims(const ConvolutionOptions& options, absl::Span<const uint32_t> kernel,
                                  uint32_t channels, uint32_t filters, bool transposed);

// True if the layout has no blocks, or if blocks hold no channels of two groups. A depthwise convolution has
// a group for each channel, and so many filters; its channels are in whole blocks.
bool FitsBlocks(const ConvolutionSizes& sizes, const ConvolutionOptions& options);

// True if each channel has a filter of its own.
inline bool IsDepthwise(const ConvolutionSizes& sizes, const ConvolutionOptions& options) {
  return options.groups == sizes.channels && options.groups == sizes.filters;
}

// True if the softmax is one of attention: only matmuls use it, as their lhs, directly or after a cast to
// floats. In such a softmax a row that is -inf throughout means that no key may be seen, and becomes zeros.
// Any other softmax makes NaNs of such a row.
bool IsOfAttention(const Graph& graph, int softmax);

// The number of products in each sum of a contraction.
double TermsOf(const Graph& graph, const GraphNode& node);

// The kernel as text that ParseGraph reads as the same graph: a statement for each operation.
std::string PrintGraph(const Graph& graph);

// The bytes of parameters and results, which a call moves at least once.
double CallersBytes(const Graph& graph);

// Counts multiplications and additions of the contractions, what windows add up or compare, and one operation
// for each element of the others. Copies count as nothing: casts, transposes, slices and the like.
double Flops(const Graph& graph);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_GRAPH_GRAPH_H_
