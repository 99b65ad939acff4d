// SPDX-License-Identifier: Apache-2.0
// A kernel in the kernel language: a small graph of operations on tensors whose shapes and types are inferred
// and checked. The grammar is in docs/spec.md.
#ifndef KIRSCH_SPEC_GRAPH_GRAPH_H_
#define KIRSCH_SPEC_GRAPH_GRAPH_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "spec/layout.h"
#include "spec/lhs_as.h"
#include "spec/operation.h"
#include "spec/tensor_type.h"
#include "spec/text/text.h"

namespace kirsch {

// "f32[32,512]", "f32[12,1024,64] strides=[64,768,1]"
std::string PrintTensorType(const TensorType& type);

// Along one axis of an image.
struct AxisOptions {
  uint32_t stride = 1, dilation = 1;
  uint32_t before = 0, after = 0;  // pixels of zeros around it

  bool padded() const { return (before | after) != 0; }
  friend bool operator==(const AxisOptions&, const AxisOptions&) = default;
};

// Axes that an image does not have are as they are here. Of images of two axes, kNchw: image [N,C,H,W],
// filters [F,C/groups,KH,KW]; kNhwc: image [N,H,W,C], filters [KH,KW,C/groups,F].
struct ConvolutionOptions {
  std::array<AxisOptions, ImageAxes::kCount> axes = {};
  uint32_t groups = 1;
  ImageLayout layout = ImageLayout::kNchw;

  bool padded() const {
    return std::any_of(axes.begin(), axes.end(), [](const AxisOptions& axis) { return axis.padded(); });
  }
  friend bool operator==(const ConvolutionOptions&, const ConvolutionOptions&) = default;
};

// The sizes of a convolution, whatever its layout; 1 along axes that its images do not have.
struct ConvolutionSizes {
  struct Axis {
    uint32_t image = 1, kernel = 1, out = 1;  // pixels before padding, taps, pixels of the output
  };
  uint32_t images = 1, channels = 1, filters = 1;
  std::array<Axis, ImageAxes::kCount> axes = {};
};

struct GraphNode {
  Operation op = Operation::kInput;
  TensorType type;                // kNumber: that of what it meets
  std::vector<int> inputs;        // nodes before this one
  std::string text;               // kInput: its name; kNumber: as it was written
  std::vector<uint32_t> axes;     // kReduction: ascending
  double number = 0;              // kNumber: an f32 or an s32; the option, an f32
  ConvolutionOptions conv = {};   // of convolutions
  LhsAs lhs_as = LhsAs::kItself;  // kMatmul
  // kInput: what it holds is known ahead, so that it may be packed once. In a plan's graph also an operation
  // on such that is computed ahead.
  bool constant = false;
  TextPosition position;
};

inline constexpr size_t kMaxParameters = 16;

struct Graph {
  std::string name;
  std::vector<GraphNode> nodes;  // the kernel's parameters first, in their order
  int result = 0;

  const GraphNode& at(int node) const { return nodes[static_cast<size_t>(node)]; }
  const TensorType& InputType(const GraphNode& node, size_t input) const {
    return at(node.inputs[input]).type;
  }
  int num_inputs() const {
    int inputs = 0;
    while (inputs < static_cast<int>(nodes.size()) && at(inputs).op == Operation::kInput) ++inputs;
    return inputs;
  }
  // Is the value known ahead?
  bool IsConstant(int value) const { return value < static_cast<int>(nodes.size()) && at(value).constant; }
  bool HasConstants() const {
    return std::any_of(nodes.begin(), nodes.end(), [](const GraphNode& node) { return node.constant; });
  }
};

// Of a convolution's node.
ConvolutionSizes SizesOfConvolution(const Graph& graph, const GraphNode& node);

// Pixels of the output along an axis; 0: the kernel doesn't fit the padded image.
uint32_t PixelsAlong(const ConvolutionSizes::Axis& sizes, const AxisOptions& options);

// The dims of images with such axes.
std::vector<uint32_t> ImageDims(ImageLayout layout, uint32_t images, absl::Span<const uint32_t> axes,
                                uint32_t channels);

// Is the softmax one of attention: is it, or a cast of it to floats, used as the lhs of matmuls only? A row
// of it that is -inf throughout, as no key may be seen, is zeros; any other softmax makes NaNs of it.
bool IsOfAttention(const Graph& graph, int softmax);

// Products in each sum of a contraction.
double TermsOf(const Graph& graph, const GraphNode& node);

// The kernel as text that ParseGraph reads as the same graph: a statement for each operation.
std::string PrintGraph(const Graph& graph);

// Multiplications and additions of the contractions, and one for each element of the other operations.
double Flops(const Graph& graph);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_GRAPH_GRAPH_H_
