// SPDX-License-Identifier: Apache-2.0
// Lowered and JIT-compiled programs against the naive loop, bit for bit on integers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "codegen/llvm/jit.h"
#include "codegen/loop/loop_text.h"
#include "codegen/lower.h"
#include "spec/program/impl_program.h"
#include "spec/text/cat.h"
#include "tests/testing/codegen_testing.h"

namespace kirsch::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class CodegenTest : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (!HostRuns(target_)) GTEST_SKIP() << "this host lacks " << MissingOnHost(target_.features);
  }
  int WidestLanes() const { return target_.vectors.front().bytes / 4; }

  bool Works(const Spec& spec, const Impl& impl, size_t n_threads = 1) {
    const LoopProgram program = Lower(impl, target_, "kernel");
    const absl::StatusOr<std::unique_ptr<JitKernel>> kernel = JitCompile(program, target_);
    if (!kernel.ok()) {
      ADD_FAILURE() << kernel.status();
      return false;
    }
    return MatchesNaive(spec, (*kernel)->function(), program.scratch_bytes, n_threads);
  }

  const Target target_ = TestTarget(GetParam());
};

std::string IsaName(const ::testing::TestParamInfo<bool>& info) { return info.param ? "Avx512" : "Avx2"; }
INSTANTIATE_TEST_SUITE_P(Isa, CodegenTest, ::testing::Bool(), IsaName);

std::string Describe(const Matmul& matmul) {
  return Cat(matmul.batch, ":", matmul.m, "x", matmul.k, "x", matmul.n,
             matmul.lhs == Order::kRow ? " lhs=row" : " lhs=col",
             matmul.rhs == Order::kRow ? " rhs=row" : " rhs=col", " gap=", matmul.gap,
             matmul.accumulate ? " accumulate" : "");
}

TEST_P(CodegenTest, OuterProductOfEverySmallTile) {
  for (const VectorUnit& unit : target_.vectors) {
    const uint32_t lanes = static_cast<uint32_t>(unit.bytes) / 4;
    uint32_t variant = 0;
    for (uint32_t m : {1, 2, 3, 6})
      for (uint32_t n = 1; n <= 2 * lanes + 1; ++n)
        for (uint32_t k : {1, 2, 3, 13}) {
          // The variants go round, out of step with n and k.
          variant = variant * 5 + 3 + n;
          const Matmul matmul{m,
                              k,
                              n,
                              1,
                              variant & 8 ? Order::kCol : Order::kRow,
                              Order::kRow,
                              variant / 16 % 4,
                              (variant & 128) != 0,
                              variant & 256 ? Level::kL1 : Level::kRam};
          const Spec spec = MakeSpec(matmul);
          const Impl impl = Chain(
              spec, target_, {IntoRegisters(LayoutKind::kVectors, static_cast<int>(lanes)), Microkernel()});
          ASSERT_TRUE(Works(spec, impl)) << Describe(matmul) << ", lanes " << lanes;
        }
  }
}

TEST_P(CodegenTest, DotProductOfEverySmallTile) {
  for (const VectorUnit& unit : target_.vectors) {
    const uint32_t lanes = static_cast<uint32_t>(unit.bytes) / 4;
    uint32_t variant = 0;
    for (uint32_t m = 1; m <= 3; ++m)
      for (uint32_t n : {1, 2, 3, 4})
        for (uint32_t k = 1; k <= 4 * lanes + 3; k += m) {
          variant = variant * 5 + 3 + n;
          const Matmul matmul{m, k, n, 1, Order::kRow, Order::kCol, variant / 16 % 4, (variant & 128) != 0};
          const Spec spec = MakeSpec(matmul);
          const Impl impl =
              Chain(spec, target_,
                    {IntoRegisters(LayoutKind::kPartialSums, static_cast<int>(lanes)), Microkernel()});
          ASSERT_TRUE(Works(spec, impl)) << Describe(matmul) << ", lanes " << lanes;
        }
  }
}

// Prefetches change nothing, wherever they point, and there is one for each line of what is read.
TEST_P(CodegenTest, PrefetchesOfEveryForm) {
  const int lanes = WidestLanes();
  const int64_t line = 16;  // elements
  for (Order rhs : {Order::kRow, Order::kCol})
    for (int dim : {MatmulDims::kK, MatmulDims::kN})
      for (uint32_t k : {1, 37, 256})
        for (uint32_t n : {1, 4}) {
          const uint32_t columns = rhs == Order::kRow ? n * static_cast<uint32_t>(lanes) : n;
          const Spec spec = MakeSpec({1, k, columns, 1, Order::kRow, rhs, 3});
          Decision ahead = Microkernel();
          ahead.dim = static_cast<uint8_t>(dim);
          ahead.size = 64;
          const LayoutKind form = rhs == Order::kRow ? LayoutKind::kVectors : LayoutKind::kPartialSums;
          const Impl impl = Chain(spec, target_, {IntoRegisters(form, lanes), ahead});
          ASSERT_TRUE(Works(spec, impl)) << "k " << k << ", n " << n;
          const std::string text = LoopText(Lower(impl, target_, "kernel"));
          const int64_t ld = spec.operand[MatmulDims::kRhs].layout.ld;
          const bool along = (dim == MatmulDims::kK) == (rhs == Order::kCol);
          const int64_t offset = along ? 64 : 64 * ld;
          EXPECT_THAT(text, HasSubstr(Cat("prefetch [rhs + ", offset, "]"))) << text;
          const int64_t last = rhs == Order::kRow ? (columns - 1) / line * line : (n - 1) * ld;
          EXPECT_THAT(text, HasSubstr(Cat("prefetch [rhs + ", offset + last, "]"))) << text;
          EXPECT_THAT(LoopText(Lower(Chain(spec, target_, {IntoRegisters(form, lanes), Microkernel()}),
                                     target_, "kernel")),
                      Not(HasSubstr("prefetch [rhs")));
        }
}

// A tile of rhs in rows that go on, from L2: while several rows are multiplied by it, the one beside is asked
// for, line by line.
TEST_P(CodegenTest, TilesOfRowsAskForTheNextOne) {
  const int lanes = WidestLanes();
  const auto text = [&](uint32_t m, Level level, int64_t ld, uint8_t resident = kPrefetched) {
    Spec spec = MakeSpec({m, 37, static_cast<uint32_t>(lanes), 1, Order::kRow, Order::kRow});
    spec.operand[MatmulDims::kRhs].level = level;
    spec.operand[MatmulDims::kRhs].resident = resident;
    spec.operand[MatmulDims::kRhs].layout.ld = static_cast<uint32_t>(ld);
    const Impl impl = Chain(spec, target_, {IntoRegisters(LayoutKind::kVectors, lanes), Microkernel()});
    EXPECT_TRUE(Works(spec, impl));
    return LoopText(Lower(impl, target_, "kernel"));
  };
  const std::string next = Cat("prefetch [rhs + ", lanes, "]");
  EXPECT_THAT(text(4, Level::kL2, 4 * lanes), HasSubstr(next));
  EXPECT_THAT(text(3, Level::kL2, 4 * lanes), Not(HasSubstr(next))) << "too little time for it";
  EXPECT_THAT(text(4, Level::kL1, 4 * lanes), HasSubstr(Cat("prefetch L2 [rhs + ", lanes, "]")));
  EXPECT_THAT(text(4, Level::kL2, 4 * lanes, kResident), Not(HasSubstr(next))) << "no move said so";
  EXPECT_THAT(text(4, Level::kL2, lanes), Not(HasSubstr(next))) << "none is beside it";
}

// A last vector is stored with a mask that reaches into the next row, whose load would wait for it.
TEST_P(CodegenTest, TilesAddAllRowsBeforeTheyStoreOne) {
  const int lanes = WidestLanes();
  const auto wide = static_cast<uint32_t>(lanes) + 3;
  for (const auto& [form, rhs, n] : {std::tuple(LayoutKind::kVectors, Order::kRow, wide),
                                     std::tuple(LayoutKind::kPartialSums, Order::kCol, 3u)}) {
    Matmul matmul{3, 2, n, 1, Order::kRow, rhs};
    matmul.accumulate = true;
    const Spec spec = MakeSpec(matmul);
    const Impl impl = Chain(spec, target_, {IntoRegisters(form, lanes), Microkernel()});
    EXPECT_TRUE(Works(spec, impl));
    const std::string text = LoopText(Lower(impl, target_, "kernel"));
    const size_t last_load = text.rfind("= load"), first_store = text.find("store");
    ASSERT_NE(first_store, std::string::npos) << text;
    EXPECT_LT(last_load, first_store) << text;
  }
}

// Two steps of tiles along the reduction: one procedure in a program of many sizes, which is told.
TEST_P(CodegenTest, TilesThatAddAndOthersAreOneInFamilies) {
  const int lanes = WidestLanes();
  for (const auto& [form, rhs] :
       {std::pair(LayoutKind::kVectors, Order::kRow), std::pair(LayoutKind::kPartialSums, Order::kCol)}) {
    const uint32_t k = 2 * static_cast<uint32_t>(lanes);
    const Impl impl = Chain(MakeSpec({2, 2 * k, 4, 1, Order::kRow, rhs}), target_,
                            {Tile(MatmulDims::kK, k), IntoRegisters(form, lanes), Microkernel()});
    Program program = WriteProgram(impl, target_);
    EXPECT_EQ(Lower(program, target_, "kernel").procedures.size(), 3u);
    ASSERT_EQ(program.variables++, 0);
    program.symbols = {{"m", 1, 2}};
    const LoopProgram family = Lower(program, target_, "kernel");
    ASSERT_EQ(family.procedures.size(), 2u);
    EXPECT_THAT(family.procedures[1].name, HasSubstr("_may_add"));
  }
}

TEST_P(CodegenTest, WhatALoopLeavesIsDividedOnce) {
  const int lanes = WidestLanes();
  const Impl impl = Chain(MakeSpec({2, 8, static_cast<uint32_t>(lanes), 1, Order::kRow, Order::kRow}),
                          target_, {IntoRegisters(LayoutKind::kVectors, lanes), Microkernel()});
  Program program = WriteProgram(impl, target_);
  const VarId m = program.variables++, trip = program.variables++, left = program.variables++;
  program.symbols = {{"m", 1, 7}};
  const Body run = program.body;
  const Body rest = {Node{OneOf{left, 1, {run}}}};
  const Count rows = {IndexOf(m), 4, true};
  const auto divisions = [&] {
    const std::string text = LoopText(Lower(program, target_, "kernel"));
    int count = 0;
    for (size_t at = text.find("% 4"); at != std::string::npos; at = text.find("% 4", at + 1)) ++count;
    return count;
  };
  program.body = {Node{Loop{trip, {IndexOf(m), 4}, {}, run, {Node{Let{left, rows, rest}}}}}};
  EXPECT_EQ(divisions(), 1);
  program.body.push_back(Node{Let{left, rows, rest}});
  EXPECT_EQ(divisions(), 2) << "beside the loop it is another";
}

// The rest of a tile that does not fill its panels, and the copy that feeds it, straight and transposing.
TEST_P(CodegenTest, PackedRhs) {
  const uint32_t wide = static_cast<uint32_t>(WidestLanes());
  for (Order rhs : {Order::kRow, Order::kCol})
    for (uint32_t panel : {wide, 2 * wide, 4 * wide})
      for (uint32_t k : {1, 3, 4, 16, 17, 22, 35})
        for (uint32_t n : {1u, 3u, wide, wide + 1, 4 * wide - 1, 4 * wide, 5 * wide + 6}) {
          const Matmul matmul{3, k, n, 1, Order::kRow, rhs, 5};
          const Spec spec = MakeSpec(matmul);
          const Impl impl = BuildImpl(spec, target_, [&](const Spec& goal) {
            if (goal.operand[MatmulDims::kRhs].layout.kind == LayoutKind::kStrided)
              return PackInto(MatmulDims::kRhs, Order::kRow, static_cast<int>(panel));
            if (goal.size[MatmulDims::kN] > panel) return Tile(MatmulDims::kN, panel);
            if (goal.out().level == Level::kVrf) return Microkernel();
            return IntoRegisters(LayoutKind::kVectors, static_cast<int>(wide));
          });
          ASSERT_TRUE(Works(spec, impl)) << Describe(matmul) << ", panel " << panel;
        }
}

// Any walk through the rewrites' space is a program that computes the spec.
class RandomImpl {
 public:
  RandomImpl(const Target& target, uint32_t seed) : target_(target), random_(seed) {}

  Matmul NextMatmul() {
    Matmul matmul{Below(40) + 1, Below(40) + 1, Below(60) + 1};
    if (Below(4) == 0) matmul.batch = Below(3) + 1;
    if (Below(2) == 0) matmul.lhs = Order::kCol;
    if (Below(2) == 0) matmul.rhs = Order::kCol;
    matmul.gap = Below(3) * Below(7);
    matmul.accumulate = Below(2) == 0;
    return matmul;
  }

  Impl Next(const Spec& spec) {
    return BuildImpl(spec, target_, [this](const Spec& goal) {
      EnumerateDecisions(goal, target_, &decisions_);
      // Small tiles of large specs would make huge programs.
      const Decision& register_tile = decisions_.front();
      const bool fits = register_tile.level == Level::kVrf || register_tile.kind == RewriteKind::kMicrokernel;
      if (fits && Below(2) == 0) return register_tile;
      for (int attempt = 0; attempt < 10; ++attempt) {
        const Decision& decision = decisions_[Below(static_cast<uint32_t>(decisions_.size()))];
        if (decision.kind != RewriteKind::kTile || goal.size[decision.dim] / decision.size < 8)
          return decision;
      }
      return decisions_[Below(static_cast<uint32_t>(decisions_.size()))];
    });
  }

  uint32_t Below(uint32_t bound) { return static_cast<uint32_t>(random_() % bound); }

 private:
  const Target& target_;
  std::mt19937 random_;
  std::vector<Decision> decisions_;
};

TEST_P(CodegenTest, RandomProgramsOfTheSpace) {
  RandomImpl random(target_, 20250601);
  for (int round = 0; round < 100; ++round) {
    const Matmul matmul = random.NextMatmul();
    const Spec spec = MakeSpec(matmul);
    ASSERT_TRUE(Works(spec, random.Next(spec))) << Describe(matmul) << ", round " << round;
  }
}

TEST_P(CodegenTest, RandomParallelPrograms) {
  RandomImpl random(target_, 20250602);
  int parallel = 0;
  for (int round = 0; round < 60; ++round) {
    const Matmul matmul = random.NextMatmul();
    Spec spec = MakeSpec(matmul);
    spec.threads = static_cast<uint8_t>(2 + random.Below(5));
    const Impl impl = random.Next(spec);
    ASSERT_TRUE(Works(spec, impl, 1)) << Describe(matmul) << ", round " << round;
    if (Lower(impl, target_, "kernel").tasks == 1) continue;
    ++parallel;
    ASSERT_TRUE(Works(spec, impl, spec.threads)) << Describe(matmul) << ", round " << round;
    ASSERT_TRUE(Works(spec, impl, 3)) << Describe(matmul) << ", round " << round;
  }
  EXPECT_GT(parallel, 20);
}

}  // namespace
}  // namespace kirsch::testing
