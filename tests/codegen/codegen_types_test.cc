// SPDX-License-Identifier: Apache-2.0
// Kernels of all element types, lowered and JIT-compiled, against a scalar oracle, bit for bit.
#include <gtest/gtest.h>

#include "codegen/loop/loop_text.h"
#include "spec/microkernel.h"
#include "spec/text/cat.h"
#include "tests/testing/codegen_types_testing.h"

namespace kirsch::testing {
namespace {

class TypesTest : public ::testing::TestWithParam<std::tuple<VectorIsa, MatmulTypes>> {
 protected:
  void SetUp() override {
    std::vector<std::string> features = target_.features;
    if (WidensByF16(types_.lhs) || WidensByF16(types_.rhs)) features.push_back("f16c");
    if (!TargetHas(PlainArithmetic(types_.lhs), target_)) GTEST_SKIP() << "the target has no such sums";
    const std::string missing = MissingOnHost(features);
    if (!missing.empty()) GTEST_SKIP() << "this host lacks " << missing;
  }

  bool Works(const Spec& spec, const Impl& impl) {
    const LoopProgram program = Lower(impl, target_, "kernel");
    const absl::StatusOr<std::unique_ptr<JitKernel>> kernel = JitCompile(program, target_);
    if (!kernel.ok()) {
      ADD_FAILURE() << kernel.status();
      return false;
    }
    const bool works =
        MatchesOracle(spec, reinterpret_cast<AnyKernel>((*kernel)->function()), program.scratch_bytes);
    if (!works) ADD_FAILURE() << LoopText(program);
    return works;
  }

  // The decisions of one kind that move `operand`.
  std::vector<Decision> Decisions(const Spec& spec, RewriteKind kind, int operand) {
    std::vector<Decision> all, found;
    EnumerateDecisions(spec, target_, &all);
    for (const Decision& decision : all)
      if (decision.kind == kind && decision.operand == operand) found.push_back(decision);
    return found;
  }

  const Target target_ = TargetOf(std::get<0>(GetParam()));
  const MatmulTypes types_ = std::get<1>(GetParam());
};

INSTANTIATE_TEST_SUITE_P(
    All, TypesTest, ::testing::Combine(::testing::ValuesIn(VectorIsas()), ::testing::ValuesIn(AllTypes())),
    [](const auto& info) { return Cat(std::get<0>(info.param).name, "_", NameOf(std::get<1>(info.param))); });

// Operands as they lie: vectors of rhs widen where they must, and end at the last element.
TEST_P(TypesTest, OuterProduct) {
  for (const VectorUnit& unit : target_.vectors) {
    const uint32_t lanes = static_cast<uint32_t>(unit.lanes(AccumulatorOf(types_.lhs)));
    uint32_t variant = 0;
    for (uint32_t n = 1; n <= lanes + 3; ++n) {
      variant = variant * 5 + 3 + n;
      const Matmul matmul{1 + variant % 3,
                          1 + variant / 4 % 5,
                          n,
                          1,
                          variant & 8 ? Order::kCol : Order::kRow,
                          Order::kRow,
                          variant / 16 % 2 * 3,
                          (variant & 128) != 0};
      const Spec spec = TypedSpec(types_, matmul);
      const Impl impl =
          Chain(spec, target_,
                {IntoRegisters(LayoutKind::kVectors, unit.lanes(AccumulatorOf(types_.lhs))), Microkernel()});
      ASSERT_TRUE(Works(spec, impl)) << Describe(matmul) << ", lanes " << lanes;
    }
  }
}

// Rows of rhs as they lie, which loads put together in groups: every rest of a group and of a vector.
TEST_P(TypesTest, InterleavedRows) {
  int interleaved = 0;
  for (const VectorUnit& unit : target_.vectors) {
    const auto lanes = static_cast<uint32_t>(unit.lanes(AccumulatorOf(types_.lhs)));
    uint32_t variant = 0;
    for (const uint32_t n : {1u, 3u, lanes - 1, lanes, lanes + 1, 3 * lanes + 5})
      for (uint32_t k = 1; k <= 6; ++k) {
        variant = variant * 5 + 3 + n;
        const Matmul matmul{1 + variant % 5,     k, n, 1, Order::kRow, Order::kRow, variant / 16 % 2 * 3,
                            (variant & 128) != 0};
        const Spec spec = TypedSpec(types_, matmul);
        for (const Decision& registers : Decisions(spec, RewriteKind::kMove, MatmulDims::kOut)) {
          if (!IsOfVectors(registers.layout.kind) || registers.layout.group == 1) continue;
          ASSERT_TRUE(Works(spec, Chain(spec, target_, {registers, Microkernel()}))) << Describe(matmul);
          ++interleaved;
        }
      }
  }
  const bool pairs = types_.lhs == Dtype::kBf16 && types_.rhs == Dtype::kBf16;
  if (pairs && target_.HasFeature("avx512bf16")) {
    EXPECT_GT(interleaved, 0);
  }
}

// Every copy of rhs that the rewrites know, straight and transposing, with every rest of a group.
TEST_P(TypesTest, PackedRhs) {
  uint32_t variant = 0;
  for (Order rhs : {Order::kRow, Order::kCol})
    for (uint32_t k : {1, 2, 3, 4, 21, 67}) {
      variant = variant * 5 + 3 + k;
      const uint32_t wide = static_cast<uint32_t>(target_.vectors.front().lanes(AccumulatorOf(types_.lhs)));
      const uint32_t n = std::array{1u, 3u, wide, wide + 1, 4 * wide - 1, 5 * wide + 6}[variant % 6];
      const Matmul matmul{3, k, n, 1, Order::kRow, rhs, 5, (variant & 16) != 0};
      const Spec spec = TypedSpec(types_, matmul);
      const std::vector<Decision> packs = Decisions(spec, RewriteKind::kPack, MatmulDims::kRhs);
      ASSERT_FALSE(packs.empty());
      for (const Decision& pack : packs) {
        if (pack.level != Level::kL1) continue;
        const Impl impl = BuildImpl(spec, target_, [&](const Spec& goal) {
          if (goal.operand[MatmulDims::kRhs].layout.kind == LayoutKind::kStrided) return pack;
          if (goal.size[MatmulDims::kN] > pack.layout.panel) return Tile(MatmulDims::kN, pack.layout.panel);
          if (goal.out().level == Level::kVrf) return Microkernel();
          Decision registers = IntoRegisters(LayoutKind::kVectors, static_cast<int>(wide));
          registers.layout.group = goal.operand[MatmulDims::kRhs].layout.group;
          return registers;
        });
        ASSERT_TRUE(Works(spec, impl)) << Describe(matmul) << ", panel " << int{pack.layout.panel};
      }
    }
}

// Panels that come from RAM are read side by side; the last tile's last panel is filled up.
TEST_P(TypesTest, SeveralPanelsAtOnce) {
  for (const uint32_t k : {1, 5, 34}) {
    const Spec spec = TypedSpec(
        types_,
        {1, k, 5 * static_cast<uint32_t>(target_.vectors.front().lanes(AccumulatorOf(types_.lhs))) + 3});
    for (const Decision& pack : Decisions(spec, RewriteKind::kPack, MatmulDims::kRhs)) {
      if (pack.level != Level::kRam || pack.layout.panel == 0) continue;
      const uint32_t columns = 2u * pack.layout.panel;
      const Impl impl = BuildImpl(spec, target_, [&](const Spec& goal) {
        if (goal.operand[MatmulDims::kRhs].layout.kind == LayoutKind::kStrided) return pack;
        if (goal.size[MatmulDims::kN] > columns) return Tile(MatmulDims::kN, columns);
        if (goal.out().level == Level::kVrf) return Microkernel();
        const std::vector<Decision> moves = Decisions(goal, RewriteKind::kMove, MatmulDims::kOut);
        const auto registers = std::find_if(moves.begin(), moves.end(), [](const Decision& move) {
          return move.level == Level::kVrf && move.layout.kind == LayoutKind::kVectors;
        });
        return registers != moves.end() ? *registers : Tile(MatmulDims::kN, pack.layout.panel);
      });
      ASSERT_TRUE(Works(spec, impl)) << k << " steps, panels of " << int{pack.layout.panel};
    }
  }
}

// Every rest of a vector along the reduction.
TEST_P(TypesTest, DotProduct) {
  const int group = Info(BestArithmetic(types_.lhs, types_.rhs, target_)).group;
  for (const VectorUnit& unit : target_.vectors) {
    const uint32_t step = static_cast<uint32_t>(unit.lanes(AccumulatorOf(types_.lhs)) * group);
    for (uint32_t k = 1; k <= 2 * step + 3; k += 1 + k % 3) {
      const Matmul matmul{1 + k % 2, k, 1 + k % 5, 1, Order::kRow, Order::kCol, k % 4, k % 3 == 0};
      const Spec spec = TypedSpec(types_, matmul);
      Decision registers = IntoRegisters(LayoutKind::kPartialSums, unit.lanes(AccumulatorOf(types_.lhs)));
      registers.layout.group = static_cast<uint8_t>(group);
      ASSERT_TRUE(Works(spec, Chain(spec, target_, {registers, Microkernel()})))
          << Describe(matmul) << ", lanes " << unit.lanes(AccumulatorOf(types_.lhs));
    }
  }
}

TEST_P(TypesTest, RandomPrograms) {
  TypedWalk random(target_, 20250603);
  for (int round = 0; round < 12; ++round) {
    const Matmul matmul = random.NextMatmul();
    const Spec spec = TypedSpec(types_, matmul);
    ASSERT_TRUE(Works(spec, random.Next(spec))) << Describe(matmul) << ", round " << round;
  }
}

// Any bits: ties, subnormals, infinities and what is no number. With one step the f32 sum is a product.
TEST(Types, OutputsAreRoundedToTheNearestBf16) {
  for (const VectorIsa& isa : VectorIsas()) {
    const Target target = TargetOf(isa);
    if (!HostRuns(target)) continue;
    const MatmulTypes types{Dtype::kBf16, Dtype::kBf16, Dtype::kBf16};
    for (const VectorUnit& unit : target.vectors) {
      const Spec spec = TypedSpec(types, {4, 1, static_cast<uint32_t>(unit.lanes(Dtype::kF32)) + 3});
      const LoopProgram program = Lower(
          Chain(spec, target, {IntoRegisters(LayoutKind::kVectors, unit.lanes(Dtype::kF32)), Microkernel()}),
          target, "kernel");
      const absl::StatusOr<std::unique_ptr<JitKernel>> kernel = JitCompile(program, target);
      ASSERT_TRUE(kernel.ok()) << kernel.status();
      TypedMatrix lhs(spec, MatmulDims::kLhs), rhs(spec, MatmulDims::kRhs), out(spec, MatmulDims::kOut);
      std::mt19937 random(20250605);
      for (int round = 0; round < 3000; ++round) {
        for (int row = 0; row < 4; ++row) lhs.Set(0, row, 0, random() & 0xffff);
        for (int column = 0; column < unit.lanes(Dtype::kF32) + 3; ++column)
          rhs.Set(0, 0, column, random() & 0xffff);
        RunTyped(reinterpret_cast<AnyKernel>((*kernel)->function()), program.scratch_bytes, lhs, rhs, &out);
        for (int row = 0; row < 4; ++row)
          for (int column = 0; column < unit.lanes(Dtype::kF32) + 3; ++column) {
            const float product = std::fma(static_cast<float>(lhs.value(0, row, 0)),
                                           static_cast<float>(rhs.value(0, 0, column)), 0.0f);
            if (std::isnan(product)) {
              ASSERT_TRUE(std::isnan(out.value(0, row, column))) << isa.name;
            } else {
              ASSERT_EQ(out.at(0, row, column), NearestBf16(product)) << isa.name << " " << product;
            }
          }
      }
    }
  }
}

}  // namespace
}  // namespace kirsch::testing
