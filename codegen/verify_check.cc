#include "codegen/verify_check.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <random>
#include <utility>

#include "absl/strings/str_format.h"

namespace kirsch {
namespace {

bool SameBits(float a, float b) { return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b); }

absl::Status Mismatch(const Spec& root, int64_t row, size_t column, double expected, float got,
                      double tolerance) {
  const int64_t m = root.size[MatmulDims::kM];
  return absl::DataLossError(absl::StrFormat("out[%d][%d][%d]: expected %.9g, got %.9g (tolerance %.3g)",
                                             row / m, row % m, column, expected, got, tolerance));
}

}  // namespace

double ErrorBound(const Spec& root) {
  const double terms = static_cast<double>(TermsPerElement(root));
  return terms * 0x1p-24 / (1 - terms * 0x1p-24) + terms * 0x1p-53;
}

absl::StatusOr<Oracle> MakeOracle(const Spec& root, InputKind kind, uint64_t seed,
                                  std::vector<int64_t> rows) {
  const absl::StatusOr<Operands> operands = Operands::Create(root, {.kind = kind, .seed = seed});
  if (!operands.ok()) return operands.status();
  Oracle oracle{kind, seed, std::move(rows), {}};
  oracle.expected = ReferenceRows(root, operands->pointers(), oracle.rows);
  return oracle;
}

std::vector<int64_t> ChooseRows(const Spec& root, int64_t most, uint64_t seed) {
  const int64_t all = int64_t{root.size[MatmulDims::kB]} * root.size[MatmulDims::kM];
  std::vector<int64_t> rows;
  if (all <= most) {
    rows.resize(static_cast<size_t>(all));
    std::iota(rows.begin(), rows.end(), 0);
    return rows;
  }
  std::mt19937_64 random(seed);
  rows = {0, all - 1};
  while (static_cast<int64_t>(rows.size()) < most)
    rows.push_back(static_cast<int64_t>(random() % static_cast<uint64_t>(all)));
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

absl::Status CheckRows(const Spec& root, const Oracle& oracle, const float* out, double* max_error) {
  const AxisArray strides = RootStrides(root, root.op_info().output());
  const double bound = ErrorBound(root);
  const int64_t m = root.size[MatmulDims::kM];
  const size_t n = root.size[MatmulDims::kN];
  for (size_t r = 0; r < oracle.rows.size(); ++r) {
    const float* row = out + oracle.rows[r] / m * strides[0] + oracle.rows[r] % m * strides[1];
    for (size_t j = 0; j < n; ++j) {
      const double expected = oracle.expected.value[r * n + j],
                   magnitude = oracle.expected.magnitude[r * n + j];
      const double error = std::abs(row[j] - expected);
      if (oracle.kind == InputKind::kIntegers && !SameBits(row[j], static_cast<float>(expected)))
        return Mismatch(root, oracle.rows[r], j, expected, row[j], 0);
      if (!(error <= bound * magnitude))
        return Mismatch(root, oracle.rows[r], j, expected, row[j], bound * magnitude);
      if (error > 0) *max_error = std::max(*max_error, error / magnitude);
    }
  }
  return absl::OkStatus();
}

}  // namespace kirsch
