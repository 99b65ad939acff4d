#include "codegen/verify_check.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>
#include <utility>

#include "absl/strings/str_format.h"
#include "spec/element.h"
#include "spec/instruction.h"

namespace kirsch {
namespace {

// True if element number `index` is the one that stands for `expected`, bit for bit.
bool SameBits(Dtype dtype, const void* data, int64_t index, double expected) {
  const size_t bytes = static_cast<size_t>(Bytes(dtype));
  std::array<char, sizeof(double)> wanted;
  StoreElement(dtype, expected, wanted.data(), 0);
  return memcmp(static_cast<const char*>(data) + static_cast<size_t>(index) * bytes, wanted.data(), bytes) ==
         0;
}

// Are the sums those of exact arithmetic, whatever they are sums of?
bool SumsAreExact(const Spec& root, InputKind kind) {
  return kind == InputKind::kIntegers || !IsFloating(AccumulatorOf(root));
}

// Is there an instruction for these types that takes subnormal numbers for zero?
bool MayFlushSubnormals(const Spec& root) {
  const Dtype lhs = root.operand[MatmulDims::kLhs].dtype, rhs = root.operand[MatmulDims::kRhs].dtype;
  return std::any_of(kInstructions.begin(), kInstructions.end(),
                     [&](const Instruction& row) { return row.flushes_subnormals && Takes(row, lhs, rhs); });
}

// Makes outputs of the oracle's sums.
void ApplyEpilogue(const Spec& root, const ConstOperands& operands, Oracle* oracle) {
  const Tolerance tolerance = ToleranceOf(root);
  const bool exact = SumsAreExact(root, oracle->kind);
  const int64_t m = root.size[MatmulDims::kM], n = root.size[MatmulDims::kN];
  oracle->most.resize(oracle->expected.value.size());
  for (size_t i = 0; i < oracle->most.size(); ++i) {
    const int64_t row = oracle->rows[i / static_cast<size_t>(n)], column = static_cast<int64_t>(i) % n;
    double& value = oracle->expected.value[i];
    const double error = exact ? 0 : tolerance.Of(value, oracle->expected.magnitude[i]);
    const Uncertain stored = ApplyEpilogue(root, operands, row / m, row % m, column, {value, error});
    value = stored.value;
    oracle->most[i] = stored.error;
  }
}

absl::Status Mismatch(const Spec& root, int64_t row, size_t column, double expected, double got,
                      double tolerance) {
  const int64_t m = root.size[MatmulDims::kM];
  return absl::DataLossError(absl::StrFormat("out[%d][%d][%d]: expected %.9g, got %.9g (tolerance %.3g)",
                                             row / m, row % m, column, expected, got, tolerance));
}

}  // namespace

double Tolerance::Of(double expected, double magnitude) const {
  const double sum = sums * magnitude;
  return sum + output * (std::abs(expected) + sum) + absolute;
}

Tolerance ToleranceOf(const Spec& root) {
  if (!IsFloating(AccumulatorOf(root))) return {};
  const double terms = static_cast<double>(TermsPerElement(root));
  Tolerance tolerance;
  tolerance.sums = terms * 0x1p-24 / (1 - terms * 0x1p-24) + terms * 0x1p-53;
  if (MayFlushSubnormals(root)) tolerance.absolute = terms * 0x1p-126;
  if (root.out().dtype == Dtype::kBf16 && root.op_info().epilogue.empty()) {
    tolerance.output = 0x1p-8;
    tolerance.absolute += 0x1p-134;
  }
  return tolerance;
}

double ErrorBound(const Spec& root) {
  if (!root.op_info().epilogue.empty()) return 1;
  const Tolerance tolerance = ToleranceOf(root);
  return tolerance.sums + tolerance.output * (1 + tolerance.sums);
}

absl::StatusOr<Oracle> MakeOracle(const Spec& root, InputKind kind, uint64_t seed,
                                  std::vector<int64_t> rows) {
  const absl::StatusOr<Operands> operands = Operands::Create(root, {.kind = kind, .seed = seed});
  if (!operands.ok()) return operands.status();
  Oracle oracle{kind, seed, std::move(rows), {}, {}};
  oracle.expected = ReferenceRows(root, operands->pointers(), oracle.rows);
  if (!root.op_info().epilogue.empty()) ApplyEpilogue(root, operands->pointers(), &oracle);
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

absl::Status CheckRows(const Spec& root, const Oracle& oracle, const void* out, double* max_error) {
  const AxisArray strides = RootStrides(root, root.op_info().output());
  const Dtype dtype = root.out().dtype;
  const Tolerance tolerance = ToleranceOf(root);
  const bool exact = SumsAreExact(root, oracle.kind);
  const int64_t m = root.size[MatmulDims::kM];
  const size_t n = root.size[MatmulDims::kN];
  std::vector<double> got(n);
  for (size_t r = 0; r < oracle.rows.size(); ++r) {
    const int64_t row = oracle.rows[r] / m * strides[0] + oracle.rows[r] % m * strides[1];
    LoadRun(dtype, out, row, strides[2], static_cast<int64_t>(n), got.data());
    for (size_t j = 0; j < n; ++j) {
      const double expected = oracle.expected.value[r * n + j],
                   magnitude = oracle.expected.magnitude[r * n + j];
      const double error = got[j] == expected ? 0 : std::abs(got[j] - expected),
                   most = oracle.most.empty() ? tolerance.Of(expected, magnitude) : oracle.most[r * n + j];
      // After a function, anything may come of what no f32 holds.
      if (!oracle.most.empty() && (std::isnan(expected) || std::isinf(most))) continue;
      const bool same = exact && (oracle.most.empty() || most == 0);
      if (same && !SameBits(dtype, out, row + static_cast<int64_t>(j) * strides[2], expected))
        return Mismatch(root, oracle.rows[r], j, expected, got[j], 0);
      if (!(error <= most)) return Mismatch(root, oracle.rows[r], j, expected, got[j], most);
      if (error > 0) *max_error = std::max(*max_error, error / (oracle.most.empty() ? magnitude : most));
    }
  }
  return absl::OkStatus();
}

}  // namespace kirsch
