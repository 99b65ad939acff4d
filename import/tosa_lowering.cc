// SPDX-License-Identifier: Apache-2.0
// Lowers TOSA, as MLIR 19 has it.
#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "import/along_dims.h"
#include "import/lowering.h"
#include "spec/text/cat.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

// The operand in this shape: dims of size 1 are repeated, and those that are missing in front.
absl::StatusOr<int> Repeated(int value, const std::vector<int64_t>& shape, TensorProgramBuilder* builder) {
  const size_t rank = builder->ShapeOf(value).size();
  if (rank > shape.size()) return builder->Expected("operands of the result's rank");
  std::vector<int64_t> dims(rank);
  std::iota(dims.begin(), dims.end(), static_cast<int64_t>(shape.size() - rank));
  return builder->Broadcast(value, shape, std::move(dims));
}

absl::Status ExpectNoQuantization(const SourceOperation& operation, const TensorProgramBuilder& builder) {
  return operation.of.Find("quantization_info") == nullptr ? absl::OkStatus()
                                                           : builder.Expected("no quantization_info");
}

LoweredValues LowerRepeated(const SourceOperation& operation, Expression expression,
                            TensorProgramBuilder* builder) {
  KIRSCH_RETURN_IF_ERROR(ExpectNoQuantization(operation, *builder));
  std::vector<int> operands;
  for (const int operand : operation.operands) {
    KIRSCH_ASSIGN_OR_RETURN(const int repeated, Repeated(operand, operation.type().shape, builder));
    operands.push_back(repeated);
  }
  return std::vector{builder->Elementwise(std::move(expression), std::move(operands), operation.type())};
}

LoweredValues LowerReduce(const SourceOperation& operation, bool sum, TensorProgramBuilder* builder) {
  const int reduced = builder->Reduce(operation.operands[0], sum, operation.of.Integers("axis"));
  return std::vector{builder->Reshape(reduced, operation.type().shape)};
}

// The product with a bias for each of the last dim's indices.
LoweredValues AddBias(const SourceOperation& operation, int product, TensorProgramBuilder* builder) {
  KIRSCH_ASSIGN_OR_RETURN(const int bias,
                          Repeated(operation.operands[2], builder->ShapeOf(product), builder));
  return std::vector{builder->Elementwise(ParseExpression("add($0, $1)"), {product, bias}, operation.type())};
}

LoweredValues LowerConvolution(const SourceOperation& operation, int filters, ConvolutionDims dims,
                               TensorProgramBuilder* builder) {
  KIRSCH_RETURN_IF_ERROR(ExpectNoQuantization(operation, *builder));
  dims.strides = operation.of.Integers("stride");
  dims.dilations = operation.of.Integers("dilation");
  dims.pads = operation.of.Integers("pad");
  return AddBias(operation,
                 builder->Convolution(operation.operands[0], filters, std::move(dims), operation.type()),
                 builder);
}

// The windows along a [N,H,W,C] tensor's dims; none if an attribute is not of its form.
std::vector<DimWindow> PoolWindows(const MlirOperation& operation) {
  const std::vector<int64_t> kernel = operation.Integers("kernel"), stride = operation.Integers("stride"),
                             pad = operation.Integers("pad");
  if (kernel.size() != 2 || stride.size() != 2 || pad.size() != 4) return {};
  return {{}, {kernel[0], stride[0], 1, pad[0], pad[1]}, {kernel[1], stride[1], 1, pad[2], pad[3]}, {}};
}

}  // namespace

LoweredValues LowerTosaElementwise(const SourceOperation& operation, TensorProgramBuilder* builder) {
  return LowerRepeated(operation, ParseExpression(operation.row.expression), builder);
}

LoweredValues LowerTosaMul(const SourceOperation& operation, TensorProgramBuilder* builder) {
  const std::vector<int64_t> shift = operation.of.Integers("shift");
  if (std::any_of(shift.begin(), shift.end(), [](int64_t bits) { return bits != 0; }))
    return builder->Expected("a shift of 0");
  return LowerTosaElementwise(operation, builder);
}

LoweredValues LowerTosaClamp(const SourceOperation& operation, TensorProgramBuilder* builder) {
  const bool integer = operation.type().integer();
  const MlirAttribute* lowest = operation.of.Find(integer ? "min_int" : "min_fp");
  const MlirAttribute* highest = operation.of.Find(integer ? "max_int" : "max_fp");
  if (lowest == nullptr || highest == nullptr || lowest->numbers.size() != 1 || highest->numbers.size() != 1)
    return builder->Expected("a lowest and a highest number");
  Expression expression = ParseExpression("min(max($0, 0), 0)");
  expression.arguments[0].arguments[1].number = lowest->numbers[0];
  expression.arguments[1].number = highest->numbers[0];
  return LowerRepeated(operation, std::move(expression), builder);
}

LoweredValues LowerTosaTranspose(const SourceOperation& operation, TensorProgramBuilder* builder) {
  const ConstantTensor* constant = builder->FindConstant(operation.operands[1]);
  const size_t rank = builder->ShapeOf(operation.operands[0]).size();
  if (constant == nullptr || constant->elements() != static_cast<int64_t>(rank))
    return builder->Expected("a constant permutation");
  std::vector<int64_t> permutation;
  for (size_t i = 0; i < rank; ++i) {
    const double dim = constant->at(static_cast<int64_t>(i));
    permutation.push_back(dim >= 0 && dim < static_cast<double>(rank) ? static_cast<int64_t>(dim) : -1);
  }
  return std::vector{
      builder->Broadcast(operation.operands[0], operation.type().shape, Inverse(permutation, rank))};
}

LoweredValues LowerTosaReduceSum(const SourceOperation& operation, TensorProgramBuilder* builder) {
  return LowerReduce(operation, true, builder);
}

LoweredValues LowerTosaReduceMin(const SourceOperation& operation, TensorProgramBuilder* builder) {
  const int reduced = builder->ReduceMin(operation.operands[0], operation.of.Integers("axis"));
  return std::vector{builder->Reshape(reduced, operation.type().shape)};
}

LoweredValues LowerTosaReduceMax(const SourceOperation& operation, TensorProgramBuilder* builder) {
  return LowerReduce(operation, false, builder);
}

LoweredValues LowerTosaMatmul(const SourceOperation& operation, TensorProgramBuilder* builder) {
  KIRSCH_RETURN_IF_ERROR(ExpectNoQuantization(operation, *builder));
  const int lhs = operation.operands[0], rhs = operation.operands[1];
  if (builder->ShapeOf(lhs).size() != 3 || builder->ShapeOf(rhs).size() != 3)
    return builder->Expected("batches of matrices");
  return std::vector{builder->Dot(lhs, rhs, {{{0}, {0}}, {{2}, {1}}, {{1}, {2}}}, operation.type().element)};
}

LoweredValues LowerTosaFullyConnected(const SourceOperation& operation, TensorProgramBuilder* builder) {
  KIRSCH_RETURN_IF_ERROR(ExpectNoQuantization(operation, *builder));
  const int lhs = operation.operands[0], rhs = operation.operands[1];
  if (builder->ShapeOf(lhs).size() != 2 || builder->ShapeOf(rhs).size() != 2)
    return builder->Expected("matrices");
  return AddBias(operation,
                 builder->Dot(lhs, rhs, {{{}, {}}, {{1}, {1}}, {{0}, {0}}}, operation.type().element),
                 builder);
}

LoweredValues LowerTosaConv2d(const SourceOperation& operation, TensorProgramBuilder* builder) {
  ConvolutionDims dims;
  dims.words = {{{"b", "0", "1", "f"}, {"o", "0", "1", "i"}, {"b", "0", "1", "f"}}};
  return LowerConvolution(operation, operation.operands[1], std::move(dims), builder);
}

// Each channel of the image is a group, with its own filters.
LoweredValues LowerTosaDepthwiseConv2d(const SourceOperation& operation, TensorProgramBuilder* builder) {
  std::vector<int64_t> shape = builder->ShapeOf(operation.operands[1]);  // axes, channels, filters of each
  if (shape.size() != 4) return builder->Expected("filters of four dims");
  ConvolutionDims dims;
  dims.words = {{{"b", "0", "1", "f"}, {"0", "1", "i", "o"}, {"b", "0", "1", "f"}}};
  dims.groups = shape[2];
  shape = {shape[0], shape[1], 1, operation.type().shape.empty() ? 1 : operation.type().shape.back()};
  return LowerConvolution(operation, builder->Reshape(operation.operands[1], std::move(shape)),
                          std::move(dims), builder);
}

LoweredValues LowerTosaSlice(const SourceOperation& operation, TensorProgramBuilder* builder) {
  const std::vector<int64_t> start = operation.of.Integers("start");
  return Only(SliceDims(operation.operands[0], start, operation.of.Integers("size"),
                        std::vector<int64_t>(start.size(), 1), builder));
}

LoweredValues LowerTosaPad(const SourceOperation& operation, TensorProgramBuilder* builder) {
  KIRSCH_RETURN_IF_ERROR(ExpectNoQuantization(operation, *builder));
  if (operation.operands.size() < 2 || operation.operands.size() > 3 || operation.results.size() != 1)
    return builder->Expected("a tensor, a padding, and perhaps a number");
  const ConstantTensor* padding = builder->FindConstant(operation.operands[1]);
  const size_t rank = builder->ShapeOf(operation.operands[0]).size();
  if (padding == nullptr || padding->elements() != static_cast<int64_t>(2 * rank))
    return builder->Expected("a constant padding, before and after each dim");
  std::vector<int64_t> sides[2];
  for (int64_t i = 0; i < padding->elements(); ++i) {
    const double size = padding->at(i);
    sides[i % 2].push_back(size >= 0 && size < 0x1p31 ? static_cast<int64_t>(size) : -1);
  }
  const std::optional<double> number =
      operation.operands.size() == 3 ? builder->FindNumber(operation.operands[2]) : 0.0;
  if (!number) return builder->Expected("a constant number around the tensor");
  return Only(PadDims(operation.operands[0], sides[0], sides[1], *number, builder));
}

LoweredValues LowerTosaMaxPool2d(const SourceOperation& operation, TensorProgramBuilder* builder) {
  return Only(WindowDims(operation.operands[0], false, PoolWindows(operation.of), builder));
}

// The sum of what is in the window, by how many elements these are.
LoweredValues LowerTosaAvgPool2d(const SourceOperation& operation, TensorProgramBuilder* builder) {
  KIRSCH_RETURN_IF_ERROR(ExpectNoQuantization(operation, *builder));
  const std::vector<DimWindow> windows = PoolWindows(operation.of);
  const std::vector<int64_t> shape = builder->ShapeOf(operation.operands[0]);  // a copy: more values follow
  if (shape.size() != 4) return builder->Expected("a tensor of 4 dims");
  KIRSCH_ASSIGN_OR_RETURN(const int sums, WindowDims(operation.operands[0], true, windows, builder));
  const std::vector<int64_t>& made = builder->ShapeOf(sums);
  if (made[1] > kMostFolded / made[2]) return builder->Expected(Cat("at most ", kMostFolded, " windows"));
  // Images and channels have the same numbers.
  const ConstantTensor counts = ElementsInWindows({1, shape[1], shape[2], 1}, windows);
  if (std::count(counts.values.begin(), counts.values.end(), 0) > 0)
    return builder->Expected("windows that all have an element of the tensor");
  const bool alike =
      std::count(counts.values.begin(), counts.values.end(), counts.values[0]) == std::ssize(counts.values);
  const int divisors = builder->Constant(alike ? ConstantTensor{counts.shape, {counts.values[0]}} : counts,
                                         operation.type().element);
  KIRSCH_ASSIGN_OR_RETURN(const int repeated, Repeated(divisors, builder->ShapeOf(sums), builder));
  return std::vector{
      builder->Elementwise(ParseExpression("div($0, $1)"), {sums, repeated}, operation.type())};
}

}  // namespace kirsch
