// SPDX-License-Identifier: Apache-2.0
#include "codegen/verify/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "codegen/verify/known_contraction.h"
#include "codegen/verify/verify_freivalds.h"
#include "codegen/verify/verify_header.h"
#include "spec/element.h"
#include "tests/testing/kernel_header.h"
#include "tests/testing/on_target_test.h"
#include "tests/testing/plain_kernel.h"
#include "tests/testing/random_impl.h"
#include "tests/testing/random_spec.h"
#include "tests/testing/targets.h"

namespace kirsch {
namespace {

using ::testing::AllOf;
using testing::Flaw;
using ::testing::HasSubstr;
using testing::MatmulSpec;
using testing::PlainKernel;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr MatmulTypes kF64 = {Dtype::kF64, Dtype::kF64, Dtype::kF64};
constexpr size_t kAll = 100;

RungReport Climb(const Spec& spec, const TrialPlan& plan, const Flaw& flaw) {
  return Ladder(ContractionProblem(spec), plan).Climb(PlainKernel(spec, flaw), kAll);
}

// One run. Sampled: three rows or so are compared, the first and the last among them.
TrialPlan PlanOf(InputKind kind, bool sampled = false) { return {sampled ? 3 : 1000, {{.kind = kind}}}; }

// Wrong kernels
// --------------------------------------------------------------------------------------------------

class EveryPlan : public ::testing::TestWithParam<bool> {
 protected:
  RungReport Integers(const Flaw& flaw) const {
    return Climb(spec_, PlanOf(InputKind::kIntegers, GetParam()), flaw);
  }
  const Spec spec_ =
      MatmulSpec({.m = 400, .k = 37, .n = 21, .rhs = Order::kCol, .out_gap = 3, .accumulate = true});
  static constexpr int64_t kRow = 123, kColumn = 20;  // last lane
};
INSTANTIATE_TEST_SUITE_P(, EveryPlan, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Sampled" : "InFull"; });

TEST_P(EveryPlan, TheRightKernelPasses) {
  for (InputKind kind : {InputKind::kIntegers, InputKind::kUniform, InputKind::kSpread}) {
    const RungReport report = Climb(spec_, PlanOf(kind, GetParam()), {});
    EXPECT_EQ(report.outcome, RungOutcome::kPassed) << report.text;
  }
}

TEST_P(EveryPlan, OneProductDroppedIsSeen) {
  const RungReport report = Integers({.product = [](int64_t i, int64_t j, int64_t p, double product) {
    return i == kRow && j == kColumn && p == 36 ? 0 : product;
  }});
  EXPECT_EQ(report.outcome, RungOutcome::kFailed);
  EXPECT_THAT(report.text, HasSubstr("out[0][123]"));
}

TEST_P(EveryPlan, AnElementLeftUnwrittenIsSeen) {
  EXPECT_EQ(Integers({.value = [](int64_t i, int64_t j,
                                  double value) { return i == kRow && j == kColumn ? kNaN : value; }})
                .outcome,
            RungOutcome::kFailed);
}

TEST_P(EveryPlan, TwoElementsSwappedAreSeen) {
  const auto swap = [](float*, float*, float* out, float*, size_t) {
    std::swap(out[kRow * 24 + 3], out[kRow * 24 + 4]);
  };
  EXPECT_EQ(Integers({.after = swap}).outcome, RungOutcome::kFailed);
}

TEST_P(EveryPlan, TwoRowsSwappedAreSeen) {
  const auto swap = [](float*, float*, float* out, float*, size_t) {
    std::swap_ranges(out + kRow * 24, out + kRow * 24 + 21, out + 77 * 24);
  };
  EXPECT_EQ(Integers({.after = swap}).outcome, RungOutcome::kFailed);
}

TEST_P(EveryPlan, ForgettingThePriorOutputIsSeen) {
  Spec overwrite = spec_;
  overwrite.accumulate = false;
  EXPECT_EQ(Ladder(ContractionProblem(spec_), PlanOf(InputKind::kIntegers, GetParam()))
                .Climb(PlainKernel(overwrite), kAll)
                .outcome,
            RungOutcome::kFailed);
}

TEST_P(EveryPlan, NaNIsRefusedOnFloats) {
  for (InputKind kind : {InputKind::kUniform, InputKind::kSpread})
    EXPECT_EQ(Climb(spec_, PlanOf(kind, GetParam()),
                    {.value = [](int64_t i, int64_t j,
                                 double value) { return i == kRow && j == kColumn ? kNaN : value; }})
                  .outcome,
              RungOutcome::kFailed);
}

TEST_P(EveryPlan, ASmallIntegerErrorIsSeen) {
  EXPECT_EQ(Integers({.value = [](int64_t i, int64_t j,
                                  double value) { return i == kRow && j == kColumn ? value + 1 : value; }})
                .outcome,
            RungOutcome::kFailed);
}

TEST_P(EveryPlan, ANonIntegerErrorBelowOneIsSeen) {
  EXPECT_EQ(Integers({.value = [](int64_t i, int64_t j, double value) -> double {
              return i == kRow && j == kColumn ? std::nextafter(static_cast<float>(value), 1e9f) : value;
            }}).outcome,
            RungOutcome::kFailed);
}

// The float tolerance
// --------------------------------------------------------------------------------------------

class FloatTolerance : public ::testing::TestWithParam<std::tuple<InputKind, MatmulTypes>> {
 protected:
  static InputKind Kind() { return std::get<0>(GetParam()); }

  // Checks an output that is `fraction` of the tolerance off in one element.
  absl::Status CheckOff(double fraction) const {
    const ContractionProblem problem(spec_);
    const Oracle oracle = problem.Expect(Kind(), Operands::Create(problem, {.kind = Kind()})->pointers(),
                                         problem.outputs().front(), {0, 1, 2});
    return spec_.out().dtype == Dtype::kF64 ? CheckOff<double>(problem, oracle, fraction)
                                            : CheckOff<float>(problem, oracle, fraction);
  }

  template <typename Real>
  absl::Status CheckOff(const ContractionProblem& problem, const Oracle& oracle, double fraction) const {
    constexpr Real kInfinity = std::numeric_limits<Real>::infinity();
    std::vector<Real> out(oracle.value.begin(), oracle.value.end());
    const size_t element = 17;
    const double off = fraction * ErrorBound(spec_) * oracle.scale[element];
    const double wanted = oracle.value[element] + off;
    // The nearest float on the far side, so that rounding does not bring it back.
    out[element] = static_cast<Real>(wanted);
    if (fraction > 1 && out[element] < wanted) out[element] = std::nextafter(out[element], kInfinity);
    if (fraction < 1 && out[element] > wanted) out[element] = std::nextafter(out[element], -kInfinity);
    double max_error = 0;
    const absl::Status status = CheckRows(problem.outputs().front(), oracle, out.data(), &max_error);
    if (status.ok()) {
      EXPECT_GT(max_error, 0.9 * fraction * ErrorBound(spec_));
    }
    return status;
  }

  const Spec spec_ = MatmulSpec({.m = 3, .k = 1000, .n = 10, .types = std::get<1>(GetParam())});
};
INSTANTIATE_TEST_SUITE_P(
    , FloatTolerance,
    ::testing::Combine(::testing::Values(InputKind::kUniform, InputKind::kSpread),
                       ::testing::Values(MatmulTypes{Dtype::kF32, Dtype::kF32, Dtype::kF32},
                                         MatmulTypes{Dtype::kBf16, Dtype::kBf16, Dtype::kF32},
                                         MatmulTypes{Dtype::kBf16, Dtype::kF32, Dtype::kF32},
                                         MatmulTypes{Dtype::kF16, Dtype::kF16, Dtype::kF32},
                                         MatmulTypes{Dtype::kF32, Dtype::kF16, Dtype::kF32},
                                         MatmulTypes{Dtype::kF64, Dtype::kF64, Dtype::kF64})),
    [](const auto& info) {
      return std::string(std::get<0>(info.param) == InputKind::kUniform ? "Uniform_" : "Spread_") +
             testing::NameOf(std::get<1>(info.param));
    });

TEST_P(FloatTolerance, AcceptsWhatIsJustWithin) { EXPECT_TRUE(CheckOff(0.99).ok()) << CheckOff(0.99); }

TEST_P(FloatTolerance, RefusesWhatIsJustBeyond) {
  const absl::Status status = CheckOff(1.001);
  EXPECT_THAT(std::string(status.message()), HasSubstr("out[0][1][7]: expected "));
}

TEST(ErrorBoundTest, IsGammaN) {
  const double u = 0x1p-24;
  EXPECT_NEAR(ErrorBound(MatmulSpec({.k = 1})), u, 1e-3 * u);
  EXPECT_NEAR(ErrorBound(MatmulSpec({.k = 512, .accumulate = true})), 513 * u / (1 - 513 * u), 1e-3 * u);
}

TEST(ErrorBoundTest, OfF64HasItsUnit) {
  const double u = 0x1p-53, bound = ErrorBound(MatmulSpec({.k = 512, .types = kF64}));
  EXPECT_GT(bound, 512 * u);
  EXPECT_LT(bound, 514 * u);
}

// Products that are rounded to f32, or a sum that is, are refused.
TEST(ErrorBoundTest, RefusesF64WithTheBitsOfF32) {
  const Spec spec = MatmulSpec({.m = 20, .k = 50, .n = 20, .types = kF64});
  const auto to_f32 = [](double value) -> double { return static_cast<float>(value); };
  EXPECT_EQ(Climb(spec, PlanOf(InputKind::kUniform), {}).outcome, RungOutcome::kPassed);
  EXPECT_EQ(Climb(spec, PlanOf(InputKind::kUniform),
                  {.product = [&](int64_t, int64_t, int64_t, double product) { return to_f32(product); }})
                .outcome,
            RungOutcome::kFailed);
  EXPECT_EQ(Climb(spec, PlanOf(InputKind::kUniform),
                  {.value = [&](int64_t, int64_t, double value) { return to_f32(value); }})
                .outcome,
            RungOutcome::kFailed);
}

// A sum in f16-like precision is refused: the bound is not slack by orders of magnitude for short sums.
TEST(ErrorBoundTest, RefusesProductsRoundedToFewerBits) {
  const Spec spec = MatmulSpec({.m = 20, .k = 50, .n = 20});
  const auto to_bf16 = [](int64_t, int64_t, int64_t, double product) -> double {
    return Widen(ToBf16(static_cast<float>(product)));
  };
  EXPECT_EQ(Climb(spec, PlanOf(InputKind::kUniform), {.product = to_bf16}).outcome, RungOutcome::kFailed);
}

// Breaking the rules
// ---------------------------------------------------------------------------------------------

class Rules : public ::testing::Test {
 protected:
  using After = std::function<void(float* lhs, float* rhs, float* out, float* scratch, size_t n_threads)>;

  std::string Failure(Placement placement, const After& after, size_t n_threads = 1) const {
    const TrialPlan plan{1000, {{.placement = placement, .n_threads = n_threads}}};
    const RungReport report = Climb(spec_, plan, {.after = after});
    EXPECT_EQ(report.outcome, RungOutcome::kFailed);
    return report.text;
  }

  // lhs 5x3 and rhs 3x7 without gaps, out 5x7 with a gap of 2.
  const Spec spec_ = MatmulSpec({.m = 5, .k = 3, .n = 7, .out_gap = 2});
};

TEST_F(Rules, ReadingBeyondAnInput) {
  EXPECT_THAT(Failure(Placement::kAtEnd,
                      [](float* lhs, float*, float* out, float*, size_t) { out[0] += 0 * lhs[15]; }),
              HasSubstr("read 0 bytes after the end of lhs"));
  EXPECT_THAT(Failure(Placement::kAtStart,
                      [](float*, float* rhs, float* out, float*, size_t) { out[0] += 0 * rhs[-1]; }),
              HasSubstr("read 4 bytes before the start of rhs"));
}

TEST_F(Rules, WritingBeyondTheOutput) {
  EXPECT_THAT(
      Failure(Placement::kAtEnd, [](float*, float*, float* out, float*, size_t) { out[4 * 9 + 7] = 1; }),
      HasSubstr("wrote 0 bytes after the end of out"));
  EXPECT_THAT(
      Failure(Placement::kAtStart, [](float*, float*, float* out, float*, size_t) { out[4 * 9 + 7] = 1; }),
      HasSubstr("wrote beside out"));
}

TEST_F(Rules, WritingBetweenRows) {
  EXPECT_THAT(Failure(Placement::kAtEnd, [](float*, float*, float* out, float*, size_t) { out[7] = 0; }),
              HasSubstr("wrote between the rows of out"));
}

TEST_F(Rules, WritingAnInput) {
  EXPECT_THAT(Failure(Placement::kAtEnd, [](float*, float* rhs, float*, float*, size_t) { rhs[2] = 0; }),
              HasSubstr("wrote byte 8 of rhs, an input"));
}

TEST_F(Rules, LeavingTheScratchMemory) {
  EXPECT_THAT(
      Failure(Placement::kAtEnd, [](float*, float*, float*, float* scratch, size_t) { scratch[16] = 0; }),
      HasSubstr("wrote 0 bytes after the end of the scratch memory"));
  EXPECT_THAT(
      Failure(Placement::kAtEnd, [](float*, float*, float*, float* scratch, size_t) { scratch[-1] = 0; }),
      HasSubstr("wrote beside the scratch memory"));
}

TEST_F(Rules, UsingScratchMemoryThatWasNotWritten) {
  EXPECT_THAT(Failure(Placement::kAtEnd,
                      [](float*, float*, float* out, float* scratch, size_t) { out[0] += scratch[3]; }),
              HasSubstr("out[0][0][0]: expected"));
}

TEST_F(Rules, GettingOneSplitWrong) {
  EXPECT_THAT(
      Failure(
          Placement::kAtEnd,
          [](float*, float*, float* out, float*, size_t n_threads) { out[10] += n_threads == 3 ? 1 : 0; }, 3),
      HasSubstr("out[0][1][1]"));
}

TEST_F(Rules, AnIllegalInstruction) {
  EXPECT_THAT(Failure(Placement::kAtEnd, [](float*, float*, float*, float*, size_t) { __builtin_trap(); }),
              HasSubstr("died of signal 4"));
}

// Kernels that take rhs packed: as it is, with 5 floats more to fill whole lines.
class PackingRules : public ::testing::Test {
 protected:
  std::string Failure(const std::function<void(const float* rhs, float* packed)>& flaw,
                      const testing::Flaw& kernel_flaw = {}) const {
    Kernel kernel = PlainKernel(spec_, kernel_flaw);
    kernel.packed = {MatmulDims::kRhs};
    kernel.packed_place = MatmulDims::kRhs;
    kernel.packed_bytes = 128;
    kernel.pack = [flaw](absl::Span<void* const> tensors) {
      const auto* const rhs = static_cast<const float*>(tensors[0]);
      auto* const packed = static_cast<float*>(tensors[1]);
      std::copy_n(rhs, 27, packed);
      if (flaw) flaw(rhs, packed);
    };
    return Ladder(ContractionProblem(spec_), {1000, {{}}}).Climb(kernel, kAll).text;
  }
  const Spec spec_ = MatmulSpec({.m = 5, .k = 3, .n = 9});
};

TEST_F(PackingRules, ThoseThatKeepThemPass) { EXPECT_THAT(Failure({}), HasSubstr("every element compared")); }

TEST_F(PackingRules, PackingWrongly) {
  EXPECT_THAT(Failure([](const float*, float* packed) { packed[26] += 1; }), HasSubstr("out[0][0][8]"));
}

TEST_F(PackingRules, LeavingTheOperandOrTheBuffer) {
  EXPECT_THAT(Failure([](const float* rhs, float* packed) { packed[0] += 0 * rhs[27]; }),
              HasSubstr("read 0 bytes after the end of rhs"));
  EXPECT_THAT(Failure([](const float*, float* packed) { packed[32] = 0; }),
              HasSubstr("wrote 0 bytes after the end of the packed memory"));
  EXPECT_THAT(Failure([](const float*, float* packed) { packed[-1] = 0; }),
              HasSubstr("wrote beside the packed memory"));
}

TEST_F(PackingRules, TheKernelWritingWhatIsPacked) {
  EXPECT_THAT(Failure({}, {.after = [](float*, float* rhs, float*, float*, size_t) { rhs[2] = 0; }}),
              HasSubstr("wrote byte 8 of the packed memory, an input"));
}

TEST_F(PackingRules, UsingWhatWasNotPacked) {
  EXPECT_THAT(
      Failure({}, {.after = [](float*, float* rhs, float* out, float*, size_t) { out[0] += rhs[30]; }}),
      HasSubstr("out[0][0][0]: expected"));
}

// The plan and Freivalds' check
// ----------------------------------------------------------------------------------

TEST(PlanTest, TriesGuardsMisalignmentSplitsAndKinds) {
  const TrialPlan plan = PlanTrials(ContractionProblem(MatmulSpec({.m = 64, .k = 64, .n = 64})), 8, 1);
  EXPECT_EQ(plan.most_rows, 64);
  bool at_start = false, misaligned = false, idle_threads = false, uniform = false, spread = false;
  for (const VerifyTrial& trial : plan.trials) {
    at_start |= trial.placement == Placement::kAtStart;
    misaligned |= trial.placement == Placement::kAtStart && trial.shift % 16 != 0;
    idle_threads |= trial.n_threads > 8;
    uniform |= trial.kind == InputKind::kUniform;
    spread |= trial.kind == InputKind::kSpread;
  }
  EXPECT_TRUE(at_start && misaligned && idle_threads && uniform && spread);
  EXPECT_EQ(plan.trials.front().kind, InputKind::kIntegers);
  EXPECT_LT(PlanTrials(ContractionProblem(MatmulSpec({.m = 2048, .k = 2048, .n = 2048})), 1, 1).most_rows,
            2048);
}

TEST(FreivaldsTest, VectorsKeepSumsExactAndMissRarely) {
  for (uint32_t n : {1u, 300u, 8192u, kMaxSide}) {
    const Spec spec = MatmulSpec({.k = 10, .n = n});
    EXPECT_GE(FreivaldsLimit(spec), 512) << n;
    EXPECT_LE(static_cast<double>(FreivaldsLimit(spec)) * n * 0x1p24, 0x1p53) << n;
    EXPECT_LT(FreivaldsMissProbability(spec), 1e-9) << n;
  }
}

// Too small to change a sum in double: only that outputs must be integers tells.
TEST(FreivaldsTest, ATraceInsteadOfZeroIsSeen) {
  const Spec spec = MatmulSpec({.m = 400, .k = 2, .n = 400});
  const RungReport report =
      Climb(spec, PlanOf(InputKind::kIntegers, true),
            {.value = [](int64_t, int64_t, double value) { return value == 0 ? 1e-20 : value; }});
  EXPECT_THAT(report.text, HasSubstr("not every element is an integer"));
}

TEST(ChooseRowsTest, AllOrSomeWithBothEnds) {
  EXPECT_EQ(ChooseRows(100, 100, 1).size(), 100u);
  const std::vector<int64_t> rows = ChooseRows(100, 10, 1);
  EXPECT_LE(rows.size(), 10u);
  EXPECT_GE(rows.size(), 5u);
  EXPECT_EQ(rows.front(), 0);
  EXPECT_EQ(rows.back(), 99);
}

// The whole ladder
// -----------------------------------------------------------------------------------------------

Impl SomeProgram(const Spec& spec, const Target& target) {
  std::mt19937_64 random(7);
  return testing::RandomImpl(spec, target, &random);
}

const RungReport& Rung(const VerifyReport& report, const std::string& name) {
  for (const RungReport& rung : report.rungs)
    if (rung.name == name) return rung;
  static const RungReport none;
  return none;
}

using EveryTarget = testing::OnTargetTest;
INSTANTIATE_TEST_SUITE_P(, EveryTarget, ::testing::Values(testing::Avx2Target(), testing::Avx512Target()),
                         [](const auto& info) { return info.index == 0 ? "Avx2" : "Avx512"; });

TEST_P(EveryTarget, EveryRungAgrees) {
  const Spec spec =
      MatmulSpec({.m = 23, .k = 41, .n = 37, .lhs = Order::kCol, .out_gap = 2, .accumulate = true});
  const VerifyReport report = VerifyKernel(SomeProgram(spec, GetParam()), GetParam());
  EXPECT_TRUE(report.ok) << report.first_mismatch;
  EXPECT_EQ(report.rungs.size(), 3u);
  EXPECT_EQ(Rung(report, "interpreter").outcome, RungOutcome::kPassed);
  EXPECT_GT(report.max_error, 0);
  EXPECT_LE(report.max_error, report.error_bound);
}

TEST_P(EveryTarget, ASwappedRequestTakesTheUsersOperands) {
  const Spec spec = MatmulSpec({.m = 9, .k = 8, .n = 30});
  HeaderOptions header;
  header.swapped = true;
  header.parameters = {{"lhs", MatmulDims::kRhs}, {"rhs", MatmulDims::kLhs}, {"out", MatmulDims::kOut}};
  const VerifyReport report = VerifyKernel(SomeProgram(spec, GetParam()), GetParam(), {}, header);
  EXPECT_TRUE(report.ok) << report.first_mismatch;
}

TEST_P(EveryTarget, APackedOperandIsPackedByTheCodeItself) {
  const Spec spec = MatmulSpec({.m = 9, .k = 8, .n = 30, .rhs = Order::kCol, .rhs_gap = 3, .constant = 1});
  for (Abi abi : {Abi::kSystemV, Abi::kWin64})
    for (HeaderMode mode : {HeaderMode::kAttributes, HeaderMode::kMacros, HeaderMode::kBare}) {
      VerifyOptions options;
      options.abi = abi;
      HeaderOptions header;
      header.mode = mode;
      const VerifyReport report = VerifyKernel(SomeProgram(spec, GetParam()), GetParam(), options, header);
      EXPECT_TRUE(report.ok) << report.first_mismatch;
      EXPECT_EQ(Rung(report, "header").outcome, RungOutcome::kPassed);
    }
}

TEST(VerifyKernelTest, AProgramForAnotherCpuIsOnlyInterpreted) {
  const Target target = testing::Avx2Target();
  VerifyOptions options;
  options.host_features = {};
  const VerifyReport report =
      VerifyKernel(SomeProgram(MatmulSpec({.m = 4, .k = 4, .n = 4}), target), target, options);
  EXPECT_EQ(report.verdict, Verdict::kProgramChecked) << report.first_mismatch;
  EXPECT_EQ(Rung(report, "interpreter").outcome, RungOutcome::kPassed);
  for (const char* name : {"jit", "header"}) {
    EXPECT_EQ(Rung(report, name).outcome, RungOutcome::kNotRun);
    EXPECT_EQ(Rung(report, name).text, "the host lacks avx2");
  }
}

TEST(VerifyKernelTest, WhatNothingHasRunIsUnverified) {
  const Target target = testing::Avx2Target();
  VerifyOptions options;
  options.host_features = {};
  options.interpreter = false;
  const VerifyReport report =
      VerifyKernel(SomeProgram(MatmulSpec({.m = 4, .k = 4, .n = 4}), target), target, options);
  EXPECT_EQ(report.verdict, Verdict::kUnverified);
  EXPECT_FALSE(report.ok);
  EXPECT_EQ(report.first_mismatch, "");
}

TEST(VerifyKernelTest, AMissingCompilerIsReportedAndSkipped) {
  const Target target = testing::Avx2Target();
  VerifyOptions options;
  options.compiler = "no-such-compiler";
  const VerifyReport report =
      VerifyKernel(SomeProgram(MatmulSpec({.m = 4, .k = 4, .n = 4}), target), target, options);
  EXPECT_TRUE(report.ok) << report.first_mismatch;
  EXPECT_EQ(Rung(report, "header").outcome, RungOutcome::kNotRun);
  EXPECT_THAT(Rung(report, "header").text, HasSubstr("no compiler no-such-compiler"));
}

TEST(VerifyKernelTest, AWrongProgramFails) {
  const Target target = testing::Avx2Target();
  const Spec accumulating = MatmulSpec({.m = 40, .k = 4, .n = 4, .accumulate = true});
  Decision tile;
  tile.kind = RewriteKind::kTile;
  tile.dim = MatmulDims::kM;
  tile.size = 8;
  std::mt19937_64 random(1);
  Impl impl = testing::RandomImplFrom(accumulating, tile, target, &random);
  impl.spec.accumulate = false;
  const VerifyReport report = VerifyKernel(impl, target);
  EXPECT_FALSE(report.ok);
  EXPECT_THAT(report.first_mismatch, AllOf(HasSubstr("interpreter: out[0]["), HasSubstr("expected")));
}

TEST(HeaderBuildTest, AHeaderThatDoesNotCompileIsAnError) {
  const absl::StatusOr<std::string> compiler = FindCompiler("");
  if (!compiler.ok()) GTEST_SKIP() << compiler.status();
  LoopProgram program;
  program.name = "broken";
  program.tensors = {{"a"}, {"b"}, {"c"}};
  const auto build = HeaderBuild::Start("static int broken(;\n", program, HeaderMode::kAttributes, *compiler);
  ASSERT_TRUE(build.ok()) << build.status();
  EXPECT_THAT(std::string((*build)->Finish().status().message()),
              AllOf(HasSubstr("the header does not compile"), HasSubstr("error:")));
}

TEST(HeaderBuildTest, CallsWithTheParametersThatAreThere) {
  const absl::StatusOr<std::string> compiler = FindCompiler("");
  if (!compiler.ok()) GTEST_SKIP() << compiler.status();
  LoopProgram program;
  program.name = "sum";
  program.tensors = {{"a"}, {"b"}, {"c"}};
  program.tasks = 2;
  const auto build = HeaderBuild::Start(
      "static inline void sum(const float* a, const float* b, float* c, size_t t, size_t n) {\n"
      "  *c = *a + 10 * *b + 100 * (float)t + 1000 * (float)n;\n}\n",
      program, HeaderMode::kBare, *compiler);
  ASSERT_TRUE(build.ok()) << build.status();
  const absl::StatusOr<GraphKernelFunction> function = (*build)->Finish();
  ASSERT_TRUE(function.ok()) << function.status();
  float a = 1, b = 2, c = 0;
  const std::array<void*, 3> tensors = {&a, &b, &c};
  (*function)(tensors.data(), nullptr, 3, 4, nullptr, 0);
  EXPECT_EQ(c, 4321);
}

// One loop, with a move and a store to the stack that nobody asked for.
TEST(HeaderBuildTest, TheCompiledLoopsAreLookedAt) {
  const absl::StatusOr<std::string> compiler = FindCompiler("");
  if (!compiler.ok()) GTEST_SKIP() << compiler.status();
  LoopProgram program;
  program.name = "waste";
  program.tensors = {{"a"}, {"b"}, {"c"}};
  const auto build = HeaderBuild::Start(
      "static inline void waste(const float* a, const float* b, float* c) {\n"
      "  for (int i = 0; i < 100; ++i)\n"
      "    __asm__ volatile(\"vmovaps %%ymm1, %%ymm2\\n vmovups %%ymm2, -64(%%rsp)\\n\"\n"
      "                     \" vmovups %%ymm2, (%0)\\n\"\n"
      "                     : : \"r\"(c) : \"memory\", \"xmm2\");\n}\n",
      program, HeaderMode::kBare, *compiler);
  ASSERT_TRUE(build.ok()) << build.status();
  ASSERT_TRUE((*build)->Finish().ok());
  const absl::StatusOr<std::string> code = (*build)->MachineCode();
  ASSERT_TRUE(code.ok()) << code.status();
  const absl::StatusOr<HotLoops> loops = FindHotLoops(*code);
  ASSERT_TRUE(loops.ok()) << loops.status();
  EXPECT_EQ(loops->loops, 1);
  EXPECT_EQ(loops->spills, 1);
  EXPECT_EQ(loops->register_moves, 1);
}

}  // namespace
}  // namespace kirsch
