// A kernel in the kernel language: a small graph of operations on tensors whose shapes and types are inferred
// and checked. The grammar is in spec/README.md.
#ifndef KIRSCH_SPEC_GRAPH_H_
#define KIRSCH_SPEC_GRAPH_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "spec/dtype.h"
#include "spec/text.h"

namespace kirsch {

enum class GraphOp : uint8_t {
  kInput,
  kNumber,
  kMatmul,
  kTranspose,
  kAdd,
  kSub,
  kMul,
  kMax,
  kMin,
  kRelu,
  kCast
};

struct GraphOpInfo {
  GraphOp op;
  std::string_view name;  // empty: not a function
  size_t arguments;
};

inline constexpr std::array<GraphOpInfo, 11> kGraphOps = {{
    {GraphOp::kInput, "", 0},
    {GraphOp::kNumber, "", 0},
    {GraphOp::kMatmul, "matmul", 2},        // of matrices, or of batches of them; sums are f32 or s32
    {GraphOp::kTranspose, "transpose", 1},  // the last two axes
    {GraphOp::kAdd, "add",
     2},  // elementwise, as are the others; the smaller tensor is repeated as NumPy does
    {GraphOp::kSub, "sub", 2},
    {GraphOp::kMul, "mul", 2},
    {GraphOp::kMax, "max", 2},
    {GraphOp::kMin, "min", 2},
    {GraphOp::kRelu, "relu", 1},
    {GraphOp::kCast, "cast", 2},  // cast(x, TYPE): to nearest, ties to even; to integers saturated
}};

struct TensorType {
  Dtype dtype = Dtype::kF32;
  std::vector<uint32_t> dims;  // outermost first; none: a single element

  friend bool operator==(const TensorType&, const TensorType&) = default;
};

// "f32[32,512]"
std::string PrintTensorType(const TensorType& type);

struct GraphNode {
  GraphOp op = GraphOp::kInput;
  TensorType type;          // kNumber: that of what it meets
  std::vector<int> inputs;  // nodes before this one
  std::string text;         // kInput: its name; kNumber: as it was written
  TextPosition position;
};

struct Graph {
  std::string name;
  std::vector<GraphNode> nodes;  // the kernel's parameters first, in their order
  int result = 0;
};

}  // namespace kirsch

#endif  // KIRSCH_SPEC_GRAPH_H_
