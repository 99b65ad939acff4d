// SPDX-License-Identifier: Apache-2.0
// The machine code of kernels of narrow elements: the instructions they are for, and no spills.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codegen/llvm/emit.h"
#include "codegen/llvm/spills.h"
#include "spec/microkernel.h"
#include "tests/testing/codegen_types_testing.h"

namespace kirsch::testing {
namespace {

using ::testing::HasSubstr;

constexpr MatmulTypes kBf16{Dtype::kBf16, Dtype::kBf16, Dtype::kF32};
constexpr MatmulTypes kF32Bf16{Dtype::kF32, Dtype::kBf16, Dtype::kF32};
constexpr MatmulTypes kF16{Dtype::kF16, Dtype::kF16, Dtype::kF32};
constexpr MatmulTypes kU8S8{Dtype::kU8, Dtype::kS8, Dtype::kS32};
constexpr MatmulTypes kS8S8{Dtype::kS8, Dtype::kS8, Dtype::kS32};
constexpr MatmulTypes kS32{Dtype::kS32, Dtype::kS32, Dtype::kS32};

// A packed rhs in the best arithmetic's groups, in `columns` vectors.
Impl PackedTile(const Spec& spec, const Target& target, uint32_t columns) {
  const int lanes = target.vectors.front().lanes(Dtype::kF32);
  const Dtype lhs = spec.operand[MatmulDims::kLhs].dtype, rhs = spec.operand[MatmulDims::kRhs].dtype;
  const int group = Info(BestArithmetic(lhs, rhs, target)).group;
  Decision pack = PackInto(MatmulDims::kRhs, Order::kRow, static_cast<int>(columns) * lanes);
  pack.layout.group = static_cast<uint8_t>(group);
  pack.dtype = rhs;
  Decision registers = IntoRegisters(LayoutKind::kVectors, lanes);
  registers.layout.group = static_cast<uint8_t>(group);
  return Chain(spec, target, {pack, registers, Microkernel()});
}

Spec TileSpec(const MatmulTypes& types, const Target& target, uint32_t rows, uint32_t columns) {
  return TypedSpec(types,
                   {rows, 300, columns * static_cast<uint32_t>(target.vectors.front().lanes(Dtype::kF32))});
}

std::string Assembly(const MatmulTypes& types, const VectorIsa& isa) {
  const Target target = TargetOf(isa);
  const LoopProgram program = Lower(PackedTile(TileSpec(types, target, 4, 2), target, 2), target, "kernel");
  return EmitAssembly(program, target).value_or("");
}

// Dot products in groups of so many.
Impl DotTile(const MatmulTypes& types, const Target& target, uint32_t rows, uint32_t columns, int group) {
  Matmul matmul{rows, IsOfBlocks(types.rhs) ? 512u : 320u, columns};
  matmul.rhs = Order::kCol;
  Decision registers = IntoRegisters(LayoutKind::kPartialSums, target.vectors.front().lanes(Dtype::kF32));
  registers.layout.group = static_cast<uint8_t>(group);
  return Chain(TypedSpec(types, matmul), target, {registers, Microkernel()});
}

// The same in the best arithmetic's groups.
Impl DotTile(const MatmulTypes& types, const Target& target, uint32_t rows, uint32_t columns) {
  return DotTile(types, target, rows, columns, Info(BestArithmetic(types.lhs, types.rhs, target)).group);
}

TEST(TypesCode, TheInstructionsOfEachIsa) {
  const std::vector<VectorIsa> isas = VectorIsas();
  const VectorIsa &avx2 = isas[0], &avxvnni = isas[1], &bw = isas[3], &vnni = isas[4], &int8 = isas[5];
  EXPECT_THAT(Assembly(kBf16, vnni), HasSubstr("vdpbf16ps"));
  EXPECT_THAT(Assembly(kBf16, bw), HasSubstr("vfmadd231ps"));
  EXPECT_THAT(Assembly(kBf16, avx2), HasSubstr("vfmadd231ps"));
  EXPECT_THAT(Assembly(kF16, avx2), HasSubstr("vcvtph2ps"));
  EXPECT_THAT(Assembly(kF16, vnni), HasSubstr("vcvtph2ps"));
  EXPECT_THAT(Assembly(kU8S8, vnni), HasSubstr("vpdpbusd"));
  EXPECT_THAT(Assembly(kU8S8, avxvnni), HasSubstr("{vex}\tvpdpbusd"));
  EXPECT_THAT(Assembly(kU8S8, avx2), HasSubstr("vpmaddwd"));
  EXPECT_THAT(Assembly(kS8S8, vnni), HasSubstr("vpdpbusd"));  // lhs as u8
  EXPECT_THAT(Assembly(kS8S8, vnni), ::testing::Not(HasSubstr("vpdpwssd")));
  EXPECT_THAT(Assembly(kS8S8, int8), HasSubstr("vpdpbssd"));  // as it is
  EXPECT_THAT(Assembly(kS8S8, int8), ::testing::Not(HasSubstr("vpdpbusd")));
  EXPECT_THAT(Assembly(kU8S8, int8), HasSubstr("{vex}\tvpdpbusd"));
  EXPECT_THAT(Assembly(kS8S8, bw), HasSubstr("vpmaddwd"));
  EXPECT_THAT(Assembly(kS8S8, avx2), HasSubstr("vpmovsxbw"));
  EXPECT_THAT(Assembly(kS32, avx2), HasSubstr("vpmulld"));
}

// Words of bf16 are parted by a shift and a mask (AVX2: a blend), without a shuffle to widen them.
TEST(TypesCode, PairsAreNotWidenedByShuffles) {
  for (const VectorIsa& isa : {VectorIsas()[0], VectorIsas()[2], VectorIsas()[3]})
    for (const MatmulTypes& types : {kF32Bf16, kBf16}) {
      const Target target = TargetOf(isa);
      const LoopProgram program = Lower(DotTile(types, target, 2, 3), target, "kernel");
      const std::string assembly = EmitAssembly(program, target).value_or("");
      EXPECT_THAT(assembly, HasSubstr("vfmadd231ps"));
      EXPECT_THAT(assembly, HasSubstr("vpslld"));
      EXPECT_THAT(assembly, ::testing::Not(HasSubstr("vpmovzxwd")));
    }
}

// What RegistersNeeded admits but LLVM spills for: conversions take registers of their own, which the fences
// do not keep apart. Seen: of AVX2 tiles, bf16 and f16 that widen and s32 6x16; of AVX-512 tiles, f16 14x32.
bool MaySpill(const RegisterTile& tile, Dtype dtype, const VectorUnit& unit) {
  return dtype == Dtype::kF16 || (tile.group() == 1 && unit.registers == 16);
}

// The innermost loops of a program's code.
std::vector<LoopCode> LoopsOf(const Impl& impl, const Target& target) {
  const absl::StatusOr<std::string> object = EmitObject(Lower(impl, target, "kernel"), target);
  EXPECT_TRUE(object.ok()) << object.status();
  const absl::StatusOr<std::vector<LoopCode>> loops = InnermostLoops(object.value_or(""));
  EXPECT_TRUE(loops.ok()) << loops.status();
  return loops.value_or(std::vector<LoopCode>());
}

class TypesSpillsTest : public ::testing::TestWithParam<VectorIsa> {};
INSTANTIATE_TEST_SUITE_P(All, TypesSpillsTest, ::testing::ValuesIn(VectorIsas()),
                         [](const auto& info) { return info.param.name; });

TEST_P(TypesSpillsTest, NoSpillsInTheHotLoop) {
  const Target target = TargetOf(GetParam());
  const VectorUnit& unit = target.vectors.front();
  for (const MatmulTypes& types : {kBf16, kF32Bf16, kF16, kU8S8, kS8S8, kS32})
    for (uint32_t rows : {1, 2, 3, 4, 6, 8, 10, 12, 14})
      for (uint32_t columns : {1, 2, 3, 4}) {
        const Impl impl = PackedTile(TileSpec(types, target, rows, columns), target, columns);
        const Impl& packed = impl.children[0].impl;
        const RegisterTile tile = RegisterTileOf(packed.spec, packed.decision.layout, target);
        if (RegistersNeeded(tile, unit) > unit.registers || MaySpill(tile, types.lhs, unit)) continue;
        for (const LoopCode& loop : LoopsOf(impl, target))
          EXPECT_EQ(loop.vector_spills, 0) << NameOf(types) << " " << loop.function;
      }
}

// Nor are vectors copied: even and odd elements are added to an accumulator in place.
TEST_P(TypesSpillsTest, NoSpillsInDotProductsOfPairs) {
  const Target target = TargetOf(GetParam());
  const VectorUnit& unit = target.vectors.front();
  for (uint32_t rows : {1, 2, 3, 4})
    for (uint32_t columns : {1, 2, 3, 4, 5, 6, 8, 9, 12, 16, 24}) {
      const Impl impl = DotTile(kF32Bf16, target, rows, columns);
      const RegisterTile tile = RegisterTileOf(impl.spec, impl.decision.layout, target);
      if (RegistersNeeded(tile, unit) > unit.registers) continue;
      for (LoopCode loop : LoopsOf(impl, target)) {
        EXPECT_EQ(loop.vector_spills, 0) << loop.function;
        if (unit.registers == 16) {
          EXPECT_EQ(loop.mnemonics["vmovaps ymm"], 0) << loop.function;
        }
      }
    }
}

// Columns of blocks are decoded one by one, and vectors of lhs loaded for each: kept from one column to the
// next, they would take the registers of sums. (With 16 registers, constants of the decoding are read from
// memory; of q4_k and q6_k the factors of parts are. Where lhs is widened, or floats of 8 bits are decoded,
// tiles with most sums spill some.)
TEST_P(TypesSpillsTest, NoSpillsInDotProductsOfBlocks) {
  const Target target = TargetOf(GetParam());
  const VectorUnit& unit = target.vectors.front();
  if (unit.registers == 16) return;
  for (Dtype lhs : {Dtype::kF32, Dtype::kBf16})
    for (Dtype blocks : {Dtype::kQ8_0, Dtype::kQ4_0, Dtype::kQ4_1, Dtype::kMxfp4, Dtype::kSfp8})
      for (uint32_t rows : {1, 2, 3, 4, 6, 8})
        for (uint32_t columns : {1, 2, 3, 4, 5, 6}) {
          const MatmulTypes types{lhs, blocks, Dtype::kF32};
          const Impl impl = DotTile(types, target, rows, columns, 1);
          const RegisterTile tile = RegisterTileOf(impl.spec, impl.decision.layout, target);
          if (RegistersNeeded(tile, unit) > unit.registers) continue;
          const int most = lhs == Dtype::kF32 && blocks != Dtype::kSfp8 ? 0 : 16;
          for (const LoopCode& loop : LoopsOf(impl, target))
            EXPECT_LE(loop.vector_spills, most) << loop.function;
        }
}

}  // namespace
}  // namespace kirsch::testing
