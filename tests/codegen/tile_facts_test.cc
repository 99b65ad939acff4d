// SPDX-License-Identifier: Apache-2.0
// What is predicted of register tiles against their machine code.
#include "cost/tile_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "codegen/llvm/emit.h"
#include "codegen/llvm/spills.h"
#include "codegen/lower.h"
#include "rewrites/spec/rewrite.h"
#include "spec/microkernel.h"
#include "tests/testing/codegen_testing.h"

namespace kirsch::testing {
namespace {

struct Cpu {
  bool avx512;
  const char* name;
};

class TileFactsTest : public ::testing::TestWithParam<Cpu> {
 protected:
  TileFactsTest() { target_.cpu = GetParam().name; }

  // The loop of the most multiply-adds of the tile's machine code.
  LoopCode HotLoop(const Impl& impl) {
    const absl::StatusOr<std::string> object = EmitObject(Lower(impl, target_, "kernel"), target_);
    EXPECT_TRUE(object.ok()) << object.status();
    const absl::StatusOr<std::vector<LoopCode>> loops = InnermostLoops(*object);
    EXPECT_TRUE(loops.ok() && !loops->empty());
    LoopCode hot;
    for (const LoopCode& loop : *loops)
      if (loop.instructions > hot.instructions) hot = loop;
    return hot;
  }

  Target target_ = TestTarget(GetParam().avx512);
};

INSTANTIATE_TEST_SUITE_P(Cpu, TileFactsTest,
                         ::testing::Values(Cpu{false, "haswell"}, Cpu{true, "skylake-avx512"},
                                           Cpu{true, "znver4"}),
                         [](const auto& info) {
                           std::string name = info.param.name;
                           std::erase(name, '-');
                           return name;
                         });

TEST_P(TileFactsTest, InstructionsOfTheHotLoopAreThoseOfItsMachineCode) {
  for (const VectorUnit& unit : target_.vectors)
    for (LayoutKind form : {LayoutKind::kVectors, LayoutKind::kPartialSums})
      for (uint32_t m = 1; m <= 14; ++m)
        for (uint32_t columns = 1; columns <= 6; ++columns)
          for (uint32_t missing : {0, 1}) {
            const bool dot = form == LayoutKind::kPartialSums;
            if (dot && missing) continue;
            const uint32_t n = dot ? columns : columns * static_cast<uint32_t>(unit.bytes) / 4 - missing;
            const Spec spec = MakeSpec({m, 320, n, 1, Order::kRow, dot ? Order::kCol : Order::kRow, 0});
            const Decision registers = IntoRegisters(form, unit.bytes / 4);
            if (RegistersNeeded(RegisterTileOf(spec, registers.layout, target_), unit) > unit.registers)
              continue;
            const Impl impl = Chain(spec, target_, {registers, Microkernel()});
            const Spec& microkernel = impl.children[0].impl.spec;
            Expansion expansion;
            Expand(microkernel, impl.children[0].impl.decision, target_, &expansion);
            const TileFacts facts = TileFactsOf(microkernel, expansion, target_);
            const LoopCode loop = HotLoop(impl);
            EXPECT_EQ(facts.instructions, loop.instructions) << loop.function;
            EXPECT_EQ(facts.spills, loop.vector_spills) << loop.function;
          }
}

}  // namespace
}  // namespace kirsch::testing
