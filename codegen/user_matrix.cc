#include "codegen/user_matrix.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace kirsch {
namespace {

UserMatrix Transposed(const UserMatrix& matrix) {
  return {matrix.columns, matrix.rows, matrix.column_stride, matrix.row_stride, matrix.batch_stride};
}

UserMatrix MatrixOf(const Spec& spec, int operand) {
  const TileExtent extent = ExtentOf(spec, operand);
  const Layout& layout = spec.operand[static_cast<size_t>(operand)].layout;
  const UserMatrix stored{extent.outer, extent.inner, layout.ld, 1, extent.outer * int64_t{layout.ld}};
  return layout.order == Order::kRow ? stored : Transposed(stored);
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

std::string MatricesText(const HeaderMember& member) {
  constexpr const char* kNames[] = {"lhs", "rhs", "out"};
  const std::array<UserMatrix, 3> matrices = UserMatrices(member);
  const uint32_t batch = member.spec.size[MatmulDims::kB];
  std::string text;
  for (size_t i = 0; i < matrices.size(); ++i) {
    const UserMatrix& matrix = matrices[i];
    const bool row = matrix.column_stride == 1;
    absl::StrAppend(&text, kNames[i], ": ", matrix.rows, " x ", matrix.columns, ", ", row ? "row" : "column",
                    "-major, leading dimension ", row ? matrix.row_stride : matrix.column_stride);
    if (batch > 1) absl::StrAppend(&text, "; ", batch, " of them, ", matrix.batch_stride, " elements apart");
    text += "\n";
  }
  absl::StrAppend(&text, member.spec.accumulate ? "out += lhs * rhs" : "out = lhs * rhs", "\n");
  return text;
}

}  // namespace kirsch
