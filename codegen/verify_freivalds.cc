#include "codegen/verify_freivalds.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "absl/strings/str_format.h"
#include "codegen/verify_check.h"
#include "spec/multiversion.h"

namespace kirsch {
namespace {

constexpr double kExactInFloat = 0x1p24;
constexpr int64_t kLanes = 8;

// One matrix of an operand in memory.
struct Matrix {
  const float* data;
  int64_t rows, columns;
  int64_t row_stride, column_stride;  // one of them is 1, or the other extent is
};

double Dot(const float* row, const double* x, int64_t count, bool magnitudes) {
  double sums[kLanes] = {};
  int64_t j = 0;
  for (; j + kLanes <= count; j += kLanes)
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      const double value = row[j + lane];
      sums[lane] += (magnitudes ? std::abs(value) : value) * x[j + lane];
    }
  double sum = 0;
  for (; j < count; ++j) sum += (magnitudes ? std::abs(double{row[j]}) : double{row[j]}) * x[j];
  for (double lane : sums) sum += lane;
  return sum;
}

// y += matrix * x, or with the magnitudes of the matrix's elements.
KIRSCH_MULTIVERSION
void AddTimes(const Matrix& matrix, const double* x, bool magnitudes, double* y) {
  if (matrix.column_stride == 1) {
    for (int64_t i = 0; i < matrix.rows; ++i)
      y[i] += Dot(matrix.data + i * matrix.row_stride, x, matrix.columns, magnitudes);
    return;
  }
  for (int64_t j = 0; j < matrix.columns; ++j) {
    const float* column = matrix.data + j * matrix.column_stride;
    for (int64_t i = 0; i < matrix.rows; ++i) {
      const double value = column[i * matrix.row_stride];
      y[i] += (magnitudes ? std::abs(value) : value) * x[j];
    }
  }
}

std::vector<double> Times(const Matrix& matrix, const std::vector<double>& x, bool magnitudes) {
  std::vector<double> y(static_cast<size_t>(matrix.rows));
  AddTimes(matrix, x.data(), magnitudes, y.data());
  return y;
}

Matrix MatrixOf(const Spec& root, int operand, int64_t batch, const float* data) {
  const AxisArray extents = AxisExtents(root, operand), strides = RootStrides(root, operand);
  return {data + batch * strides[0], extents[1], extents[2], strides[1], strides[2]};
}

// No sum is exact unless C holds what exact sums can be.
bool ExactIntegers(const Matrix& matrix) {
  bool exact = true;
  for (int64_t i = 0; i < matrix.rows; ++i)
    for (int64_t j = 0; j < matrix.columns; ++j) {
      const float x = matrix.data[i * matrix.row_stride + j * matrix.column_stride];
      exact &= std::abs(x) <= kExactInFloat && std::rint(x) == x;
    }
  return exact;
}

// The matrices of one batch member; `before` is null unless the spec accumulates.
struct Product {
  Matrix lhs, rhs, out;
  const Matrix* before;
};

// before x + lhs (rhs x), or the same of magnitudes.
std::vector<double> Right(const Product& product, const std::vector<double>& x, bool magnitudes) {
  std::vector<double> right = Times(product.lhs, Times(product.rhs, x, magnitudes), magnitudes);
  if (product.before != nullptr) AddTimes(*product.before, x.data(), magnitudes, right.data());
  return right;
}

absl::Status CheckVector(const Spec& root, const Product& product, const std::vector<double>& x, bool exact,
                         int64_t batch) {
  const std::vector<double> left = Times(product.out, x, false), right = Right(product, x, false);
  std::vector<double> tolerance(right.size());
  if (!exact) {
    std::vector<double> magnitude = x;
    for (double& entry : magnitude) entry = std::abs(entry);
    // The row sums themselves are rounded, in double.
    const double slack = (root.size[MatmulDims::kK] + root.size[MatmulDims::kN] + 8) * 0x1p-51;
    tolerance = Right(product, magnitude, true);
    for (double& row : tolerance) row *= ErrorBound(root) + slack;
  }
  for (size_t i = 0; i < left.size(); ++i)
    if (!(std::abs(left[i] - right[i]) <= tolerance[i]))
      return absl::DataLossError(absl::StrFormat(
          "out[%d][%d]: a weighted sum of the row is off: expected %.17g, got %.17g (tolerance %.3g)", batch,
          i, right[i], left[i], tolerance[i]));
  return absl::OkStatus();
}

std::vector<double> RandomVector(const Spec& root, std::mt19937_64* random) {
  const int64_t limit = FreivaldsLimit(root);
  std::uniform_int_distribution<int64_t> entry(-limit, limit);
  std::vector<double> x(root.size[MatmulDims::kN]);
  for (double& value : x) value = static_cast<double>(entry(*random));
  return x;
}

}  // namespace

int64_t FreivaldsLimit(const Spec& root) {
  return std::min<int64_t>(int64_t{1} << 20, (int64_t{1} << 53) / (int64_t{root.size[MatmulDims::kN]} << 24));
}

double FreivaldsMissProbability(const Spec& root) {
  return std::pow(2.0 * static_cast<double>(FreivaldsLimit(root)) + 1, -kFreivaldsVectors);
}

absl::Status CheckProduct(const Spec& root, const Trial& trial, const Operands& operands) {
  constexpr int kLhs = MatmulDims::kLhs, kRhs = MatmulDims::kRhs, kOut = MatmulDims::kOut;
  std::vector<float> before;
  if (root.accumulate) {
    before.resize(static_cast<size_t>(RootElements(root, kOut)));
    FillOperand(root, kOut, trial.kind, trial.seed, 0, before.data());
  }
  const bool exact = trial.kind == InputKind::kIntegers;
  const ConstOperands data = operands.pointers();
  for (int64_t batch = 0; batch < root.size[MatmulDims::kB]; ++batch) {
    const Matrix out_before = MatrixOf(root, kOut, batch, before.data());
    const Product product{MatrixOf(root, kLhs, batch, data[kLhs]), MatrixOf(root, kRhs, batch, data[kRhs]),
                          MatrixOf(root, kOut, batch, data[kOut]), root.accumulate ? &out_before : nullptr};
    if (exact && !ExactIntegers(product.out))
      return absl::DataLossError(
          absl::StrFormat("out[%d]: not every element is an integer up to 2^24", batch));
    std::mt19937_64 random(trial.seed + static_cast<uint64_t>(batch));
    for (int vector = 0; vector < kFreivaldsVectors; ++vector) {
      const absl::Status status = CheckVector(root, product, RandomVector(root, &random), exact, batch);
      if (!status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

}  // namespace kirsch
