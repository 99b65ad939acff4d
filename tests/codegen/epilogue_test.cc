// SPDX-License-Identifier: Apache-2.0
// Epilogues: their text, what they compute, where programs do it, and with which instructions.
#include "spec/epilogue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "codegen/llvm/emit.h"
#include "codegen/llvm/host_cpu.h"
#include "codegen/llvm/jit.h"
#include "codegen/lower.h"
#include "codegen/verify/known_contraction.h"
#include "codegen/verify/verify_ladder.h"
#include "cost/cost_model.h"
#include "memo/hash_memo.h"
#include "rewrites/spec/rewrite.h"
#include "search/solver/search.h"
#include "spec/element.h"
#include "spec/graph/epilogue_program.h"
#include "spec/language/parser.h"
#include "spec/language/printer.h"
#include "spec/meaning/elementwise.h"
#include "spec/text/cat.h"
#include "tests/testing/plain_kernel.h"
#include "tests/testing/random_spec.h"
#include "tests/testing/targets.h"

namespace kirsch {
namespace {

Spec Parsed(const std::string& text) {
  const absl::StatusOr<ParsedSpec> parsed = ParseSpec(text);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  return parsed->spec;
}

std::string ErrorOf(const std::string& text) { return std::string(ParseSpec(text).status().message()); }

TEST(EpilogueTest, PrintsWhatItReads) {
  for (const char* text :
       {"matmul f32 8x8x8 epilogue=add:n,relu", "matmul u8*s8->u8 8x9x10 epilogue=f32,mul:n,add:3",
        "matmul s8 8x9x10 epilogue=add:n,mul:-7,f32,mul:0.0125,sub:m,max:-5.5,min:scalar",
        "matmul f32 8x8x8 epilogue=leaky_relu:0.01,exp,tanh,erf,sigmoid,silu,gelu,gelu_tanh",
        "matmul f32 8x8x8 epilogue=hardswish,elu:1,softplus,elu:n",
        "matmul u8*s8->s8 8x8x8 epilogue=f32,leaky_relu:n,gelu",
        "matmul bf16 8x9x10 out=col ldc=20 epilogue=add:mn",
        "matmul u8*s8->f32 8x9x10 epilogue=f32,mul:1e-20",
        "matmul bf16 8x9x10 accumulate epilogue=mul:n,relu",
        "conv2d u8*s8->u8 1x4x9x9 filters=8 kernel=3x3 layout=nhwc accumulate epilogue=add:n"}) {
    EXPECT_EQ(ParseSpec(text)->text, text);
    EXPECT_EQ(ParseSpec(text)->spec, Parsed(ParseSpec(text)->text));
  }
  EXPECT_EQ(ParseSpec("matmul f32 8x8x8 epilogue=max:0,add:-0,add:1.0")->text,
            "matmul f32 8x8x8 epilogue=relu,add:0,add:1");
}

TEST(EpilogueTest, ErrorsSayWhere) {
  EXPECT_EQ(ErrorOf("matmul f32 8x8x8 epilogue=add:q"),
            "spec:1:31: expected n, m, mn, scalar or a finite f32, got 'q'");
  EXPECT_EQ(ErrorOf("matmul s32 8x8x8 epilogue=add:1.5"),
            "spec:1:31: expected n, m, mn, scalar or an s32 (f32 before it makes it one), got '1.5'");
  EXPECT_EQ(ErrorOf("matmul f32 8x8x8 epilogue=relu,f32"),
            "spec:1:32: expected no conversion of what is f32 already, got 'f32'");
  EXPECT_EQ(ErrorOf("matmul f32 8x8x8 epilogue=add:n,add:n,add:n,add:m"),
            "spec:1:49: expected at most 3 operands in memory, got 'm'");
  EXPECT_EQ(ErrorOf("matmul u8*s8->f32 8x8x8 accumulate epilogue=f32,mul:n"),
            "spec:1:8: expected an output of integers, which sums of s32 can be added to, got 'u8*s8->f32'");
  EXPECT_EQ(ErrorOf("matmul bf16*bf16->u8 8x8x8 epilogue=relu accumulate"),
            "spec:1:8: expected an output of floats, which sums of f32 can be added to, got 'bf16*bf16->u8'");
  EXPECT_EQ(ErrorOf("conv2d f32*f32->s8 1x4x9x9 filters=8 kernel=3x3 layout=nhwc accumulate epilogue=relu"),
            "spec:1:8: expected an output of floats, which sums of f32 can be added to, got 'f32*f32->s8'");
  EXPECT_EQ(ErrorOf("matmul u8*s8->f32 8x8x8 epilogue=relu"),
            "spec:1:8: expected an output of s32, u8, s8 or s16 after an epilogue that ends in s32, got "
            "'u8*s8->f32'");
  EXPECT_EQ(ErrorOf("matmul s32 8x8x8 epilogue=relu,gelu,f32"),
            "spec:1:32: expected a function of an f32 only (f32 before it makes it one), got 'gelu'");
  EXPECT_EQ(ErrorOf("matmul f32 8x8x8 epilogue=relu,silu:2"),
            "spec:1:32: expected silu, without an operand, got 'silu:2'");
  EXPECT_EQ(
      ErrorOf("matmul f64 8x8x8 epilogue=relu,gelu"),
      "spec:1:32: expected add, sub, mul, max, min, relu, maxnum or minnum after sums of f64, got 'gelu'");
  EXPECT_EQ(ErrorOf("matmul f64*f64->f32 8x8x8 epilogue=relu"),
            "spec:1:8: expected an output of f64 after an epilogue that ends in f64, got 'f64*f64->f32'");
  EXPECT_EQ(ErrorOf("matmul f64 8x8x8 epilogue=add:1e999"),
            "spec:1:31: expected n, m, mn, scalar or a finite f64, got '1e999'");
  for (const char* step : {"", "relu:1", "f32:n", "add", "add:", "swish", "leaky_relu", "add:nan", "add:1e99",
                           "add:number", "mul:n:n"})
    EXPECT_NE(ErrorOf(std::string("matmul f32 8x8x8 epilogue=relu,") + step).find("spec:1:"),
              std::string::npos)
        << step;
}

// Functions take what is in memory by its name.
TEST(EpilogueTest, OperandsHaveNames) {
  for (const OperationInfo& info : kOperations) {
    if (!IsStep(info.op) || info.operands() != 2) continue;
    const Spec spec = Parsed(Cat("matmul f32 8x8x8 epilogue=", std::string(info.name), ":mn"));
    EXPECT_NE(EpilogueNames(spec.op_info().epilogue).front(), "") << info.name;
  }
}

// The value that an epilogue makes of one sum, as text says it.
double ValueOf(const std::string& types, const std::string& steps, double sum, double operand = 0) {
  const Spec spec = Parsed("matmul " + types + " 1x1x1 epilogue=" + steps);
  const auto at = [&](int) { return operand; };
  return Apply(RowProgramOf(spec), {sum, 0}, at).value;
}

TEST(EpilogueTest, IntegersWrapAndSaturate) {
  constexpr double kMost = std::numeric_limits<int32_t>::max();
  EXPECT_EQ(ValueOf("s32", "add:n", kMost, 1), std::numeric_limits<int32_t>::min());
  EXPECT_EQ(ValueOf("s32", "mul:65536", 65537), 65536);
  EXPECT_EQ(ValueOf("s32", "sub:n,max:-3,min:9", 5, 100), -3);
  EXPECT_EQ(ValueOf("u8*s8->u8", "add:n", 200, 100), 255);
  EXPECT_EQ(ValueOf("u8*s8->u8", "add:n", 5, -100), 0);
  EXPECT_EQ(ValueOf("u8*s8->s16", "add:n", 32760, 100), 32767);
}

TEST(EpilogueTest, FloatsRoundToNearestEvenAndSaturate) {
  for (int sum = -2000; sum <= 2000; ++sum) {
    const double half = sum * 0.5;  // many ties
    double even = std::floor(half);
    if (half - even > 0.5 || (half - even == 0.5 && std::fmod(even, 2) != 0)) ++even;
    EXPECT_EQ(ValueOf("u8*s8->s8", "f32,mul:0.5", sum), std::fmin(std::fmax(even, -128), 127)) << sum;
  }
  EXPECT_EQ(ValueOf("u8*s8->u8", "f32,mul:n", 1, std::nan("")), 0);
  EXPECT_EQ(ValueOf("u8*s8->s8", "f32,mul:n", 1, HUGE_VAL), 127);
  EXPECT_EQ(ValueOf("u8*s8->s8", "f32,mul:n", 1, std::nan("")), -128);
}

// 16777217 is no f32; nor is the square of 4097, but for what is added to it.
TEST(EpilogueTest, RoundsWhereItSays) {
  EXPECT_EQ(ValueOf("s32*s32->f32", "f32", 16777217), 16777216);
  EXPECT_EQ(ValueOf("f32", "mul:n", 4097, 4097), 16785408);
  EXPECT_EQ(ValueOf("f32", "mul:4097,add:-16785408", 4097), 1);
  EXPECT_EQ(ValueOf("f32", "mul:4097,max:0,add:-16785408", 4097), 0);
  EXPECT_EQ(ValueOf("f64", "mul:n", 4097, 4097), 16785409);
  EXPECT_EQ(ValueOf("f64", "add:0.1", 0), 0.1);
  EXPECT_EQ(ValueOf("f64", "mul:134217729,add:-18014398777917440", 134217729), 1);
}

// What a number of 64 bits is, in texts and in the keys of specs.
TEST(EpilogueTest, NumbersOfF64KeepAllTheirBits) {
  const std::string text = "matmul f64 8x8x8 epilogue=add:0.1,mul:-1e-300,max:3";
  EXPECT_EQ(PrintSpec(Parsed(text)), text);
  const Spec other = Parsed("matmul f64 8x8x8 epilogue=add:0.10000000000000001,mul:-1e-300,max:3");
  EXPECT_EQ(other.op, Parsed(text).op);
  const Spec next = Parsed("matmul f64 8x8x8 epilogue=add:0.10000000000000002,mul:-1e-300,max:3");
  EXPECT_NE(next.op, Parsed(text).op);
}

// The bound holds for whatever the sum may have been.
TEST(EpilogueTest, ErrorsAreBounds) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> any(-4, 4);
  for (Dtype type : {Dtype::kF32, Dtype::kF64, Dtype::kF16Sums})
    for (int round = 0; round < 20'000; ++round) {
      Spec sums = testing::MatmulSpec({});
      for (TensorSpec& operand : sums.operand) operand.dtype = type;
      const Spec spec = testing::WithRandomEpilogue(sums, &random);
      const double operand = RoundedTo(type, any(random)), sum = any(random),
                   error = PrecisionOf(type).unit * std::exp2(4 + any(random));
      const auto at = [&](int) { return operand; };
      const RowProgram program = RowProgramOf(spec);
      const auto applied = [&](double value, double off) { return Apply(program, {value, off}, at); };
      const Uncertain expected = applied(sum, error);
      if (std::isnan(expected.value) || std::isinf(expected.error)) continue;
      for (double share : {-1.0, -0.3, 0.0, 0.6, 1.0}) {
        const double rounded = RoundedTo(type, sum + share * error), value = applied(rounded, 0).value;
        // Both may be infinite.
        if (value == expected.value || std::abs(rounded - sum) > error) continue;
        EXPECT_LE(std::abs(value - expected.value), expected.error)
            << testing::Describe(spec) << " " << PrintEpilogue(spec.op_info().epilogue, type) << " of "
            << sum;
      }
    }
}

class EveryTarget : public ::testing::TestWithParam<Target> {
 protected:
  Impl Best(const Spec& spec) const {
    const CostModel model(GetParam());
    HashMemo memo;
    return Search(PlaceOperands(spec, Residency::kWarm, GetParam()), model, memo, {}).impl;
  }
  std::string Assembly(const std::string& text) const {
    return *EmitAssembly(Lower(Best(Parsed(text)), GetParam(), "kernel"), GetParam());
  }
};
INSTANTIATE_TEST_SUITE_P(, EveryTarget, ::testing::Values(testing::Avx2Target(), testing::Avx512DotTarget()),
                         [](const auto& info) { return info.index == 0 ? "Avx2" : "Avx512"; });

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_P(EveryTarget, RequantisingTakesTheInstructionsForIt) {
  const bool wide = GetParam().vectors.front().bytes == 64;
  const std::string code = Assembly("matmul u8*s8->u8 64x64x64 epilogue=f32,mul:n,add:3");
  EXPECT_TRUE(Contains(code, "vcvtdq2ps"));
  EXPECT_TRUE(Contains(code, "vfmadd")) << "the product is rounded";
  EXPECT_TRUE(Contains(code, "vcvtps2dq"));
  EXPECT_TRUE(Contains(code, wide ? "vpmov" : "vpack"));
  EXPECT_FALSE(Contains(code, "vmulps"));
  const std::string relu = Assembly("matmul f32 64x64x64 epilogue=add:n,relu");
  EXPECT_TRUE(Contains(relu, "vaddps"));
  EXPECT_TRUE(Contains(relu, "vmaxps"));
  EXPECT_FALSE(Contains(relu, "vcmp"));
}

// The last of the pieces of a reduction does it, and no other.
TEST_P(EveryTarget, ASplitReductionEndsWithIt) {
  Decision decision;
  decision.kind = RewriteKind::kTile;
  decision.dim = MatmulDims::kK;
  for (const auto& [accumulate, size] :
       {std::pair(false, 512u), {false, 350u}, {false, 100u}, {true, 512u}, {true, 100u}}) {
    Spec spec = Parsed("matmul f32 100x700x100 epilogue=add:n,relu");
    spec.accumulate = accumulate;
    const Impl impl{PlaceOperands(spec, Residency::kWarm, GetParam()), {}, {}};
    decision.size = size;
    Expansion expansion;
    Expand(impl.spec, decision, GetParam(), &expansion);
    int64_t steps = 0, with = 0;
    for (int i = 0; i < expansion.num_children; ++i) {
      const Expansion::Child& child = expansion.children[static_cast<size_t>(i)];
      steps += child.trips * child.spec.size[MatmulDims::kK];
      with += child.spec.op == spec.op ? child.trips : 0;
      EXPECT_EQ(child.spec.op == spec.op, i + 1 == expansion.num_children);
      EXPECT_EQ(child.spec.accumulate, accumulate || i > 0);
    }
    EXPECT_EQ(steps, 700);
    EXPECT_EQ(with, 1);
  }
}

TEST_P(EveryTarget, PruningLosesNothing) {
  std::mt19937_64 random(5);
  const CostModel model(GetParam());
  SearchOptions exhaustive;
  exhaustive.prune = false;
  for (int round = 0; round < 40; ++round) {
    const Spec plain = testing::RandomMatmulSpec({.max_side = 24, .max_batch = 1}, &random);
    const Spec spec = PlaceOperands(testing::WithRandomEpilogue(plain, &random),
                                    round % 2 == 0 ? Residency::kWarm : Residency::kCold, GetParam());
    HashMemo memo, all;
    EXPECT_EQ(Search(spec, model, memo, {}).cost, Search(spec, model, all, exhaustive).cost)
        << testing::Describe(spec);
  }
}

// Of an element of out before the run and the sum of products, as the compiler of this test sees it.
struct AccumulatingCase {
  const char* text;
  double (*expected)(double before, double sum, double bias);
};

double ReluOfTwice(double before, double sum, double bias) {
  return std::max(2 * (before + sum) + bias, 0.0);
}
double Negated(double before, double sum, double) { return -3 * (before + sum); }
double Saturated(double before, double sum, double bias) {
  return std::clamp(before + sum + bias, -128.0, 127.0);
}

// Small whole numbers, of which every type has all.
template <typename Element>
std::vector<Element> Whole(size_t count, int from, int to, std::mt19937* random) {
  std::vector<Element> elements(count);
  for (Element& element : elements)
    element = static_cast<Element>(from + static_cast<int>((*random)() % static_cast<uint32_t>(to - from)));
  return elements;
}

template <typename Lhs, typename Rhs, typename Out, typename Bias>
void ExpectAccumulates(const AccumulatingCase& accumulating, const Impl& impl, const Target& target) {
  constexpr int64_t kM = 9, kK = 70, kN = 37;
  std::mt19937 random(4);
  const int least = std::is_unsigned_v<Lhs> ? 0 : -4;
  const auto lhs = Whole<Lhs>(kM * kK, least, 5, &random);
  const auto rhs = Whole<Rhs>(kK * kN, -4, 5, &random);
  const auto before = Whole<Out>(kM * kN, -100, 100, &random);
  const auto bias = Whole<Bias>(kN, -9, 9, &random);
  std::vector<Out> out = before;
  const LoopProgram program = Lower(impl, target, "kernel");
  const auto jit = JitCompile(program, target);
  ASSERT_TRUE(jit.ok()) << jit.status();
  const Kernel kernel = testing::CompiledKernel(**jit, program);
  std::vector<std::byte> scratch(static_cast<size_t>(kernel.scratch_bytes) + 64);
  void* memory = scratch.data();
  size_t space = scratch.size();
  std::vector<void*> tensors = {const_cast<Lhs*>(lhs.data()), const_cast<Rhs*>(rhs.data()), out.data()};
  if (impl.spec.op_info().num_operands > 3) tensors.push_back(const_cast<Bias*>(bias.data()));
  kernel.run({tensors, std::align(64, space - 64, memory, space)});
  for (int64_t i = 0; i < kM * kN; ++i) {
    double sum = 0;
    for (int64_t p = 0; p < kK; ++p)
      sum += static_cast<double>(lhs[static_cast<size_t>(i / kN * kK + p)]) *
             static_cast<double>(rhs[static_cast<size_t>(p * kN + i % kN)]);
    const auto at = static_cast<size_t>(i);
    const double expected = accumulating.expected(before[at], sum, bias[static_cast<size_t>(i % kN)]);
    ASSERT_EQ(static_cast<double>(out[at]), expected) << accumulating.text << ", element " << i;
  }
}

TEST_P(EveryTarget, WhatIsAccumulatedGoesThroughIt) {
  const std::string missing = MissingOnHost(GetParam().features);
  if (!missing.empty()) GTEST_SKIP() << "this host lacks " << missing;
  for (const AccumulatingCase& floats : {AccumulatingCase{"epilogue=mul:2,add:n,relu", ReluOfTwice},
                                         {"rhs=row epilogue=mul:-3", Negated},
                                         {"fixed-order epilogue=mul:-3", Negated}}) {
    const Spec spec = Parsed(std::string("matmul f32 9x70x37 accumulate ") + floats.text);
    ExpectAccumulates<float, float, float, float>(floats, Best(spec), GetParam());
  }
  const AccumulatingCase bytes{"epilogue=add:n", Saturated};
  ExpectAccumulates<uint8_t, int8_t, int8_t, int32_t>(
      bytes, Best(Parsed("matmul u8*s8->s8 9x70x37 accumulate epilogue=add:n")), GetParam());
}

TEST_P(EveryTarget, TheKernelOfAnotherEpilogueIsFoundOut) {
  const std::string missing = MissingOnHost(GetParam().features);
  if (!missing.empty()) GTEST_SKIP() << "this host lacks " << missing;
  const std::string matmul = "matmul f32 20x30x40 epilogue=";
  const Spec spec = Parsed(matmul + "mul:n,add:m,relu");
  const auto outcome = [&](const std::string& epilogue) {
    const LoopProgram program = Lower(Best(Parsed(matmul + epilogue)), GetParam(), "kernel");
    const auto jit = JitCompile(program, GetParam());
    const Kernel kernel = testing::CompiledKernel(**jit, program);
    const ContractionProblem problem(spec);
    return Ladder(problem, PlanTrials(problem, 1, 1)).Climb(kernel, 5).outcome;
  };
  EXPECT_EQ(outcome("mul:n,add:m,relu"), RungOutcome::kPassed);
  for (const char* wrong : {"mul:n,add:m", "mul:n,sub:m,relu", "mul:n,relu", "mul:n,add:m,max:0.5",
                            "mul:n,add:m,relu accumulate"})
    EXPECT_EQ(outcome(wrong), RungOutcome::kFailed) << wrong;
}

}  // namespace
}  // namespace kirsch
