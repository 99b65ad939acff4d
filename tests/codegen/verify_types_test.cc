// SPDX-License-Identifier: Apache-2.0
// Verification for every combination of element types: right kernels pass, wrong ones are told apart, and
// every tolerance has one that it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "codegen/verify/known_contraction.h"
#include "codegen/verify/verify_data.h"
#include "codegen/verify/verify_ladder.h"
#include "spec/element.h"
#include "tests/testing/plain_kernel.h"
#include "tests/testing/random_spec.h"

namespace kirsch {
namespace {

using testing::Flaw;
using ::testing::HasSubstr;
using testing::MatmulSpec;
using testing::PlainKernel;

constexpr size_t kAll = 100;
constexpr MatmulTypes kBytes = {Dtype::kU8, Dtype::kS8, Dtype::kS32};
constexpr MatmulTypes kSaturating = {Dtype::kU8, Dtype::kS8, Dtype::kS16};
constexpr MatmulTypes kBf16 = {Dtype::kBf16, Dtype::kBf16, Dtype::kBf16};

// One run. Sampled: three rows or so are compared, the first and the last among them.
TrialPlan PlanOf(InputKind kind, bool sampled = false) { return {sampled ? 3 : 1000, {{.kind = kind}}}; }

RungReport Climb(const Spec& spec, const TrialPlan& plan, const Kernel& kernel) {
  return Ladder(ContractionProblem(spec), plan).Climb(kernel, kAll);
}

bool Passes(const Spec& spec, InputKind kind, const Flaw& flaw, bool sampled = false) {
  return Climb(spec, PlanOf(kind, sampled), PlainKernel(spec, flaw)).outcome == RungOutcome::kPassed;
}

Spec Some(const MatmulTypes& types) { return MatmulSpec({.m = 20, .k = 50, .n = 20, .types = types}); }
Spec Tall(const MatmulTypes& types) { return MatmulSpec({.m = 400, .k = 50, .n = 20, .types = types}); }

class EveryTypes : public ::testing::TestWithParam<MatmulTypes> {
 protected:
  // What `kernel`, right for another spec, comes to on this one.
  static RungReport On(const Spec& spec, const Spec& other) {
    return Climb(spec, PlanOf(InputKind::kIntegers), PlainKernel(other));
  }
  const Spec spec_ = MatmulSpec({.m = 40,
                                 .k = 37,
                                 .n = 21,
                                 .rhs = Order::kCol,
                                 .lhs_gap = 1,
                                 .rhs_gap = 2,
                                 .out_gap = 3,
                                 .accumulate = true,
                                 .types = GetParam()});
};
INSTANTIATE_TEST_SUITE_P(, EveryTypes, ::testing::ValuesIn(testing::EveryTypes()),
                         [](const auto& info) { return testing::NameOf(info.param); });

TEST_P(EveryTypes, TheRightKernelPassesAllRuns) {
  TrialPlan plan = PlanTrials(ContractionProblem(spec_), 40, 1);
  EXPECT_EQ(plan.trials.size(), 5u);
  for (int64_t rows : {int64_t{40}, int64_t{3}}) {
    plan.most_rows = rows;
    const RungReport report = Climb(spec_, plan, PlainKernel(spec_));
    EXPECT_EQ(report.outcome, RungOutcome::kPassed) << report.text;
  }
}

// As a kernel that leaves out the rest of a group does.
TEST_P(EveryTypes, TheLastProductDroppedIsSeen) {
  const auto dropped = [](int64_t, int64_t, int64_t p, double product) { return p == 36 ? 0 : product; };
  for (InputKind kind : {InputKind::kIntegers, InputKind::kSpread, InputKind::kFullRange})
    if (Suits(spec_, kind)) {
      EXPECT_FALSE(Passes(spec_, kind, {.product = dropped}));
    }
}

// In a row that is not compared: Freivalds' check finds it, unless rounding or saturation may have hidden it.
TEST_P(EveryTypes, AProductDroppedBetweenComparedRowsIsSeen) {
  const Dtype out = GetParam().out;
  const auto dropped = [](int64_t i, int64_t j, int64_t p, double product) {
    return i == 123 && j == 7 && p == 49 ? 0 : product;
  };
  for (InputKind kind : {InputKind::kIntegers, InputKind::kFullRange}) {
    const bool linear = out != Dtype::kBf16 && (out != Dtype::kS16 || kind == InputKind::kIntegers);
    if (Suits(spec_, kind)) {
      EXPECT_EQ(Passes(Tall(GetParam()), kind, {.product = dropped}, true), !linear);
    }
  }
}

TEST_P(EveryTypes, ForgettingThePriorOutputIsSeen) {
  Spec overwrite = spec_;
  overwrite.accumulate = false;
  EXPECT_EQ(On(spec_, overwrite).outcome, RungOutcome::kFailed);
}

TEST_P(EveryTypes, AColumnLeftUnwrittenIsSeen) {
  Spec overwrite = spec_;
  overwrite.accumulate = false;
  Spec narrower = overwrite;
  narrower.size[MatmulDims::kN] = 20;
  EXPECT_EQ(On(overwrite, narrower).outcome, RungOutcome::kFailed);
}

TEST_P(EveryTypes, ComputingFromBetweenTheRowsIsSeen) {
  Spec longer = spec_;
  longer.size[MatmulDims::kK] = 38;
  const TrialPlan in_place = {1000, {{.placement = Placement::kAtStart}}};
  EXPECT_THAT(Climb(spec_, in_place, PlainKernel(longer)).text, HasSubstr("out[0][0][0]: expected"));
}

TEST_P(EveryTypes, LeavingTheBuffersIsSeen) {
  Spec taller = spec_;
  taller.size[MatmulDims::kM] = 41;
  EXPECT_THAT(On(spec_, taller).text, HasSubstr("after the end of"));
}

TEST_P(EveryTypes, WritingBetweenTheRowsIsSeen) {
  Spec wider = MatmulSpec({.m = 4, .k = 3, .n = 6, .rhs_gap = 1, .out_gap = 1, .types = GetParam()});
  const Spec spec = MatmulSpec({.m = 4, .k = 3, .n = 5, .rhs_gap = 2, .out_gap = 2, .types = GetParam()});
  const TrialPlan in_place = {1000, {{.placement = Placement::kAtStart}}};
  EXPECT_THAT(Climb(spec, in_place, PlainKernel(wider)).text, HasSubstr("wrote b"));
}

double Saturated(double x) { return std::clamp(x, -32768.0, 32767.0); }

// Sums in 16 bits, as vpmaddubsw has them.
TEST(WrongIntegers, SaturatedOnTheWayAreSeen) {
  for (const MatmulTypes& types : {kBytes, kSaturating}) {
    EXPECT_FALSE(Passes(Some(types), InputKind::kFullRange, {.sum = Saturated}));
  }
}

TEST(WrongIntegers, WrappedInsteadOfSaturatedAreSeen) {
  const auto wrap = [](int64_t, int64_t, double value) -> double {
    return static_cast<int16_t>(static_cast<uint16_t>(static_cast<int32_t>(value)));
  };
  EXPECT_FALSE(Passes(Some(kSaturating), InputKind::kFullRange, {.value = wrap}));
}

TEST(WrongIntegers, OneOffAreSeen) {
  const auto off = [](int64_t i, int64_t j, double value) { return i == 123 && j == 4 ? value + 1 : value; };
  for (bool sampled : {false, true}) {
    const Spec spec = Tall({Dtype::kS32, Dtype::kS32, Dtype::kS32});
    EXPECT_TRUE(Passes(spec, InputKind::kFullRange, {}, sampled));
    EXPECT_FALSE(Passes(spec, InputKind::kFullRange, {.value = off}, sampled));
  }
}

TEST(WrongIntegers, TheWrongSignOfBytesIsSeen) {
  const Spec spec = Some(kBytes);
  Spec signed_lhs = spec;
  signed_lhs.operand[MatmulDims::kLhs].dtype = Dtype::kS8;
  EXPECT_EQ(Climb(spec, PlanOf(InputKind::kFullRange), PlainKernel(signed_lhs)).outcome,
            RungOutcome::kFailed);
}

TEST(WrongBf16, TruncatedInsteadOfRoundedIsSeen) {
  const auto truncate = [](int64_t, int64_t, double value) -> double {
    return std::bit_cast<float>(std::bit_cast<uint32_t>(static_cast<float>(value)) & 0xffff0000u);
  };
  EXPECT_FALSE(Passes(Some(kBf16), InputKind::kIntegers, {.value = truncate}));
}

TEST(WrongBf16, SumsInBf16AreSeen) {
  const auto to_bf16 = [](double sum) -> double { return Widen(ToBf16(static_cast<float>(sum))); };
  for (Dtype out : {Dtype::kBf16, Dtype::kF32})
    for (InputKind kind : {InputKind::kIntegers, InputKind::kUniform, InputKind::kSpread})
      EXPECT_FALSE(Passes(Some({Dtype::kBf16, Dtype::kBf16, out}), kind, {.sum = to_bf16}));
}

// A weighted sum of a row may be off by the rounding of its elements, and by no more.
TEST(WrongBf16, AWrongRowBetweenThoseComparedIsSeen) {
  const auto wrong = [](int64_t i, int64_t, double value) { return i == 123 ? -value : value; };
  for (InputKind kind : {InputKind::kIntegers, InputKind::kUniform}) {
    EXPECT_TRUE(Passes(Tall(kBf16), kind, {}, true));
    EXPECT_FALSE(Passes(Tall(kBf16), kind, {.value = wrong}, true));
  }
}

// The nearest bf16 of the exact sum is right; the second beside it is not.
TEST(Bf16Output, WhatIsFartherThanRoundingExplainsIsRefused) {
  const Spec spec = MatmulSpec({.m = 1, .k = 30, .n = 50, .types = kBf16});
  const ContractionProblem problem(spec);
  const Oracle oracle = problem.Expect(InputKind::kUniform,
                                       Operands::Create(problem, {.kind = InputKind::kUniform})->pointers(),
                                       problem.outputs().front(), {0});
  for (size_t element = 0; element < 50; ++element)
    for (int off : {-2, 0, 2}) {
      std::vector<Bf16> out(50);
      for (size_t j = 0; j < 50; ++j) out[j] = ToBf16(static_cast<float>(oracle.value[j]));
      out[element].bits = static_cast<uint16_t>(out[element].bits + off);
      double max_error = 0;
      EXPECT_EQ(CheckRows(problem.outputs().front(), oracle, out.data(), &max_error).ok(), off == 0)
          << element << " " << off;
    }
}

TEST(ToleranceTest, CountsTheRoundingOfTheOutputAndWhatIsFlushed) {
  const auto tolerance = [](Dtype inputs, Dtype out) {
    return ToleranceOf(MatmulSpec({.k = 512, .types = {inputs, inputs, out}}));
  };
  const Tolerance f32 = tolerance(Dtype::kF32, Dtype::kF32), bf16 = tolerance(Dtype::kBf16, Dtype::kF32),
                  narrow = tolerance(Dtype::kBf16, Dtype::kBf16), s8 = tolerance(Dtype::kS8, Dtype::kS32);
  EXPECT_EQ(f32.absolute, 0);
  EXPECT_EQ(bf16.sums, f32.sums);
  EXPECT_EQ(bf16.output, 0);
  EXPECT_EQ(bf16.absolute, 512 * 0x1p-126);
  EXPECT_EQ(narrow.output, 0x1p-8);
  EXPECT_EQ(narrow.Of(-3, 10), 10 * f32.sums + 0x1p-8 * (3 + 10 * f32.sums) + narrow.absolute);
  EXPECT_EQ(s8.Of(1e9, 1e9), 0);
}

}  // namespace
}  // namespace kirsch
