// SPDX-License-Identifier: Apache-2.0
#include "spec/meaning/reference.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "spec/element.h"
#include "spec/element_array.h"
#include "spec/meaning/elementwise.h"
#include "spec/multiversion.h"

namespace kirsch {
namespace {

// For each dim of the iteration space, how it indexes an operand. An axis without digits means that the dim
// does not index it.
using DimAxes = std::array<DigitAxis, kMaxDims>;

DimAxes AlongDims(const Spec& spec, int operand, const std::array<DigitAxis, kMaxAxes>& axes) {
  DimAxes along = {};
  const OperandInfo& info = spec.op_info().operands[static_cast<size_t>(operand)];
  for (size_t axis = 0; axis < static_cast<size_t>(info.rank); ++axis)
    if (const int dim = info.axes[axis].dim; dim >= 0) along[static_cast<size_t>(dim)] = axes[axis];
  return along;
}

// The axes of a dense array of the operand's shape, in row order: the form of Expected.
std::array<DigitAxis, kMaxAxes> DenseAxes(const Spec& spec, int operand) {
  const AxisArray extents = AxisExtents(spec, operand);
  std::array<DigitAxis, kMaxAxes> axes = {};
  int64_t stride = 1;
  for (size_t axis = static_cast<size_t>(spec.op_info().operands[static_cast<size_t>(operand)].rank);
       axis-- > 0;) {
    axes[axis] = DigitAxis::Strided(static_cast<uint32_t>(stride));
    stride *= extents[axis];
  }
  return axes;
}

// What a term adds to the sum of magnitudes. Sums of integers are kept modulo 2^64. As 2^32 divides 2^64,
// wrapping them to 32 bits at the end gives the right number. They are not rounded and have no magnitude.
double Magnitude(double term) { return std::abs(term); }
double Magnitude(long double term) { return static_cast<double>(std::abs(term)); }
double Magnitude(uint64_t) { return 0; }

// The type of a sum as the caller sees it: the output's, or, where an epilogue follows, the accumulator's.
Dtype SumOrOutput(const Spec& root) {
  return root.op_info().epilogue.empty() ? root.out().dtype : AccumulatorOf(root);
}

// The final value of a sum as an element of type `out`.
double Final(Dtype, double sum) { return sum; }
double Final(Dtype, long double sum) { return static_cast<double>(sum); }
double Final(Dtype out, uint64_t sum) {
  const auto wrapped = static_cast<int32_t>(static_cast<uint32_t>(sum));
  return out == Dtype::kS16 ? Narrow<int16_t>(wrapped) : wrapped;
}

// Walks the iteration space, one dim a call. At every point it adds the product of the operands first..last
// to the output element there.
template <typename Number>
struct Walk {
  const Spec& spec;
  int first, last;
  const ConstOperands& operands;
  std::array<DimAxes, kMaxOperands> along;  // in the caller's buffers
  DimAxes to_dense;                         // in the dense result
  std::vector<Number>* sums;
  std::vector<double>* magnitudes;
  int64_t group;                              // Window::LaneGroup
  std::array<uint32_t, kMaxDims> index = {};  // of the point

  void Visit(int dim, const std::array<int64_t, kMaxOperands>& first_at, int64_t dense) {
    const OpInfo& op = spec.op_info();
    if (dim == op.num_dims) return Point(first_at, dense);
    const size_t d = static_cast<size_t>(dim);
    // A dim that does not index an operand leaves the operand's place as it is.
    for (uint32_t i = 0; i < spec.size[d]; ++i) {
      index[d] = i;
      std::array<int64_t, kMaxOperands> at = first_at;
      for (size_t operand = 0; operand < static_cast<size_t>(op.num_operands); ++operand)
        at[operand] += Offset(along[operand][d], i);
      Visit(dim + 1, at, dense + Offset(to_dense[d], i));
    }
  }

  static int64_t Offset(const DigitAxis& axis, uint32_t index) {
    return axis.digits == 0 ? 0 : axis.At(index);
  }

  void Point(std::array<int64_t, kMaxOperands> at, int64_t dense) {
    at[MatmulDims::kLhs] += index[MatmulDims::kK] % group - index[MatmulDims::kN] % group;
    Number term = 1;
    for (size_t operand = static_cast<size_t>(first); operand <= static_cast<size_t>(last); ++operand)
      term *= Load(spec.operand[operand].dtype, operands[operand], at[operand]);
    (*sums)[static_cast<size_t>(dense)] += term;
    (*magnitudes)[static_cast<size_t>(dense)] += Magnitude(term);
  }

  static Number Load(Dtype dtype, const void* data, int64_t index) {
    Number number;
    LoadRun(dtype, data, index, 0, 1, &number);
    return number;
  }
};

// Walks the space of `spec` over the root's buffers. `spec` may be the root without its reductions.
template <typename Number>
void Accumulate(const Spec& root, const Spec& spec, const ConstOperands& operands, int first, int last,
                std::vector<Number>* sums, std::vector<double>* magnitudes) {
  const int output = root.op_info().output();
  Walk<Number> walk{spec,     first,      last,
                    operands, {},         AlongDims(root, output, DenseAxes(root, output)),
                    sums,     magnitudes, root.op_info().window.LaneGroup(root.size[MatmulDims::kK])};
  for (int operand = 0; operand < root.op_info().num_operands; ++operand)
    walk.along[static_cast<size_t>(operand)] = AlongDims(root, operand, RootAxes(root, operand));
  walk.Visit(0, {}, 0);
}

template <typename Number>
Expected ReferenceIn(const Spec& root, const ConstOperands& operands) {
  const int output = root.op_info().output();
  size_t elements = 1;
  for (int64_t extent : AxisExtents(root, output)) elements *= static_cast<size_t>(extent);
  std::vector<Number> sums(elements);
  Expected result{std::vector<double>(elements), std::vector<double>(elements)};
  // The output before the run is one more term of each sum: visit each output element once.
  if (root.accumulate) {
    Spec output_only = root;
    for (size_t dim = 0; dim < static_cast<size_t>(root.op_info().num_dims); ++dim)
      if (root.op_info().dims[dim].reduction) output_only.size[dim] = 1;
    Accumulate(root, output_only, operands, output, output, &sums, &result.magnitude);
  }
  Accumulate(root, root, operands, 0, output - 1, &sums, &result.magnitude);
  for (size_t i = 0; i < elements; ++i) result.value[i] = Final(SumOrOutput(root), sums[i]);
  return result;
}

// Sums of some rows of a matmul, with the sums of magnitudes that floats have.
template <typename Number>
struct RowSums {
  std::vector<Number> value;
  std::vector<Number> magnitude;
};

// Begins the sums of the given rows: with the output before the run if the spec accumulates, else with 0.
template <typename Number>
RowSums<Number> FirstTerms(const Spec& root, const ConstOperands& operands,
                           const std::vector<int64_t>& rows) {
  const size_t output = static_cast<size_t>(root.op_info().output());
  const AxisArray extents = AxisExtents(root, root.op_info().output()),
                  strides = RootStrides(root, root.op_info().output());
  const size_t columns = static_cast<size_t>(extents[2]);
  RowSums<Number> sums{std::vector<Number>(rows.size() * columns), {}};
  for (size_t row = 0; root.accumulate && row < rows.size(); ++row)
    LoadRun(root.out().dtype, operands[output],
            rows[row] / extents[1] * strides[0] + rows[row] % extents[1] * strides[1], strides[2], extents[2],
            &sums.value[row * columns]);
  sums.magnitude = sums.value;
  if constexpr (std::is_floating_point_v<Number>)
    for (Number& magnitude : sums.magnitude) magnitude = std::abs(magnitude);
  return sums;
}

constexpr int64_t kStrip = 8;  // columns kept in registers
// A block of rhs is this large, so that it stays in L2 while all rows use it.
constexpr int64_t kBlockColumns = 256;  // columns and steps of a block of rhs that stays in the L2
constexpr int64_t kBlockSteps = 64;

// Adds value[j] += sum over p of lhs[p] * rhs[p][j], and the magnitudes, for kBlockColumns columns.
KIRSCH_MULTIVERSION
void AddRow(const double* lhs, const double* rhs, int64_t steps, double* value, double* magnitude) {
  // A strip of columns is summed in registers.
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

// Does the same with 64 bits of mantissa, for sums of f64.
void AddRow(const long double* lhs, const long double* rhs, int64_t steps, long double* value,
            long double* magnitude) {
  for (int64_t p = 0; p < steps; ++p)
    for (int64_t j = 0; j < kBlockColumns; ++j) {
      const long double term = lhs[p] * rhs[p * kBlockColumns + j];
      value[j] += term;
      magnitude[j] += std::abs(term);
    }
}

// Does the same with integers, modulo 2^32 and without magnitudes.
KIRSCH_MULTIVERSION
void AddRow(const uint32_t* lhs, const uint32_t* rhs, int64_t steps, uint32_t* value, uint32_t*) {
  for (int64_t p = 0; p < steps; ++p)
    for (int64_t j = 0; j < kBlockColumns; ++j) value[j] += lhs[p] * rhs[p * kBlockColumns + j];
}

// Sums up the rows of one batch item after the other. The rows of an item go together, so that a block of rhs
// is converted to numbers once for all of them.
template <typename Number>
class RowBlocks {
 public:
  RowBlocks(const Spec& root, const ConstOperands& operands, const std::vector<int64_t>& rows,
            RowSums<Number>* result)
      : root_(root),
        rows_(rows),
        result_(result),
        operands_(operands),
        lhs_(RootAxes(root, MatmulDims::kLhs)),
        rhs_(RootAxes(root, MatmulDims::kRhs)) {}

  void Run() {
    for (int64_t batch = 0; batch < root_.size[MatmulDims::kB]; ++batch) {
      members_.clear();
      for (size_t row = 0; row < rows_.size(); ++row)
        if (rows_[row] / root_.size[MatmulDims::kM] == batch) members_.push_back(row);
      if (members_.empty()) continue;
      // Each block of rhs in turn, for all rows.
      for (int64_t p = 0; p < root_.size[MatmulDims::kK]; p += kBlockSteps)
        for (int64_t j = 0; j < root_.size[MatmulDims::kN]; j += kBlockColumns) AddBlock(batch, p, j);
    }
  }

 private:
  // Adds the block of `steps` from p0 and `columns` from j0 to the sums of all rows of the item.
  void AddBlock(int64_t batch, int64_t p0, int64_t j0) {
    const int64_t steps = std::min<int64_t>(kBlockSteps, root_.size[MatmulDims::kK] - p0);
    const int64_t columns = std::min<int64_t>(kBlockColumns, root_.size[MatmulDims::kN] - j0);
    LoadBlock(batch, p0, j0, steps, columns);
    std::array<Number, kBlockSteps> lhs;
    std::array<Number, kBlockColumns> value = {}, magnitude = {};
    // The row's sums so far are copied, added to, and copied back: AddRow always handles a whole block of
    // columns.
    for (size_t row : members_) {
      LoadAlong(root_.operand[MatmulDims::kLhs].dtype, operands_[MatmulDims::kLhs],
                lhs_[0].At(batch) + lhs_[1].At(rows_[row] % root_.size[MatmulDims::kM]), lhs_[2], p0, steps,
                lhs.data());
      const size_t at = row * root_.size[MatmulDims::kN] + static_cast<size_t>(j0);
      std::copy_n(&result_->value[at], columns, value.begin());
      std::copy_n(&result_->magnitude[at], columns, magnitude.begin());
      AddRow(lhs.data(), block_.data(), steps, value.data(), magnitude.data());
      std::copy_n(value.begin(), columns, &result_->value[at]);
      std::copy_n(magnitude.begin(), columns, &result_->magnitude[at]);
    }
  }

  // Converts one block of rhs, [kBlockSteps][kBlockColumns]. Columns beyond the matrix are zero.
  void LoadBlock(int64_t batch, int64_t p0, int64_t j0, int64_t steps, int64_t columns) {
    std::ranges::fill(block_, Number(0));
    for (int64_t p = 0; p < steps; ++p)
      LoadAlong(root_.operand[MatmulDims::kRhs].dtype, operands_[MatmulDims::kRhs],
                rhs_[0].At(batch) + rhs_[1].At(p0 + p), rhs_[2], j0, columns,
                &block_[static_cast<size_t>(p * kBlockColumns)]);
  }

  const Spec& root_;
  const std::vector<int64_t>& rows_;
  RowSums<Number>* result_;
  const ConstOperands& operands_;
  std::array<DigitAxis, kMaxAxes> lhs_, rhs_;
  std::vector<size_t> members_;
  std::vector<Number> block_ = std::vector<Number>(static_cast<size_t>(kBlockSteps * kBlockColumns));
};

// Adds the terms of one output row of a lanewise operation to row number `to` of the sums.
template <typename Number>
void AddLanewiseRow(const Spec& root, const ConstOperands& operands, int64_t row, size_t to,
                    RowSums<Number>* sums) {
  constexpr int kLhs = MatmulDims::kLhs, kRhs = MatmulDims::kRhs;
  const std::array<DigitAxis, kMaxAxes> lhs = RootAxes(root, kLhs), rhs = RootAxes(root, kRhs);
  const size_t n = root.size[MatmulDims::kN];
  const auto group = static_cast<size_t>(root.op_info().window.LaneGroup(root.size[MatmulDims::kK]));
  std::vector<Number> x(n), w(n);
  for (int64_t p = 0; p < root.size[MatmulDims::kK]; ++p) {
    LoadAlong(root.operand[kLhs].dtype, operands[kLhs], lhs[1].At(row) + lhs[2].At(p), lhs[3], 0,
              static_cast<int64_t>(n), x.data());
    LoadAlong(root.operand[kRhs].dtype, operands[kRhs], rhs[1].At(p), rhs[2], 0, static_cast<int64_t>(n),
              w.data());
    for (size_t j = 0; j < n; ++j) {
      const Number term = x[j - j % group + static_cast<size_t>(p) % group] * w[j];
      sums->value[to * n + j] += term;
      if constexpr (std::is_floating_point_v<Number>) sums->magnitude[to * n + j] += std::abs(term);
    }
  }
}

template <typename Number>
// Lanewise operations have their own loop, since lhs has the column as an index, too.
RowSums<Number> SumRows(const Spec& root, const ConstOperands& operands, const std::vector<int64_t>& rows) {
  RowSums<Number> sums = FirstTerms<Number>(root, operands, rows);
  if (root.op_info().lanewise()) {
    for (size_t row = 0; row < rows.size(); ++row) AddLanewiseRow(root, operands, rows[row], row, &sums);
    return sums;
  }
  RowBlocks<Number>(root, operands, rows, &sums).Run();
  return sums;
}

}  // namespace

Expected Reference(const Spec& root, const ConstOperands& operands) {
  if (AccumulatorOf(root) == Dtype::kF64) return ReferenceIn<long double>(root, operands);
  return IsFloating(AccumulatorOf(root)) ? ReferenceIn<double>(root, operands)
                                         : ReferenceIn<uint64_t>(root, operands);
}

Expected ReferenceRows(const Spec& root, const ConstOperands& operands, const std::vector<int64_t>& rows) {
  const Dtype out = SumOrOutput(root);
  if (AccumulatorOf(root) == Dtype::kF64) {
    const RowSums<long double> sums = SumRows<long double>(root, operands, rows);
    return {{sums.value.begin(), sums.value.end()}, {sums.magnitude.begin(), sums.magnitude.end()}};
  }
  if (IsFloating(out)) {
    RowSums<double> sums = SumRows<double>(root, operands, rows);
    return {std::move(sums.value), std::move(sums.magnitude)};
  }
  // Integers are exact, so all magnitudes are 0.
  const RowSums<uint32_t> sums = SumRows<uint32_t>(root, operands, rows);
  Expected result{std::vector<double>(sums.value.size()), std::vector<double>(sums.value.size())};
  std::transform(sums.value.begin(), sums.value.end(), result.value.begin(),
                 [&](uint32_t sum) { return Final(out, uint64_t{sum}); });
  return result;
}

Uncertain ApplyEpilogue(const Spec& root, const RowProgram& epilogue, const ConstOperands& operands,
                        int64_t batch, int64_t row, int64_t column, Uncertain sum) {
  const auto element = [&](int number) {
    const int operand = root.op_info().output() + 1 + number;
    const AxisArray strides = RootStrides(root, operand), place = {batch, row, column};
    int64_t at = 0;
    for (size_t axis = 0; axis < 3; ++axis) at += place[axis] * strides[axis];
    return LoadElement(root.tensor(operand).dtype, operands[static_cast<size_t>(operand)], at);
  };
  return Apply(epilogue, sum, element);
}

int64_t TermsPerElement(const Spec& spec) {
  int64_t terms = spec.accumulate ? 1 : 0, products = 1;
  for (size_t dim = 0; dim < static_cast<size_t>(spec.op_info().num_dims); ++dim)
    if (spec.op_info().dims[dim].reduction) products *= spec.size[dim];
  return terms + products;
}

}  // namespace kirsch
