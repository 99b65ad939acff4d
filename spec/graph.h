// A kernel in the kernel language: a small graph of operations on tensors whose shapes and types are inferred
// and checked. The grammar is in spec/README.md.
#ifndef KIRSCH_SPEC_GRAPH_H_
#define KIRSCH_SPEC_GRAPH_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "spec/dtype.h"
#include "spec/layout.h"
#include "spec/text.h"

namespace kirsch {

enum class GraphOp : uint8_t {
  kInput,
  kNumber,
  kMatmul,
  kConv2d,
  kTranspose,
  kCast,
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMax,
  kMin,
  kNeg,
  kSqrt,
  kExp,
  kTanh,
  kErf,
  kSigmoid,
  kRelu,
  kLeakyRelu,
  kGelu,
  kGeluTanh,
  kSilu,
  kReduceSum,
  kReduceMax,
  kReduceMean,
  kSoftmax,
  kLayernorm,
  kRmsnorm,
};

enum class GraphOpKind : uint8_t {
  kLeaf,         // no function
  kContraction,  // sums of products, which are f32 or s32
  kTranspose,    // of the last two axes
  kCast,         // to nearest, ties to even; to integers saturated
  kElementwise,  // the smaller tensors are repeated as NumPy does; of floats in f32, of integers in s32
  kReduction,    // along axes, which stay with the size 1; in f32
  kRowwise,      // along the last axis; in f32
};

struct GraphOpInfo {
  GraphOp op;
  std::string_view name;
  GraphOpKind kind;
  size_t arguments;  // tensors
  bool integers;     // elementwise: of integers, too
};

inline constexpr std::array<GraphOpInfo, 29> kGraphOps = {{
    {GraphOp::kInput, "", GraphOpKind::kLeaf, 0, true},
    {GraphOp::kNumber, "", GraphOpKind::kLeaf, 0, true},
    {GraphOp::kMatmul, "matmul", GraphOpKind::kContraction, 2, true},  // of matrices, or of batches of them
    {GraphOp::kConv2d, "conv2d", GraphOpKind::kContraction, 2, false},
    {GraphOp::kTranspose, "transpose", GraphOpKind::kTranspose, 1, true},
    {GraphOp::kCast, "cast", GraphOpKind::kCast, 1, true},
    {GraphOp::kAdd, "add", GraphOpKind::kElementwise, 2, true},
    {GraphOp::kSub, "sub", GraphOpKind::kElementwise, 2, true},
    {GraphOp::kMul, "mul", GraphOpKind::kElementwise, 2, true},
    {GraphOp::kDiv, "div", GraphOpKind::kElementwise, 2, false},
    {GraphOp::kMax, "max", GraphOpKind::kElementwise, 2, true},  // a > b ? a : b
    {GraphOp::kMin, "min", GraphOpKind::kElementwise, 2, true},  // a < b ? a : b
    {GraphOp::kNeg, "neg", GraphOpKind::kElementwise, 1, false},
    {GraphOp::kSqrt, "sqrt", GraphOpKind::kElementwise, 1, false},
    {GraphOp::kExp, "exp", GraphOpKind::kElementwise, 1, false},
    {GraphOp::kTanh, "tanh", GraphOpKind::kElementwise, 1, false},
    {GraphOp::kErf, "erf", GraphOpKind::kElementwise, 1, false},
    {GraphOp::kSigmoid, "sigmoid", GraphOpKind::kElementwise, 1, false},  // 1 / (1 + exp(-x))
    {GraphOp::kRelu, "relu", GraphOpKind::kElementwise, 1, true},         // max(x, 0)
    {GraphOp::kLeakyRelu, "leaky_relu", GraphOpKind::kElementwise, 1,
     false},                                                        // max(x, 0) + slope * min(x, 0)
    {GraphOp::kGelu, "gelu", GraphOpKind::kElementwise, 1, false},  // x / 2 * (1 + erf(x / sqrt(2)))
    // x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))
    {GraphOp::kGeluTanh, "gelu_tanh", GraphOpKind::kElementwise, 1, false},
    {GraphOp::kSilu, "silu", GraphOpKind::kElementwise, 1, false},  // x * sigmoid(x)
    {GraphOp::kReduceSum, "reduce_sum", GraphOpKind::kReduction, 1, false},
    {GraphOp::kReduceMax, "reduce_max", GraphOpKind::kReduction, 1, false},
    {GraphOp::kReduceMean, "reduce_mean", GraphOpKind::kReduction, 1, false},
    {GraphOp::kSoftmax, "softmax", GraphOpKind::kRowwise, 1, false},  // exp(x - max) / sum of these
    // (x - mean) / sqrt(mean of (x - mean)^2 + eps) * scale + shift
    {GraphOp::kLayernorm, "layernorm", GraphOpKind::kRowwise, 3, false},
    {GraphOp::kRmsnorm, "rmsnorm", GraphOpKind::kRowwise, 2, false},  // x / sqrt(mean of x^2 + eps) * scale
}};

constexpr const GraphOpInfo& Info(GraphOp op) { return kGraphOps[static_cast<size_t>(op)]; }

struct TensorType {
  Dtype dtype = Dtype::kF32;
  std::vector<uint32_t> dims;  // outermost first; none: a single element

  int64_t elements() const {
    int64_t elements = 1;
    for (uint32_t size : dims) elements *= size;
    return elements;
  }
  int64_t bytes() const { return elements() * Bytes(dtype); }
  friend bool operator==(const TensorType&, const TensorType&) = default;
};

// "f32[32,512]"
std::string PrintTensorType(const TensorType& type);

// Both sides of an image alike. kNchw: image [N,C,H,W], filters [F,C/groups,KH,KW]; kNhwc: image [N,H,W,C],
// filters [KH,KW,C/groups,F].
struct ConvolutionOptions {
  uint32_t stride = 1, pad = 0, dilation = 1, groups = 1;
  ImageLayout layout = ImageLayout::kNchw;

  friend bool operator==(const ConvolutionOptions&, const ConvolutionOptions&) = default;
};

// The sizes of a convolution, whatever its layout.
struct ConvolutionSizes {
  uint32_t images, channels, height, width;  // of the image
  uint32_t filters, kernel_height, kernel_width;
  uint32_t out_height, out_width;
};

struct GraphNode {
  GraphOp op = GraphOp::kInput;
  TensorType type;               // kNumber: that of what it meets
  std::vector<int> inputs;       // nodes before this one
  std::string text;              // kInput: its name; kNumber: as it was written
  std::vector<uint32_t> axes;    // kReduction: ascending
  float number = 0;              // kNumber; the slope; the eps
  ConvolutionOptions conv = {};  // kConv2d
  bool constant = false;         // kInput: what it holds is known ahead, so that it may be packed once
  TextPosition position;
};

inline constexpr size_t kMaxParameters = 16;

struct Graph {
  std::string name;
  std::vector<GraphNode> nodes;  // the kernel's parameters first, in their order
  int result = 0;

  const GraphNode& at(int node) const { return nodes[static_cast<size_t>(node)]; }
  int num_inputs() const {
    int inputs = 0;
    while (inputs < static_cast<int>(nodes.size()) && at(inputs).op == GraphOp::kInput) ++inputs;
    return inputs;
  }
  // Is the value a parameter that is known ahead?
  bool IsConstant(int value) const { return value < num_inputs() && at(value).constant; }
  bool HasConstants() const {
    return std::any_of(nodes.begin(), nodes.end(), [](const GraphNode& node) { return node.constant; });
  }
};

// Of a kConv2d node.
ConvolutionSizes SizesOfConvolution(const Graph& graph, const GraphNode& node);

// Products in each sum of a contraction.
double TermsOf(const Graph& graph, const GraphNode& node);

// The kernel as text that ParseGraph reads as the same graph: a statement for each operation.
std::string PrintGraph(const Graph& graph);

// Multiplications and additions of the contractions, and one for each element of the other operations.
double Flops(const Graph& graph);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_GRAPH_H_
