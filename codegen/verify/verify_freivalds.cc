// SPDX-License-Identifier: Apache-2.0
#include "codegen/verify/verify_freivalds.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

#include "absl/strings/str_format.h"
#include "codegen/verify/known_contraction.h"
#include "codegen/verify/verify_data.h"
#include "spec/element.h"
#include "spec/meaning/reference.h"
#include "spec/multiversion.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

// Sums that are made side by side, so that compilers can use vectors.
constexpr int64_t kLanes = 8;

// One matrix of an operand in memory, as rows and columns of the contraction.
struct Matrix {
  Dtype dtype;
  const void* data;
  int64_t first;  // element (0, 0)
  int64_t rows, columns;
  DigitAxis row_axis, column_axis;
};

// Modulo 2^32 there are no magnitudes.
double Magnitude(double x) { return std::abs(x); }
uint32_t Magnitude(uint32_t x) { return x; }

// Inlined into each version of Dot(), to be compiled for that version's instructions.
template <typename Number>
[[gnu::always_inline]] inline Number SumOfProducts(const Number* row, const Number* x, int64_t count) {
  Number sums[kLanes] = {};
  int64_t j = 0;
  for (; j + kLanes <= count; j += kLanes)
    for (int64_t lane = 0; lane < kLanes; ++lane) sums[lane] += row[j + lane] * x[j + lane];
  Number sum = 0;
  for (; j < count; ++j) sum += row[j] * x[j];
  for (Number lane : sums) sum += lane;
  return sum;
}

KIRSCH_MULTIVERSION
double Dot(const double* row, const double* x, int64_t count) { return SumOfProducts(row, x, count); }
KIRSCH_MULTIVERSION
uint32_t Dot(const uint32_t* row, const uint32_t* x, int64_t count) { return SumOfProducts(row, x, count); }

// Adds matrix * x to y, or the same with the magnitudes of the matrix's elements. It goes along memory: row
// by row with dot products, or column by column, each times an entry of x.
template <typename Number>
void AddTimes(const Matrix& matrix, const std::vector<Number>& x, bool magnitudes, std::vector<Number>* y) {
  const bool by_rows = matrix.column_axis.stride(0) == 1;
  const int64_t runs = by_rows ? matrix.rows : matrix.columns,
                length = by_rows ? matrix.columns : matrix.rows;
  const DigitAxis &across = by_rows ? matrix.row_axis : matrix.column_axis,
                  &along = by_rows ? matrix.column_axis : matrix.row_axis;
  std::vector<Number> run(static_cast<size_t>(length));
  for (int64_t i = 0; i < runs; ++i) {
    LoadAlong(matrix.dtype, matrix.data, matrix.first + across.At(i), along, 0, length, run.data());
    if (magnitudes)
      for (Number& value : run) value = Magnitude(value);
    if (by_rows) {
      (*y)[static_cast<size_t>(i)] += Dot(run.data(), x.data(), length);
    } else {
      const Number factor = x[static_cast<size_t>(i)];
      for (size_t row = 0; row < run.size(); ++row) (*y)[row] += run[row] * factor;
    }
  }
}

template <typename Number>
std::vector<Number> Times(const Matrix& matrix, const std::vector<Number>& x, bool magnitudes) {
  std::vector<Number> y(static_cast<size_t>(matrix.rows));
  AddTimes(matrix, x, magnitudes, &y);
  return y;
}

Matrix MatrixOf(const Spec& root, int operand, int64_t batch, const void* data) {
  const AxisArray extents = AxisExtents(root, operand);
  const std::array<DigitAxis, kMaxAxes> axes = RootAxes(root, operand);
  const Dtype dtype = root.tensor(operand).dtype;
  return {dtype, data, axes[0].At(batch), extents[1], extents[2], axes[1], axes[2]};
}

// True if C holds nothing but what exact sums can be. Otherwise no sum over C would be exact either.
bool ExactIntegers(const Matrix& matrix) {
  bool exact = true;
  std::vector<double> row(static_cast<size_t>(matrix.columns));
  for (int64_t i = 0; i < matrix.rows; ++i) {
    LoadAlong(matrix.dtype, matrix.data, matrix.first + matrix.row_axis.At(i), matrix.column_axis, 0,
              matrix.columns, row.data());
    for (double x : row) exact &= std::abs(x) <= kExactInFloat && std::rint(x) == x;
  }
  return exact;
}

// The matrices of one batch member. `before` is the output before the run, null unless the spec accumulates.
struct Product {
  Matrix lhs, rhs, out;
  const Matrix* before;
};

// Returns before x + lhs (rhs x), or the same of magnitudes. The order of the brackets makes it as fast as
// reading the matrices.
template <typename Number>
std::vector<Number> Right(const Product& product, const std::vector<Number>& x, bool magnitudes) {
  std::vector<Number> right = Times(product.lhs, Times(product.rhs, x, magnitudes), magnitudes);
  if (product.before != nullptr) AddTimes(*product.before, x, magnitudes, &right);
  return right;
}

// Returns how far the row sums may be off. They are rounded themselves, in double, which `slack` is for.
std::vector<double> Tolerances(const Spec& root, const Tolerance& most, const Product& product,
                               const std::vector<double>& x) {
  std::vector<double> magnitude = x;
  double sum = 0;
  for (double& entry : magnitude) sum += entry = std::abs(entry);
  const double slack = (root.size[MatmulDims::kK] + root.size[MatmulDims::kN] + 8) * 0x1p-51;
  Product bounds = product;
  const std::vector<float> magnitudes = MagnitudesOfRoundedLhs(root, product.lhs.data);
  if (!magnitudes.empty()) bounds.lhs.data = magnitudes.data();
  std::vector<double> tolerance = Right(bounds, magnitude, true);
  for (double& row : tolerance) row = row * (most.OfMagnitude() + slack) + sum * most.absolute;
  return tolerance;
}

// Checks out x = right side for one vector. `most` is null where nothing may be off.
absl::Status CheckVector(const Spec& root, const Tolerance* most, const Product& product,
                         const std::vector<double>& x, int64_t batch) {
  const std::vector<double> left = Times(product.out, x, false), right = Right(product, x, false);
  std::vector<double> tolerance(right.size());
  if (most != nullptr) tolerance = Tolerances(root, *most, product, x);
  for (size_t i = 0; i < left.size(); ++i)
    if (!(std::abs(left[i] - right[i]) <= tolerance[i]))
      return absl::DataLossError(absl::StrFormat(
          "out[%d][%d]: a weighted sum of the row is off: expected %.17g, got %.17g (tolerance %.3g)", batch,
          i, right[i], left[i], tolerance[i]));
  return absl::OkStatus();
}

// The same of integers of full range. Unsigned sums wrap around as the kernel's do.
absl::Status CheckModulo(const Product& product, const std::vector<uint32_t>& x, int64_t batch) {
  const std::vector<uint32_t> left = Times(product.out, x, false), right = Right(product, x, false);
  for (size_t i = 0; i < left.size(); ++i)
    if (left[i] != right[i])
      return absl::DataLossError(
          absl::StrFormat("out[%d][%d]: a weighted sum of the row, modulo 2^32, is off: expected %d, got %d",
                          batch, i, right[i], left[i]));
  return absl::OkStatus();
}

std::vector<uint32_t> RandomWords(const Spec& root, std::mt19937_64* random) {
  std::vector<uint32_t> x(root.size[MatmulDims::kN]);
  for (uint32_t& value : x) value = static_cast<uint32_t>((*random)());
  return x;
}

std::vector<double> RandomVector(const Spec& root, std::mt19937_64* random) {
  const int64_t limit = FreivaldsLimit(root);
  std::uniform_int_distribution<int64_t> entry(-limit, limit);
  std::vector<double> x(root.size[MatmulDims::kN]);
  for (double& value : x) value = static_cast<double>(entry(*random));
  return x;
}

// True if an s16 output may have reached an end of its range.
bool MaySaturate(const Spec& root, InputKind kind) {
  if (root.out().dtype != Dtype::kS16) return false;
  const int64_t limit = IntegerLimit(root);
  return kind == InputKind::kFullRange || limit * limit * TermsPerElement(root) > INT16_MAX;
}

}  // namespace

int64_t FreivaldsLimit(const Spec& root) {
  return std::min<int64_t>(int64_t{1} << 20, (int64_t{1} << 53) / (int64_t{root.size[MatmulDims::kN]} << 24));
}

double FreivaldsMissProbability(const Spec& root) {
  return std::pow(2.0 * static_cast<double>(FreivaldsLimit(root)) + 1, -kFreivaldsVectors);
}

absl::Status CheckProduct(const Spec& root, const Tolerance& most, InputKind kind, uint64_t seed,
                          const ConstOperands& data) {
  constexpr int kLhs = MatmulDims::kLhs, kRhs = MatmulDims::kRhs, kOut = MatmulDims::kOut;
  if (MaySaturate(root, kind)) return absl::OkStatus();
  std::vector<std::byte> before;
  if (root.accumulate) {
    before.resize(static_cast<size_t>(Bytes(root.out().dtype, RootElements(root, kOut))));
    FillOperand(root, kOut, kind, seed, 0, before.data());
  }
  const bool exact =
      kind == InputKind::kIntegers && root.out().dtype != Dtype::kBf16 && SumsOfIntegersAreExact(root);
  // Batch members are checked one by one, each with vectors of its own.
  for (int64_t batch = 0; batch < root.size[MatmulDims::kB]; ++batch) {
    const Matrix out_before = MatrixOf(root, kOut, batch, before.data());
    const Product product{MatrixOf(root, kLhs, batch, data[kLhs]), MatrixOf(root, kRhs, batch, data[kRhs]),
                          MatrixOf(root, kOut, batch, data[kOut]), root.accumulate ? &out_before : nullptr};
    if (exact && !ExactIntegers(product.out))
      return absl::DataLossError(
          absl::StrFormat("out[%d]: not every element is an integer up to 2^24", batch));
    std::mt19937_64 random(seed + static_cast<uint64_t>(batch));
    for (int vector = 0; vector < kFreivaldsVectors; ++vector) {
      KIRSCH_RETURN_IF_ERROR(
          kind == InputKind::kFullRange
              ? CheckModulo(product, RandomWords(root, &random), batch)
              : CheckVector(root, exact ? nullptr : &most, product, RandomVector(root, &random), batch));
    }
  }
  return absl::OkStatus();
}

}  // namespace kirsch
