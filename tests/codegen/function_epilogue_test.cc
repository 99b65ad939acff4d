// SPDX-License-Identifier: Apache-2.0
// Functions in epilogues: what they make of every kind of number, in every place of a tile, and that a kernel
// with another one is found out.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "codegen/llvm/jit.h"
#include "codegen/lower.h"
#include "codegen/verify/known_contraction.h"
#include "codegen/verify/verify.h"
#include "codegen/verify/verify_ladder.h"
#include "cost/cost_model.h"
#include "memo/hash_memo.h"
#include "search/solver/search.h"
#include "spec/graph/epilogue_program.h"
#include "spec/language/parser.h"
#include "spec/meaning/elementwise.h"
#include "spec/operation.h"
#include "spec/text/cat.h"
#include "tests/testing/kernel_header.h"
#include "tests/testing/on_target_test.h"
#include "tests/testing/plain_kernel.h"
#include "tests/testing/targets.h"

namespace kirsch {
namespace {

// Steps of more than one instruction, with their usual numbers.
const std::vector<std::string> kFunctions = [] {
  std::vector<std::string> functions;
  for (const OperationInfo& info : kOperations)
    if (IsStep(info.op) && IsComposed(info.op))
      functions.push_back(Cat(info.name, info.option.name.empty() ? "" : Cat(":", info.option.usual)));
  return functions;
}();

Spec Parsed(const std::string& text) {
  const absl::StatusOr<ParsedSpec> parsed = ParseSpec(text);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  return parsed->spec;
}

class FunctionEpilogueTest : public testing::OnTargetTest {
 protected:
  Impl Best(const Spec& spec) const {
    const CostModel model(GetParam());
    HashMemo memo;
    return Search(PlaceOperands(spec, Residency::kWarm, GetParam()), model, memo, {}).impl;
  }
  void Verify(const std::string& text, bool header = false) const {
    VerifyOptions options;
    options.header = header;
    const VerifyReport report = VerifyKernel(Best(Parsed(text)), GetParam(), options);
    EXPECT_TRUE(report.ok) << text << ": " << report.first_mismatch;
  }
};
INSTANTIATE_TEST_SUITE_P(, FunctionEpilogueTest,
                         ::testing::Values(testing::Avx2Target(), testing::Avx512DotTarget()),
                         [](const auto& info) { return info.index == 0 ? "Avx2" : "Avx512"; });

// Zeros, infinities, NaN, subnormals, the limits of every function, and floats of all exponents.
std::vector<float> Arguments() {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::vector<float> arguments = {0,       kInfinity, std::nanf(""), 1e-45f, 1e-39f, 1.17549435e-38f,
                                  3.4e38f, 0.5f,      0.55f,         0.925f, 3.95f,  10,
                                  17,      87.3f,     88.722f,       88.73f, 89,     100,
                                  103.9f,  104.1f};
  std::mt19937 random(1);
  for (int i = 0; i < 3000; ++i)
    arguments.push_back(std::bit_cast<float>(static_cast<uint32_t>(random()) & 0x7fffffff));
  for (int i = 0; i < 3000; ++i) arguments.push_back(static_cast<float>(random()) * 0x1p-29f);
  const size_t positive = arguments.size();
  for (size_t i = 0; i < positive; ++i) arguments.push_back(-arguments[i]);
  return arguments;
}

// A product with ones: the functions see what lhs has. (But no -0, which the sum with 0 is not.)
TEST_P(FunctionEpilogueTest, AreWithinTheirBoundsForAllKindsOfNumbers) {
  constexpr int64_t kColumns = 19;
  const std::vector<float> lhs = Arguments(), rhs(kColumns, 1.0f);
  for (const std::string& function : kFunctions) {
    const Spec spec = Parsed(Cat("matmul f32 ", lhs.size(), "x1x", kColumns, " epilogue=", function));
    const LoopProgram program = Lower(Best(spec), GetParam(), "kernel");
    const auto jit = JitCompile(program, GetParam());
    ASSERT_TRUE(jit.ok()) << jit.status();
    std::vector<float> out(lhs.size() * kColumns, -7.5f);
    std::vector<char> scratch(static_cast<size_t>(program.scratch_bytes) + 64);
    void* const aligned = scratch.data() + (64 - reinterpret_cast<uintptr_t>(scratch.data()) % 64);
    (*jit)->function()(lhs.data(), rhs.data(), out.data(), aligned, 0, 1);
    for (size_t i = 0; i < out.size(); ++i) {
      const float x = lhs[i / kColumns];
      const Uncertain expected = Apply(RowProgramOf(spec), {x, 0}, [](int) { return 0; });
      if (std::isinf(expected.error) || out[i] == expected.value) continue;
      if (std::isnan(expected.value)) {
        ASSERT_TRUE(std::isnan(out[i])) << function << " of " << x << ": " << out[i];
      } else {
        ASSERT_LE(std::abs(out[i] - expected.value), expected.error) << function << " of " << x;
      }
    }
  }
}

// -0 comes from a step.
TEST_P(FunctionEpilogueTest, KeepTheSignOfZero) {
  const float zero = 0, one = 1;
  for (const char* function : {"tanh", "erf", "silu", "hardswish", "elu:1"}) {
    const LoopProgram program =
        Lower(Best(Parsed(Cat("matmul f32 1x1x1 epilogue=mul:-1,", function))), GetParam(), "kernel");
    const auto jit = JitCompile(program, GetParam());
    ASSERT_TRUE(jit.ok()) << jit.status();
    float out = 1;
    (*jit)->function()(&zero, &one, &out, nullptr, 0, 1);
    EXPECT_EQ(std::bit_cast<uint32_t>(out), 0x80000000u) << function;
  }
}

// Alone, after steps and before others; where rows end in masks; and where tiles are of other forms.
TEST_P(FunctionEpilogueTest, EveryPlaceOfATileIsRight) {
  for (const std::string& function : kFunctions) {
    for (const char* sizes : {"1x1x1", "1x7x50", "3x5x8", "13x4x31", "29x3x35", "50x9x1"}) {
      Verify(Cat("matmul f32 ", sizes, " epilogue=", function));
      Verify(Cat("matmul f32 ", sizes, " epilogue=mul:0.25,add:n,", function, ",mul:mn,sub:m"));
    }
    Verify(Cat("matmul f32 5x40x6 rhs=col epilogue=", function, ",mul:n"));
    Verify(Cat("matmul f32 9x10x21 out=col epilogue=add:n,", function));
  }
}

TEST_P(FunctionEpilogueTest, EveryOutputTypeIsRight) {
  for (const std::string& function : kFunctions) {
    for (const char* types : {"bf16*bf16->f32", "bf16", "f16*f16->f32"})
      Verify(Cat("matmul ", types, " 9x12x21 epilogue=mul:0.125,", function));
    for (const char* types : {"u8*s8->u8", "u8*s8->s8", "u8*s8->s16", "u8*s8->f32", "u8*s8->bf16"})
      Verify(Cat("matmul ", types, " 9x12x21 epilogue=add:n,f32,mul:0.001,", function, ",mul:20"));
  }
}

TEST_P(FunctionEpilogueTest, HeadersAreRight) {
  Verify("matmul f32 15x20x37 epilogue=add:n,gelu,tanh,mul:mn", true);
  Verify("matmul bf16 15x20x37 epilogue=silu,erf,leaky_relu:n", true);
  Verify("matmul f32 15x20x37 epilogue=elu:n,add:m,softplus,sub:1,hardswish", true);
  Verify("matmul u8*s8->s8 15x20x37 epilogue=f32,mul:0.01,gelu_tanh,exp,sigmoid,mul:100", true);
}

TEST_P(FunctionEpilogueTest, TheKernelOfAnotherFunctionIsFoundOut) {
  const std::string matmul = "matmul f32 20x30x40 epilogue=mul:0.25,";
  for (const std::string& function : kFunctions) {
    const ContractionProblem problem(Parsed(matmul + function));
    Ladder ladder(problem, PlanTrials(problem, 1, 1));
    for (const std::string& other : kFunctions) {
      const LoopProgram program = Lower(Best(Parsed(matmul + other)), GetParam(), "kernel");
      const auto jit = JitCompile(program, GetParam());
      ASSERT_TRUE(jit.ok()) << jit.status();
      const Kernel kernel = testing::CompiledKernel(**jit, program);
      EXPECT_EQ(ladder.Climb(kernel, 5).outcome,
                function == other ? RungOutcome::kPassed : RungOutcome::kFailed)
          << other << " for " << function;
    }
  }
}

}  // namespace
}  // namespace kirsch
