// SPDX-License-Identifier: Apache-2.0
#include "codegen/verify/known_contraction.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "absl/strings/str_format.h"
#include "codegen/verify/verify_data.h"
#include "codegen/verify/verify_freivalds.h"
#include "codegen/verify/verify_run.h"
#include "spec/element.h"
#include "spec/element_array.h"
#include "spec/graph/epilogue_program.h"
#include "spec/instruction.h"
#include "spec/meaning/reference.h"
#include "spec/microkernel.h"
#include "spec/sum_blocks.h"

namespace kirsch {
namespace {

constexpr double kOutputGap = -8765.4321;
constexpr double kSampledShare = 0.2;  // of the flops in full: of the rows that are compared of larger ones

// True if no sum is rounded, in whatever order it is made: then all bits are compared.
bool SumsAreExact(const Spec& root, InputKind kind) {
  return (kind == InputKind::kIntegers && SumsOfIntegersAreExact(root)) || !IsFloating(AccumulatorOf(root));
}

// True if some instruction for these types takes subnormal numbers for zero. Any program may use it.
bool MayFlushSubnormals(const Spec& root) {
  if (root.lhs_as != LhsAs::kItself) return true;
  const Dtype lhs = root.operand[MatmulDims::kLhs].dtype, rhs = root.operand[MatmulDims::kRhs].dtype;
  return std::ranges::any_of(
      kInstructions, [&](const Instruction& row) { return row.flushes_subnormals && Takes(row, lhs, rhs); });
}

// Puts the oracle's sums through the epilogue. Sums have errors already, which the steps of the epilogue pass
// on. After that errors have no magnitude to be relative to.
void ApplyEpilogue(const Spec& root, const ConstOperands& operands, Oracle* oracle) {
  const int64_t m = root.size[MatmulDims::kM], n = root.size[MatmulDims::kN];
  const RowProgram epilogue = RowProgramOf(root);
  for (size_t i = 0; i < oracle->value.size(); ++i) {
    const int64_t row = oracle->rows[i / static_cast<size_t>(n)], column = static_cast<int64_t>(i) % n;
    const Uncertain stored = kirsch::ApplyEpilogue(root, epilogue, operands, row / m, row % m, column,
                                                   {oracle->value[i], oracle->most[i]});
    oracle->value[i] = stored.value;
    oracle->most[i] = stored.error;
  }
  oracle->scale.clear();
}

// Returns how much larger products may be as factors are rounded to bf16, by half a unit of its eight bits
// once each. To f16 it is half a unit of its eleven bits. Lhs as integers is off by a 254th of the largest
// magnitude of 32, which is less, where magnitudes are measured by that (MagnitudesOfRoundedLhs). It is a
// share of the products, not a factor: 1 + a share would round the bounds of f64 away.
double RoundingOfFactors(const Spec& root) {
  constexpr double kBf16 = 0x1p-8;
  if (root.lhs_as == LhsAs::kItself) return 0;
  if (root.lhs_as == LhsAs::kF16) return 0x1p-11;
  return IsOfBlocks(root.operand[MatmulDims::kRhs].dtype) ? 2 * kBf16 + kBf16 * kBf16 : kBf16;
}

}  // namespace

double Tolerance::Of(double expected, double magnitude) const {
  const double sum = sums * magnitude;
  return sum + output * (std::abs(expected) + sum) + absolute;
}

double RoundingsOf(const Spec& root) { return static_cast<double>(TermsPerElement(root)); }

// Returns how often the program adds to a sum in memory. Each step of a matrix unit's tile that goes on with
// a sum from memory is such an addition, too.
double AdditionsTo(const Impl& program) {
  const Spec& spec = program.spec;
  const uint32_t length = spec.size[MatmulDims::kK];
  if (program.decision.layout.kind == LayoutKind::kTiles) {
    const int step = kTileRowBytes / Bytes(spec.operand[MatmulDims::kLhs].dtype);
    return std::ceil(static_cast<double>(length) / step);
  }
  const bool is_split = program.decision.kind == RewriteKind::kTile && program.decision.dim == MatmulDims::kK;
  double all = 0, most = 1;
  for (const Impl::Child& child : program.children) {
    const double additions = AdditionsTo(child.impl);
    all += static_cast<double>(child.trips) * additions;
    most = std::max(most, additions);
  }
  if (program.range.varies(MatmulDims::kK) && is_split)
    all = (length / program.children.front().impl.spec.size[MatmulDims::kK] + 1) * most;
  return is_split ? all : most;
}

// Tiles of the reduction are summed up apart, and then added to those before them. So a term has the
// roundings of its tile's sum, and one for each later addition. It is never more than what any program has.
double RoundingsOf(const Impl& program) {
  const Spec& spec = program.spec;
  if (!SumsInBlocks(spec)) return RoundingsOf(spec);
  const uint32_t length = spec.size[MatmulDims::kK];
  double roundings = program.children.empty() ? RoundingsInBlocks(length) : 0;
  for (const Impl::Child& child : program.children) roundings = std::max(roundings, RoundingsOf(child.impl));
  if (program.decision.kind == RewriteKind::kTile && program.decision.dim == MatmulDims::kK)
    roundings += AdditionsTo(program);
  return std::min(roundings + (spec.accumulate ? 1 : 0), RoundingsOf(spec));
}

Tolerance ToleranceOf(const Spec& root, double roundings) {
  if (!IsFloating(AccumulatorOf(root))) return {};
  const double terms = static_cast<double>(TermsPerElement(root));
  Tolerance tolerance;
  // The reference has errors of its own: it sums in double, or, for f64, in more digits.
  const Dtype sum = AccumulatorOf(root);
  const Precision precision = PrecisionOf(sum);
  const double own = sum == Dtype::kF64 ? 0x1p-53 + terms * 0x1p-64 : terms * 0x1p-53;
  // Gamma of n, or, where that has no end, (1 + u)^n - 1.
  constexpr double kMostOfGamma = 0.125;
  const double share = roundings * precision.unit;
  tolerance.sums =
      (share <= kMostOfGamma ? share / (1 - share) : std::expm1(roundings * std::log1p(precision.unit))) +
      own;
  if (Bytes(sum) < kWordBytes) tolerance.absolute += roundings * precision.least / 2;
  // Then what the types bring, as the header lists it.
  tolerance.sums += RoundingOfFactors(root) * (1 + tolerance.sums);
  if (root.lhs_as == LhsAs::kQ8)
    tolerance.absolute += terms * 0x1p-100;  // of what is below kLeastQ8Magnitude, by weights of 2^29 at most
  if (MayFlushSubnormals(root)) tolerance.absolute += terms * 0x1p-126;
  if (root.out().dtype == Dtype::kBf16 && root.op_info().epilogue.empty()) {
    tolerance.output = 0x1p-8;
    tolerance.absolute += 0x1p-134;
  }
  return tolerance;
}

double ErrorBound(const Spec& root, double roundings) {
  if (!root.op_info().epilogue.empty()) return 1;
  return ToleranceOf(root, roundings).OfMagnitude();
}

// Operands are tensors in the order of their roles, which is lhs, rhs, out, then the epilogue's.
ContractionProblem::ContractionProblem(const Spec& root, double roundings)
    : root_(root), roundings_(roundings) {
  const OpInfo& op = root.op_info();
  for (int operand = 0; operand < op.num_operands; ++operand)
    tensors_.push_back({std::string(op.operands[static_cast<size_t>(operand)].name),
                        root.tensor(operand).dtype, RootElements(root, operand)});
  const AxisArray strides = RootStrides(root, op.output());
  outputs_ = {{static_cast<size_t>(op.output()),
               "out",
               root.out().dtype,
               {root.size[MatmulDims::kB], root.size[MatmulDims::kM], root.size[MatmulDims::kN]},
               {strides[0], strides[1], strides[2]}}};
  flops_ = Flops(root);
  error_bound_ = ErrorBound(root, roundings);
}

// Errors show best on integers, all bits of which are compared.
std::array<InputKind, 3> ContractionProblem::Kinds() const {
  if (!IsFloating(AccumulatorOf(root_)))
    return {InputKind::kIntegers, InputKind::kFullRange, InputKind::kFullRange};
  return {InputKind::kIntegers, InputKind::kSpread, InputKind::kUniform};
}

// Larger problems have as many rows compared as take a fifth of the limit, but 4 at least and 256 at most.
int64_t ContractionProblem::MostRows(double most_flops_in_full) const {
  const int64_t all = outputs_.front().rows();
  if (flops_ <= most_flops_in_full) return all;
  const double flops_per_row = flops_ / static_cast<double>(all);
  return std::clamp<int64_t>(static_cast<int64_t>(kSampledShare * most_flops_in_full / flops_per_row), 4,
                             256);
}

// An output that is added to has numbers, like an input.
void ContractionProblem::Fill(size_t tensor, InputKind kind, uint64_t seed, void* data) const {
  const int operand = static_cast<int>(tensor);
  const Dtype dtype = tensors_[tensor].dtype;
  FillOperand(root_, operand, kind, seed, IsOutput(tensor) ? kOutputGap : Poison(dtype), data);
  if (!IsOutput(tensor) || root_.accumulate) return;
  const auto bytes = static_cast<size_t>(Bytes(dtype));
  ForEachRun(root_, operand, [&](int64_t offset, int64_t count) {
    FillPoison(dtype, static_cast<size_t>(count) * bytes,
               static_cast<char*>(data) + static_cast<size_t>(offset) * bytes);
  });
}

Oracle ContractionProblem::Expect(InputKind kind, absl::Span<void* const> tensors, const ProblemOutput&,
                                  std::vector<int64_t> rows) const {
  const ConstOperands operands = OperandsOf(tensors);
  Oracle oracle{std::move(rows), {}, {}, {}, SumsAreExact(root_, kind)};
  Expected sums = ReferenceRows(root_, operands, oracle.rows);
  // Where lhs is rounded, bounds go by the magnitudes that its rounding is relative to.
  if (const std::vector<float> magnitudes = MagnitudesOfRoundedLhs(root_, operands[MatmulDims::kLhs]);
      !magnitudes.empty()) {
    ConstOperands bounds = operands;
    bounds[MatmulDims::kLhs] = magnitudes.data();
    sums.magnitude = ReferenceRows(root_, bounds, oracle.rows).magnitude;
  }
  const Tolerance tolerance = ToleranceOf(root_, roundings_);
  for (size_t i = 0; i < sums.value.size(); ++i)
    oracle.most.push_back(oracle.bits ? 0 : tolerance.Of(sums.value[i], sums.magnitude[i]));
  oracle.value = std::move(sums.value);
  oracle.scale = std::move(sums.magnitude);
  if (!root_.op_info().epilogue.empty()) ApplyEpilogue(root_, operands, &oracle);
  return oracle;
}

// Gaps were filled with a number that no kernel computes.
bool ContractionProblem::GapsIntact(const ProblemOutput& output, const void* out) const {
  const size_t bytes = static_cast<size_t>(Bytes(output.dtype));
  std::array<char, sizeof(double)> gap;
  StoreElement(output.dtype, kOutputGap, gap.data(), 0);
  bool intact = true;
  int64_t end_of_row = 0;
  ForEachRun(root_, static_cast<int>(output.tensor), [&](int64_t offset, int64_t count) {
    for (int64_t i = end_of_row; i < offset; ++i)
      intact &=
          memcmp(static_cast<const char*>(out) + static_cast<size_t>(i) * bytes, gap.data(), bytes) == 0;
    end_of_row = offset + count;
  });
  return intact;
}

std::string ContractionProblem::WholeCheck() const {
  if (!root_.op_info().epilogue.empty() || root_.op_info().lanewise()) return "";
  return absl::StrFormat("all of the output by Freivalds' check (a wrong one passes with probability %.1g)",
                         FreivaldsMissProbability(root_));
}

absl::Status ContractionProblem::CheckWhole(InputKind kind, uint64_t seed,
                                            absl::Span<void* const> tensors) const {
  if (WholeCheck().empty()) return absl::OkStatus();
  return CheckProduct(root_, ToleranceOf(root_, roundings_), kind, seed, OperandsOf(tensors));
}

ConstOperands OperandsOf(absl::Span<void* const> tensors) {
  ConstOperands operands = {};
  std::ranges::copy(tensors, operands.begin());
  return operands;
}

}  // namespace kirsch
