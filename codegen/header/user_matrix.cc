#include "codegen/header/user_matrix.h"

#include <utility>

#include "spec/storage.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

UserMatrix Transposed(const UserMatrix& matrix) {
  return {matrix.columns, matrix.rows, matrix.column_axis, matrix.row_axis, matrix.batch_stride};
}

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
    Append(&text, kNames[i], ": ", matrix.rows, " x ", matrix.columns, ", ");
    if (matrix.is_window()) {
      Append(&text, "a view: (row, column) is element\n     ", OffsetText(matrix.row_axis, "row"), " + ",
             OffsetText(matrix.column_axis, "column"), "\n");
      continue;
    }
    const bool row = matrix.column_axis.stride(0) == 1;
    Append(&text, row ? "row" : "column", "-major, leading dimension ",
           (row ? matrix.row_axis : matrix.column_axis).stride(0));
    if (batch > 1) Append(&text, "; ", batch, " of them, ", matrix.batch_stride, " elements apart");
    text += "\n";
  }
  Append(&text, member.spec.accumulate ? "out += lhs * rhs" : "out = lhs * rhs", "\n");
  return text;
}

}  // namespace kirsch
