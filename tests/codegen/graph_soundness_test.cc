// SPDX-License-Identifier: Apache-2.0
// Graphs whose plans went wrong once, each standing for a kind: residuals, reductions along outer axes, sides
// of 1, values of one element, and functions on short rows.
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "codegen/c/compilation.h"
#include "spec/language/contraction_graph.h"
#include "spec/meaning/interpreter.h"
#include "spec/program/plan_program.h"
#include "spec/text/cat.h"
#include "tests/testing/plan_testing.h"
#include "tests/testing/random_graph.h"

namespace kirsch::testing {
namespace {

// How a program uses its memory wrongly, its inputs being zeros, as the interpreter finds out; empty: it does
// not.
std::string MemoryError(const Program& program, int threads) {
  std::vector<std::vector<char>> memory(program.buffers.size());
  std::vector<void*> callers(program.buffers.size());
  for (size_t i = 0; i < callers.size(); ++i) {
    if (program.buffers[i].memory != Memory::kCaller) continue;
    memory[i].resize(static_cast<size_t>(program.buffers[i].bytes));
    callers[i] = memory[i].data();
  }
  const absl::Status status = Interpret(program, callers, threads);
  return status.ok() ? "" : status.ToString();
}
std::string MemoryError(const Plan& plan, const Target& target, int threads) {
  return MemoryError(WriteProgram(plan, target), threads);
}

// One by one, fused, and on two threads that cost nothing.
void VerifiedInEveryWay(const std::string& text, const Target& target) {
  EXPECT_EQ(MemoryError(VerifiedPlan(text, target, 1, false, false), target, 1), "") << text;
  EXPECT_EQ(MemoryError(VerifiedPlan(text, target), target, 1), "") << text;
  EXPECT_EQ(MemoryError(VerifiedPlan(text, WithFreeThreads(target), 2), target, 2), "") << text;
}

// An operation beside the matmul is no step of its epilogue.
TEST_P(PlanTest, ResidualsMayBeFunctions) {
  for (const char* other : {"relu(r)", "sigmoid(r)", "mul(r, 2)", "exp(b)", "neg(relu(r))"})
    for (const char* op : {"add", "mul", "sub"})
      VerifiedInEveryWay(Cat("kernel a(x: f32[31,32], w: f32[32,32], r: f32[31,32], b: f32[32]):\n return ",
                             op, "(matmul(x, w), ", other, ")"),
                         target_);
  VerifiedInEveryWay("kernel a(p: f32[1,1], x: f32[1,1]):\n return add(matmul(p, p), relu(x))", target_);
}

// Rows of all phases are shared, also the last ones, which some phases do not have; nchw is not shared.
TEST_P(PlanTest, TransposedConvolutionsAreShared) {
  for (const char* layout : {"nhwc", "nchw"})
    for (const char* rest :
         {"1x5x8x6 filters=20 kernel=3x3 stride=2 pad=1", "2x5x7x6 filters=8 kernel=2x4 stride=4x3",
          "1x3x6x5 filters=7 kernel=3x2 stride=1x2 dilation=2 const-filters"})
      VerifiedInEveryWay(Cat("conv2d_transpose f32 ", rest, " layout=", layout), target_);
  VerifiedInEveryWay("conv3d_transpose f32 2x3x3x4x5 filters=4 kernel=3x2x3 stride=2 layout=ndhwc", target_);
}

// An operand of the epilogue lies there as the type that it has, so another type's is no operand of one.
TEST_P(PlanTest, ResidualsMayBeOfNarrowTypes) {
  for (const char* text :
       {"kernel a(x: bf16[4,32], w: f32[4,4], r: bf16[4,32]):\n return max(matmul(w, x), r)",
        "kernel a(x: u8[32,2], w: s8[2,31], r: f16[1,31]):\n return mul(cast(matmul(x, w), f32), r)"}) {
    EXPECT_FALSE(AsContraction(GraphOf(text), "test").ok()) << text;
    VerifiedInEveryWay(text, target_);
  }
}

// Sums of integers are modulo 2^32, whatever they are sums of.
TEST_P(PlanTest, IntegersWrapAround) {
  VerifiedPlan(
      "kernel a(x: u8[1,32], w: s8[32,32]):\n v = matmul(x, w)\n return cast(matmul(v, transpose(v)), f32)",
      target_);
}

// Numbers that only the reference's doubles hold.
TEST_P(PlanTest, WhatOverflowsMayBeAnything) {
  VerifiedPlan("kernel a(x: u8[32,32], w: s8[32,32]):\n return cast(cast(cast(matmul(x, w), f32), f16), f32)",
               target_);
  VerifiedPlan("kernel a(x: f32[2,17,2]):\n return gelu(mul(exp(mul(x, 100)), exp(mul(x, 100))))", target_);
}

// Rows of what a reduction down the columns reads are not those of what it makes.
TEST_P(PlanTest, OuterReductionsMayBeFactors) {
  for (const char* text : {
           "kernel a(x: f32[64,128], w: f32[128,8]):\n return matmul(reduce_sum(x, axis=0), w)",
           "kernel a(x: f32[64,17], w: f32[17,8]):\n return matmul(softmax(reduce_max(x, axis=0)), w)",
           "kernel a(x: f32[3,9,17], w: f32[3,17,8]):\n return matmul(reduce_mean(x, axis=1), w)",
           "kernel a(x: f16[1,2], w: const f32[2,2]):\n"
           " return cast(matmul(w, transpose(reduce_max(x, axis=0))), f32)",
           "kernel a(x: f32[1,40], w: f32[9,40]):\n return matmul(w, transpose(reduce_sum(x, axis=0)))",
           "kernel a(x: f32[3,9,17], w: f32[1,17,8]):\n return matmul(reduce_sum(x, axis=0, axis=1), w)",
           "kernel a(x: f32[9,5], w: f32[1,8]):\n return matmul(reduce_sum(x, axis=0, axis=1), w)",
           "kernel a(a: f32[1,5], b: f32[5,1], c: f32[5,13]):\n"
           " return sub(reduce_max(c, axis=0), matmul(a, b))",
           "kernel a(p: f32[2,2,1]):\n"
           " return sub(silu(reduce_max(p, axis=1)), matmul(transpose(p), p))",
       })
    VerifiedInEveryWay(text, target_);
}

// A program that goes down the columns has no place for what is one value for all of them.
TEST_P(PlanTest, ColumnsDoNotStoreSingleElements) {
  for (const char* text : {
           "kernel a(c: f32[1,1], a: f32[31,1], b: f32[31,31]):\n"
           " r = reduce_max(b, axis=0)\n t = tanh(c)\n return max(transpose(add(a, r)), t)",
           "kernel a(c: f32[31,1], b: f32[31,31]):\n"
           " r = reduce_max(b, axis=0)\n t = tanh(c)\n return max(transpose(add(t, r)), t)",
       })
    VerifiedInEveryWay(text, target_);
}

// What is stored in the first pass takes no tile that later passes read.
TEST_P(PlanTest, WhatIsReadAgainIsNotReplaced) {
  VerifiedInEveryWay(
      "kernel a(p0: f32[1,1], p1: f32[1,31], p3: f32[31], p4: f32[31], p8: f32[31,31], p11: f32[8,1]):\n"
      " v2 = matmul(p0, p1)\n v5 = layernorm(v2, p3, p4)\n v6 = exp(p1)\n v7 = tanh(v5)\n"
      " v9 = matmul(v6, p8)\n v12 = matmul(p11, v9)\n return add(v7, v12)",
      target_);
}

// Nor what the next row reads again.
TEST_P(PlanTest, WhatAllRowsReadIsNotReplaced) {
  const Graph graph = GraphOf(
      "kernel a(a: f32[1,31], x: f32[31,31]):\n"
      " b = cast(a, bf16)\n c = cast(exp(b), bf16)\n return add(x, c)");
  const Plan plan = PlanBy(graph, {"rows", {31}}, target_);
  const VerifyReport report = VerifyPlan(plan, target_);
  EXPECT_TRUE(report.ok) << report.first_mismatch << "\n" << PrintPlan(plan);
}

INSTANTIATE_TEST_SUITE_P(Isa, PlanTest, ::testing::Values(Avx2Target(), Avx512Target()),
                         [](const auto& info) { return info.index == 0 ? "Avx2" : "Avx512"; });

// Whatever the target: nothing is run.
TEST(GraphSoundnessTest, RandomPlansReadWhatWasWritten) {
  std::mt19937 random(31);
  for (int round = 0; round < Rounds(40) && !HasFailure(); ++round) {
    const std::string text = round % 4 == 0 ? RandomConvolution(random) : RandomKernel(2 + round % 6, random);
    const Graph graph = GraphOf(text);
    for (const Target& target : {Avx2Target(), Avx512Target()})
      for (int threads : {1, 2}) {
        const auto result = PlanOf(graph, WithFreeThreads(target), threads);
        ASSERT_TRUE(result.ok()) << result.status() << "\n" << text;
        EXPECT_EQ(MemoryError(result->plan, target, threads), "") << threads << " threads\n"
                                                                  << text << "\n"
                                                                  << PrintPlan(result->plan);
      }
  }
}

// What the check is for: a tile that is overwritten too early, and one that is not made.
TEST(GraphSoundnessTest, WrongPlansAreFound) {
  const Target target = Avx2Target();
  const Graph graph = GraphOf(
      "kernel a(x: f32[9,20], u: f32[20,30], v: f32[20,30]):\n"
      " return mul(softmax(matmul(x, u)), softmax(matmul(x, v)))");
  const Plan plan = PlanBy(graph, {"matmul", {4}}, target);
  ASSERT_EQ(MemoryError(plan, target, 1), "");
  ASSERT_EQ(plan.buffers.size(), 2u) << PrintPlan(plan);
  Program overlapping = WriteProgram(plan, target);
  for (Program::Buffer& buffer : overlapping.buffers) buffer.offset = 0;
  EXPECT_NE(MemoryError(overlapping, 1), "");
  Plan unmade = plan;
  unmade.nests[0].stages.erase(unmade.nests[0].stages.begin());
  EXPECT_NE(MemoryError(unmade, target, 1), "");
}

// The calls on a row of `columns` elements, `x`; scale and shift are parameters.
std::vector<std::string> Functions() {
  std::vector<std::string> functions;
  for (const OperationInfo& info : kOperations) {
    const bool one = info.arguments == 1 && info.kind == OperationKind::kElementwise;
    if (one && info.op != Operation::kLeakyRelu) functions.push_back(Cat(info.name, "(X)"));
    if (info.kind == OperationKind::kReduction) functions.push_back(Cat(info.name, "(X, axis=0)"));
  }
  for (const char* call : {"leaky_relu(X, slope=0.1)", "softmax(X)", "layernorm(X, s, t)", "rmsnorm(X, s)",
                           "cast(cast(X, bf16), f32)"})
    functions.emplace_back(call);
  return functions;
}

std::string Applied(std::string call, const std::string& x) { return call.replace(call.find('X'), 1, x); }

// A variable that a procedure declares twice; empty: there is none.
std::string DeclaredTwice(const LoopProgram& program) {
  for (const Procedure& procedure : program.procedures) {
    std::set<std::string> names;
    for (const Var& var : procedure.vars)
      if (!names.insert(var.name).second) return Cat(var.name, " in ", procedure.name);
  }
  return "";
}

// Compiles the functions as one header.
void ExpectCompiles(std::vector<HeaderFunction> functions) {
  const HeaderFile file{"kernels", HeaderMode::kAttributes, false, "", "0", std::move(functions)};
  const auto compiler = FindCompiler("");
  ASSERT_TRUE(compiler.ok());
  const auto compilation = Compilation::Start({{"kernels.h", PrintHeaderFile(file)}},
                                              {*compiler, "-O0", "-Wall", "-Wextra", "-Wno-unused-parameter",
                                               "-Werror", "-x", "c", "-c", "kernels.h", "-o", "kernels.o"});
  ASSERT_TRUE(compilation.ok());
  EXPECT_EQ((*compilation)->Wait().ToString(), "OK");
}

HeaderFunction FunctionOf(const std::string& name, const Plan& plan, const Target& target) {
  HeaderFunction function = HeaderOf(plan, target).functions.front();
  function.name = name;
  function.variants.front().programs = {Lower(plan, target, name)};
  return function;
}

TEST(GraphSoundnessTest, PairsOfFunctionsOnShortRowsDeclareNothingTwice) {
  for (const Target& target : {Avx2Target(), Avx512Target()}) {
    std::vector<HeaderFunction> compiled;
    int number = 0;
    for (const std::string& inner : Functions())
      for (const std::string& outer : Functions())
        for (int columns = 1; columns <= 17; ++columns) {
          const std::string x = Cat("f32[", columns, "]");
          const std::string text = Cat("kernel a(x: ", x, ", s: ", x, ", t: ", x, "):\n return ",
                                       Applied(outer, Applied(inner, "x")));
          const auto graph = ParseGraph(Split({text, {}}, '\n'), "test");
          if (!graph.ok()) continue;  // a norm of what was reduced
          const auto result = PlanOf(*graph, target, 1);
          ASSERT_TRUE(result.ok()) << text << result.status();
          EXPECT_EQ(DeclaredTwice(Lower(result->plan, target, "kernel")), "") << text;
          if (++number % 197 == 0) compiled.push_back(FunctionOf(Cat("k", number), result->plan, target));
        }
    ExpectCompiles(std::move(compiled));
  }
}

// Copies of narrow elements, whatever is left of a vector.
TEST(GraphSoundnessTest, CopiesOfNarrowElementsCompile) {
  for (const Target& target : {Avx2Target(), Avx512Target()}) {
    std::vector<HeaderFunction> compiled;
    for (const char* type : {"bf16", "f16", "s8", "u8", "s32"})
      for (int columns : {1, 3, 6, 13, 31}) {
        const std::string text = Cat("kernel a(p: const ", type, "[4,", columns, "]):\n return transpose(p)");
        const auto result = PlanOf(GraphOf(text), target, 1);
        ASSERT_TRUE(result.ok()) << text << result.status();
        compiled.push_back(FunctionOf(Cat("k_", type, "_", columns), result->plan, target));
      }
    ExpectCompiles(std::move(compiled));
  }
}

}  // namespace
}  // namespace kirsch::testing
