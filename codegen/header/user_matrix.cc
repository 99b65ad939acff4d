// SPDX-License-Identifier: Apache-2.0
#include "codegen/header/user_matrix.h"

#include <algorithm>
#include <utility>

#include "spec/canonical.h"
#include "spec/storage.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

UserMatrix Transposed(const UserMatrix& matrix) {
  return {matrix.columns, matrix.rows, matrix.column_axis, matrix.row_axis, matrix.batch_stride};
}

// Axis 0 of an operand is the batch, then come rows and columns.
UserMatrix MatrixOf(const Spec& spec, int operand) {
  const AxisArray extents = AxisExtents(spec, operand);
  const std::array<DigitAxis, kMaxAxes> axes = RootAxes(spec, operand);
  return {extents[1], extents[2], axes[1], axes[2], axes[0].stride(0)};
}

}  // namespace

std::array<UserMatrix, 3> UserMatrices(const HeaderMember& member) {
  const UserMatrix lhs = MatrixOf(member.spec, MatmulDims::kLhs),
                   rhs = MatrixOf(member.spec, MatmulDims::kRhs),
                   out = MatrixOf(member.spec, MatmulDims::kOut);
  // out^T = rhs^T * lhs^T: the user's lhs is the spec's rhs, transposed.
  if (!member.swapped) return {lhs, rhs, out};
  return {Transposed(rhs), Transposed(lhs), Transposed(out)};
}

UserSizes SizesOfUser(const HeaderMember& member) {
  UserSizes sizes;
  for (size_t dim = 0; dim < sizes.size(); ++dim) sizes[dim] = member.spec.size[dim];
  if (member.swapped) std::swap(sizes[MatmulDims::kM], sizes[MatmulDims::kN]);
  return sizes;
}

Epilogue EpilogueOfUser(const HeaderMember& member) {
  const Epilogue& epilogue = member.spec.op_info().epilogue;
  return member.swapped ? Transposed(epilogue) : epilogue;
}

std::string OffsetText(const DigitAxis& axis, const std::string& index) {
  std::string text;
  // Each digit of the index has a stride of its own; the last one needs no remainder.
  for (int level = 0; level < axis.digits; ++level) {
    const int64_t unit = axis.unit(level);
    const std::string steps = unit == 1 ? index : Cat(index, " / ", unit);
    Append(&text, level > 0 ? " + " : "", steps,
           level + 1 < axis.digits ? Cat(" % ", axis.digit[static_cast<size_t>(level)].count) : "", " * ",
           axis.stride(level));
  }
  return text;
}

std::string MatricesText(const HeaderMember& member) {
  constexpr const char* kNames[] = {"lhs", "rhs", "out"};
  const std::array<UserMatrix, 3> matrices = UserMatrices(member);
  const uint32_t batch = member.spec.size[MatmulDims::kB];
  std::string text;
  for (size_t i = 0; i < matrices.size(); ++i) {
    const UserMatrix& matrix = matrices[i];
    const int operand = SwappedOperand(static_cast<int>(i), member.swapped);
    const bool row = matrix.column_axis.stride(0) == 1;
    Append(&text, kNames[i], ": ", Info(CallersType(member.spec.tensor(operand).dtype)).name, ", ",
           matrix.rows, " x ", matrix.columns, ", ", row ? "row" : "column", "-major, leading dimension ",
           (row ? matrix.row_axis : matrix.column_axis).stride(0));
    if (batch > 1) Append(&text, "; ", batch, " of them, ", matrix.batch_stride, " elements apart");
    text += "\n";
  }
  Append(&text, member.spec.accumulate ? "out += lhs * rhs" : "out = lhs * rhs", "\n");
  return text;
}

std::vector<EntryTensor> Unpacked(const CSignature& signature) {
  std::vector<EntryTensor> tensors = signature.constants;
  for (const EntryTensor& tensor : signature.tensors)
    if (tensor.name != kPacked) tensors.push_back(tensor);
  // Operands are numbered lhs, rhs, out, then the epilogue's.
  std::ranges::sort(tensors, {}, &EntryTensor::operand);
  return tensors;
}

std::string TestName(const EntryTensor& tensor) {
  if (tensor.name == kPacked) return kPacked;
  if (tensor.operand <= MatmulDims::kOut)
    return std::string(kMatmulInfo.operands[static_cast<size_t>(tensor.operand)].name);
  return Cat("arg", tensor.operand - MatmulDims::kOut);
}

std::string TestNames(const std::vector<EntryTensor>& tensors) { return Join(tensors, ", ", TestName); }

}  // namespace kirsch
