// SPDX-License-Identifier: Apache-2.0
// The machine code of the register tiles: no spills, one pointer per operand, and the instructions expected.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>

#include "codegen/llvm/analyser.h"
#include "codegen/llvm/emit.h"
#include "codegen/llvm/spills.h"
#include "codegen/lower.h"
#include "spec/canonical.h"
#include "spec/convolution.h"
#include "spec/microkernel.h"
#include "tests/testing/codegen_testing.h"

namespace kirsch::testing {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::Field;
using ::testing::Pair;

std::vector<LoopCode> LoopsOf(const Impl& impl, const Target& target) {
  const absl::StatusOr<std::string> object = EmitObject(Lower(impl, target, "kernel"), target);
  if (!object.ok()) {
    ADD_FAILURE() << object.status();
    return {};
  }
  const absl::StatusOr<std::vector<LoopCode>> loops = InnermostLoops(*object);
  if (!loops.ok()) {
    ADD_FAILURE() << loops.status();
    return {};
  }
  return *loops;
}

struct Cpu {
  bool avx512;
  const char* name;
};

class SpillsTest : public ::testing::TestWithParam<Cpu> {
 protected:
  SpillsTest() { target_.cpu = GetParam().name; }

  void CheckTile(const Matmul& matmul, LayoutKind form, const VectorUnit& unit) {
    CheckTile(MakeSpec(matmul), form, unit);
  }

  void CheckTile(const Spec& spec, LayoutKind form, const VectorUnit& unit, int most_spills = 0) {
    const Decision registers = IntoRegisters(form, unit.bytes / 4);
    if (RegistersNeeded(RegisterTileOf(spec, registers.layout, target_), unit) > unit.registers) return;
    const std::vector<LoopCode> loops = LoopsOf(Chain(spec, target_, {registers, Microkernel()}), target_);
    ASSERT_FALSE(loops.empty());
    for (const LoopCode& loop : loops) {
      EXPECT_LE(loop.vector_spills, most_spills) << loop.function;
      EXPECT_LE(loop.pointers, most_spills > 0 ? 3 : 2) << loop.function;
    }
  }

  Target target_ = TestTarget(GetParam().avx512);
};

INSTANTIATE_TEST_SUITE_P(Cpu, SpillsTest,
                         ::testing::Values(Cpu{false, "haswell"}, Cpu{false, "znver3"},
                                           Cpu{true, "skylake-avx512"}, Cpu{true, "znver4"}),
                         [](const auto& info) {
                           std::string name = info.param.name;
                           std::erase(name, '-');
                           return name;
                         });

// The loop of a 4x3 tile, of the target's widest vectors.
LoopCode HotLoopOf(const Target& target) {
  const uint32_t n = 3 * static_cast<uint32_t>(target.vectors[0].lanes(Dtype::kF32));
  const Spec spec = MakeSpec({4, 300, n});
  const Decision registers = IntoRegisters(LayoutKind::kVectors, target.vectors[0].lanes(Dtype::kF32));
  std::vector<LoopCode> loops = LoopsOf(Chain(spec, target, {registers, Microkernel()}), target);
  return *std::max_element(loops.begin(), loops.end(), [](const LoopCode& a, const LoopCode& b) {
    return a.instructions < b.instructions;
  });
}

// 12 accumulators, 3 vectors of rhs, a broadcast; where registers are left, compilers load the next vectors
// before they are needed.
TEST_P(SpillsTest, RegistersAreThoseThatHoldSomething) {
  const int registers = HotLoopOf(target_).vector_registers;
  EXPECT_GE(registers, 16);
  EXPECT_LE(registers, GetParam().avx512 ? 24 : 16);
}

// Two multiply-adds a cycle at most, and nothing in these loops takes much longer.
TEST_P(SpillsTest, LoopsAreAnalysed) {
  const LoopCode loop = HotLoopOf(target_);
  int fmas = 0;
  for (const auto& [mnemonic, count] : loop.mnemonics) fmas += mnemonic.starts_with("vfmadd") ? count : 0;
  const absl::StatusOr<double> cycles = AnalysedCycles(loop, target_);
  ASSERT_TRUE(cycles.ok()) << cycles.status();
  EXPECT_GE(*cycles, fmas / 2.0);
  EXPECT_LE(*cycles, fmas * 1.5);
}

TEST(AnalyserTest, SaysWhatItLacks) {
  Target target = TestTarget(false);
  target.cpu = "x86-64";
  const LoopCode loop = HotLoopOf(TestTarget(false));
  EXPECT_TRUE(AnalysedCycles(loop, target).ok() ||
              absl::IsFailedPrecondition(AnalysedCycles(loop, target).status()));
}

TEST_P(SpillsTest, NoOuterProductSpills) {
  for (const VectorUnit& unit : target_.vectors)
    for (uint32_t m = 1; m <= 30; ++m)
      for (uint32_t vectors = 1; vectors <= 6; ++vectors)
        for (uint32_t missing : {0, 1})  // 1: the last vector is masked
          for (Order lhs : {Order::kRow, Order::kCol}) {
            const uint32_t n = vectors * static_cast<uint32_t>(unit.bytes) / 4 - missing;
            CheckTile({m, 300, n, 1, lhs, Order::kRow, 7}, LayoutKind::kVectors, unit);
          }
}

// Of few channels, windows of neighbouring pixels have elements in common: none is kept for a later step.
// (LLVM's schedule for some CPUs spills an accumulator or two of the largest tiles, once a step.)
TEST_P(SpillsTest, TilesOfConvolutionsKeepNothingForLaterSteps) {
  for (const VectorUnit& unit : target_.vectors)
    for (int64_t stride : {1, 2})
      for (int64_t pixels = 1; pixels <= 30; ++pixels)
        for (int64_t vectors = 1; vectors <= 4; ++vectors) {
          ConvShape shape{.channels = 3, .filters = vectors * unit.bytes / 4};
          shape.axes[ImageAxes::kHeight] = {.size = 3, .kernel = 3, .stride = stride};
          shape.axes[ImageAxes::kWidth] = {.size = (pixels - 1) * stride + 3, .kernel = 3, .stride = stride};
          CheckTile(Canonicalise(ConvolutionSpec(shape, {Dtype::kF32, Dtype::kF32, Dtype::kF32})).spec,
                    LayoutKind::kVectors, unit, /*most_spills=*/4 * 9);
        }
}

TEST_P(SpillsTest, NoDotProductSpills) {
  for (const VectorUnit& unit : target_.vectors)
    for (uint32_t m = 1; m <= 16; ++m)
      for (uint32_t n = 1; n <= 6; ++n)
        CheckTile({m, 300, n, 1, Order::kRow, Order::kCol, 7}, LayoutKind::kPartialSums, unit);
}

TEST(Spills, Avx512TileHasTheExpectedInstructions) {
  const Target target = TestTarget(true);
  const Spec spec = MakeSpec({14, 64, 32});
  const std::vector<LoopCode> loops =
      LoopsOf(Chain(spec, target, {IntoRegisters(LayoutKind::kVectors, 16), Microkernel()}), target);
  ASSERT_EQ(loops.size(), 1);
  EXPECT_THAT(loops[0].mnemonics, Contains(Pair("vfmadd231ps zmm", 28)));
  EXPECT_THAT(loops[0].mnemonics, Contains(Pair("vbroadcastss zmm", 14)));
  EXPECT_THAT(loops[0].mnemonics, Contains(Pair("vmovups zmm", 2)));
  EXPECT_LE(loops[0].instructions, 48);
}

TEST(Spills, Avx512BroadcastsFoldIntoASingleColumn) {
  const Target target = TestTarget(true);
  const Spec spec = MakeSpec({14, 64, 16});
  const std::vector<LoopCode> loops =
      LoopsOf(Chain(spec, target, {IntoRegisters(LayoutKind::kVectors, 16), Microkernel()}), target);
  ASSERT_EQ(loops.size(), 2);  // the main loop and the rest
  EXPECT_THAT(loops[0].mnemonics, Contains(Pair("vfmadd231ps zmm", 56)));
  EXPECT_EQ(loops[0].mnemonics.count("vbroadcastss zmm"), 0);
}

TEST(Spills, Avx2TileHasTheExpectedInstructions) {
  const Target target = TestTarget(false);
  const Spec spec = MakeSpec({6, 64, 16});
  const std::vector<LoopCode> loops =
      LoopsOf(Chain(spec, target, {IntoRegisters(LayoutKind::kVectors, 8), Microkernel()}), target);
  ASSERT_EQ(loops.size(), 1);
  EXPECT_THAT(loops[0].mnemonics, Contains(Pair("vfmadd231ps ymm", 12)));
  EXPECT_THAT(loops[0].mnemonics, Contains(Pair("vbroadcastss ymm", 6)));
  EXPECT_THAT(loops[0].mnemonics, Contains(Pair("vmovups ymm", 2)));
}

// Functions are a loop of their own after the reduction, and keep no register from it. (That loop, the last,
// may have more numbers than there are registers.)
TEST_P(SpillsTest, NoSpillsForFunctions) {
  const VectorUnit& unit = target_.vectors.front();
  const uint32_t rows = GetParam().avx512 ? 14 : 6, n = 2 * static_cast<uint32_t>(unit.bytes) / 4;
  for (const OperationInfo& function : kOperations) {
    if (!IsStep(function.op) || !IsComposed(function.op)) continue;
    Spec spec = MakeSpec({rows, 300, n});
    Epilogue epilogue;
    epilogue.count = 1;
    epilogue.steps[0] = {function.op,
                         function.operands() == 2 ? EpilogueOperand::kNumber : EpilogueOperand::kNone,
                         std::bit_cast<uint32_t>(static_cast<float>(function.option.usual))};
    spec.op = OpWith(epilogue);
    const std::vector<LoopCode> loops = LoopsOf(
        Chain(spec, target_, {IntoRegisters(LayoutKind::kVectors, unit.bytes / 4), Microkernel()}), target_);
    ASSERT_GE(loops.size(), 2) << function.name;
    for (size_t i = 0; i + 1 < loops.size(); ++i)
      EXPECT_EQ(loops[i].vector_spills, 0) << function.name << " " << loops[i].function;
  }
}

// The detector itself: a tile that cannot fit must spill.
TEST(Spills, ATileTooLargeSpills) {
  const Target target = TestTarget(false);
  const Spec spec = MakeSpec({8, 64, 24});
  const std::vector<LoopCode> loops =
      LoopsOf(Chain(spec, target, {IntoRegisters(LayoutKind::kVectors, 8), Microkernel()}), target);
  EXPECT_THAT(loops, Contains(Field(&LoopCode::vector_spills, ::testing::Gt(0))));
}

TEST(Spills, WhatIsNoObjectIsAnError) { EXPECT_FALSE(InnermostLoops("not an object").ok()); }

}  // namespace
}  // namespace kirsch::testing
