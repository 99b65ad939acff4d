#include "spec/reference.h"

#include <algorithm>
#include <cmath>

#include "spec/check.h"
#include "spec/multiversion.h"

namespace kirsch {
namespace {

// How far each operand moves, in elements, when one dim of the iteration space advances by one.
using DimStrides = std::array<std::array<int64_t, kMaxDims>, kMaxOperands>;

std::array<int64_t, kMaxDims> AlongDims(const Spec& spec, int operand, const AxisArray& strides) {
  std::array<int64_t, kMaxDims> along = {};
  const OperandInfo& info = spec.op_info().operands[static_cast<size_t>(operand)];
  for (size_t axis = 0; axis < static_cast<size_t>(info.rank); ++axis)
    for (const AxisMap::Term& term : info.axes[axis].terms)
      if (term.dim >= 0) along[static_cast<size_t>(term.dim)] += term.coefficient * strides[axis];
  return along;
}

AxisArray DenseStrides(const Spec& spec, int operand) {
  const AxisArray extents = AxisExtents(spec, operand);
  AxisArray strides = {};
  int64_t stride = 1;
  for (size_t axis = static_cast<size_t>(spec.op_info().operands[static_cast<size_t>(operand)].rank);
       axis-- > 0;) {
    strides[axis] = stride;
    stride *= extents[axis];
  }
  return strides;
}

// The evaluator's walk over the iteration space, one dim a call: at every point, adds the product of the
// operands first..last to the output element there.
struct Walk {
  const Spec& spec;
  int first, last;
  const ConstOperands& operands;
  DimStrides along;                        // in the caller's buffers
  std::array<int64_t, kMaxDims> to_dense;  // in the dense result
  Expected* result;

  void Visit(int dim, std::array<int64_t, kMaxOperands> at, int64_t dense) {
    const OpInfo& op = spec.op_info();
    if (dim == op.num_dims) return Point(at, dense);
    const size_t d = static_cast<size_t>(dim);
    for (uint32_t i = 0; i < spec.size[d]; ++i) {
      Visit(dim + 1, at, dense);
      for (size_t operand = 0; operand < static_cast<size_t>(op.num_operands); ++operand)
        at[operand] += along[operand][d];
      dense += to_dense[d];
    }
  }

  void Point(const std::array<int64_t, kMaxOperands>& at, int64_t dense) {
    double term = 1;
    for (size_t operand = static_cast<size_t>(first); operand <= static_cast<size_t>(last); ++operand)
      term *= operands[operand][at[operand]];
    result->value[static_cast<size_t>(dense)] += term;
    result->magnitude[static_cast<size_t>(dense)] += std::abs(term);
  }
};

// Walks the space of `spec`, which may lack the root's reductions, over the root's buffers.
void Accumulate(const Spec& root, const Spec& spec, const ConstOperands& operands, int first, int last,
                Expected* result) {
  const int output = root.op_info().output();
  Walk walk{spec, first, last, operands, {}, AlongDims(root, output, DenseStrides(root, output)), result};
  for (int operand = 0; operand < root.op_info().num_operands; ++operand)
    walk.along[static_cast<size_t>(operand)] = AlongDims(root, operand, RootStrides(root, operand));
  walk.Visit(0, {}, 0);
}

// The output before the run, as the first term of every sum of the given rows of a matmul.
Expected FirstTerms(const Spec& root, const ConstOperands& operands, const std::vector<int64_t>& rows) {
  const int output = root.op_info().output();
  const AxisArray extents = AxisExtents(root, output), strides = RootStrides(root, output);
  const size_t columns = static_cast<size_t>(extents[2]);
  Expected result;
  result.value.assign(rows.size() * columns, 0);
  result.magnitude.assign(rows.size() * columns, 0);
  if (!root.accumulate) return result;
  for (size_t row = 0; row < rows.size(); ++row) {
    const float* before = operands[static_cast<size_t>(output)] + rows[row] / extents[1] * strides[0] +
                          rows[row] % extents[1] * strides[1];
    for (size_t column = 0; column < columns; ++column) {
      result.value[row * columns + column] = before[static_cast<int64_t>(column) * strides[2]];
      result.magnitude[row * columns + column] = std::abs(result.value[row * columns + column]);
    }
  }
  return result;
}

constexpr int64_t kStrip = 8;           // columns kept in registers
constexpr int64_t kBlockColumns = 256;  // columns and steps of a block of rhs that stays in the L2
constexpr int64_t kBlockSteps = 64;

// value[j] += sum over p of lhs[p] * rhs[p][j], and magnitude likewise, for kBlockColumns columns.
KIRSCH_MULTIVERSION
void AddRow(const double* lhs, const double* rhs, int64_t steps, double* value, double* magnitude) {
  for (int64_t j0 = 0; j0 < kBlockColumns; j0 += kStrip) {
    double sum[kStrip], size[kStrip];
    for (int64_t j = 0; j < kStrip; ++j) {
      sum[j] = value[j0 + j];
      size[j] = magnitude[j0 + j];
    }
    for (int64_t p = 0; p < steps; ++p)
      for (int64_t j = 0; j < kStrip; ++j) {
        const double term = lhs[p] * rhs[p * kBlockColumns + j0 + j];
        sum[j] += term;
        size[j] += std::abs(term);
      }
    for (int64_t j = 0; j < kStrip; ++j) {
      value[j0 + j] = sum[j];
      magnitude[j0 + j] = size[j];
    }
  }
}

// One block of rhs as double, [kBlockSteps][kBlockColumns], columns beyond the matrix zero.
void LoadBlock(const float* rhs, int64_t step_stride, int64_t column_stride, int64_t steps, int64_t columns,
               std::vector<double>* block) {
  std::fill(block->begin(), block->end(), 0.0);
  for (int64_t p = 0; p < steps; ++p)
    for (int64_t j = 0; j < columns; ++j)
      (*block)[static_cast<size_t>(p * kBlockColumns + j)] = rhs[p * step_stride + j * column_stride];
}

// Rows of one batch member, grouped so that a block of rhs is converted once for all of them.
class RowBlocks {
 public:
  RowBlocks(const Spec& root, const ConstOperands& operands, const std::vector<int64_t>& rows,
            Expected* result)
      : root_(root),
        rows_(rows),
        result_(result),
        lhs_(operands[MatmulDims::kLhs]),
        rhs_(operands[MatmulDims::kRhs]),
        lhs_strides_(RootStrides(root, MatmulDims::kLhs)),
        rhs_strides_(RootStrides(root, MatmulDims::kRhs)) {}

  void Run() {
    for (int64_t batch = 0; batch < root_.size[MatmulDims::kB]; ++batch) {
      members_.clear();
      for (size_t row = 0; row < rows_.size(); ++row)
        if (rows_[row] / root_.size[MatmulDims::kM] == batch) members_.push_back(row);
      if (members_.empty()) continue;
      for (int64_t p = 0; p < root_.size[MatmulDims::kK]; p += kBlockSteps)
        for (int64_t j = 0; j < root_.size[MatmulDims::kN]; j += kBlockColumns) AddBlock(batch, p, j);
    }
  }

 private:
  void AddBlock(int64_t batch, int64_t p0, int64_t j0) {
    const int64_t steps = std::min<int64_t>(kBlockSteps, root_.size[MatmulDims::kK] - p0);
    const int64_t columns = std::min<int64_t>(kBlockColumns, root_.size[MatmulDims::kN] - j0);
    LoadBlock(rhs_ + batch * rhs_strides_[0] + p0 * rhs_strides_[1] + j0 * rhs_strides_[2], rhs_strides_[1],
              rhs_strides_[2], steps, columns, &block_);
    std::array<double, kBlockSteps> lhs;
    std::array<double, kBlockColumns> value, magnitude;
    for (size_t row : members_) {
      const float* from =
          lhs_ + batch * lhs_strides_[0] + rows_[row] % root_.size[MatmulDims::kM] * lhs_strides_[1];
      for (int64_t p = 0; p < steps; ++p) lhs[static_cast<size_t>(p)] = from[(p0 + p) * lhs_strides_[2]];
      const size_t at = row * root_.size[MatmulDims::kN] + static_cast<size_t>(j0);
      std::copy_n(&result_->value[at], columns, value.begin());
      std::copy_n(&result_->magnitude[at], columns, magnitude.begin());
      AddRow(lhs.data(), block_.data(), steps, value.data(), magnitude.data());
      std::copy_n(value.begin(), columns, &result_->value[at]);
      std::copy_n(magnitude.begin(), columns, &result_->magnitude[at]);
    }
  }

  const Spec& root_;
  const std::vector<int64_t>& rows_;
  Expected* result_;
  const float* lhs_;
  const float* rhs_;
  AxisArray lhs_strides_, rhs_strides_;
  std::vector<size_t> members_;
  std::vector<double> block_ = std::vector<double>(static_cast<size_t>(kBlockSteps * kBlockColumns));
};

}  // namespace

Expected Reference(const Spec& root, const ConstOperands& operands) {
  const int output = root.op_info().output();
  size_t elements = 1;
  for (int64_t extent : AxisExtents(root, output)) elements *= static_cast<size_t>(extent);
  Expected result{std::vector<double>(elements), std::vector<double>(elements)};
  if (root.accumulate) {
    Spec output_only = root;
    for (size_t dim = 0; dim < static_cast<size_t>(root.op_info().num_dims); ++dim)
      if (root.op_info().dims[dim].reduction) output_only.size[dim] = 1;
    Accumulate(root, output_only, operands, output, output, &result);
  }
  Accumulate(root, root, operands, 0, output - 1, &result);
  return result;
}

Expected ReferenceRows(const Spec& root, const ConstOperands& operands, const std::vector<int64_t>& rows) {
  KIRSCH_CHECK(root.op == OpKind::kMatmul);
  Expected result = FirstTerms(root, operands, rows);
  RowBlocks(root, operands, rows, &result).Run();
  return result;
}

int64_t TermsPerElement(const Spec& spec) {
  int64_t terms = spec.accumulate ? 1 : 0, products = 1;
  for (size_t dim = 0; dim < static_cast<size_t>(spec.op_info().num_dims); ++dim)
    if (spec.op_info().dims[dim].reduction) products *= spec.size[dim];
  return terms + products;
}

}  // namespace kirsch
