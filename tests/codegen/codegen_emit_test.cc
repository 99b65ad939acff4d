// SPDX-License-Identifier: Apache-2.0
// Files for any x86 target, whatever this host is, and the text of loop programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codegen/llvm/emit.h"
#include "codegen/loop/loop_text.h"
#include "codegen/lower.h"
#include "spec/text/cat.h"
#include "tests/testing/codegen_testing.h"

namespace kirsch::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

LoopProgram OneTile(const Matmul& matmul, const Target& target, int lanes) {
  const Spec spec = MakeSpec(matmul);
  return Lower(Chain(spec, target, {IntoRegisters(LayoutKind::kVectors, lanes), Microkernel()}), target,
               "kernel");
}

TEST(Emit, EveryCpuOnEveryHost) {
  for (const char* cpu : {"haswell", "sierraforest", "znver1", "znver2", "znver3", "skylake-avx512", "znver4",
                          "znver5", "sapphirerapids"}) {
    const std::string name = cpu;
    Target target = TestTarget(name == "skylake-avx512" || name == "sapphirerapids" || name >= "znver4");
    target.cpu = cpu;
    const LoopProgram program = OneTile({3, 5, 11}, target, 8);
    const absl::StatusOr<std::string> object = EmitObject(program, target);
    ASSERT_TRUE(object.ok()) << cpu << ": " << object.status();
    EXPECT_THAT(*object, StartsWith("\x7f"
                                    "ELF"));
    const absl::StatusOr<std::string> ir = EmitLlvmIr(program, target);
    ASSERT_TRUE(ir.ok());
    EXPECT_THAT(*ir, HasSubstr("define void @kernel(ptr"));
    EXPECT_THAT(*ir, HasSubstr(Cat("\"tune-cpu\"=\"", cpu, "\"")));
  }
}

TEST(Emit, UnknownCpuIsAnErrorInOneLine) {
  Target target = TestTarget(false);
  target.cpu = "abacus";
  const absl::StatusOr<std::string> assembly = EmitAssembly(OneTile({1, 1, 1}, target, 8), target);
  ASSERT_FALSE(assembly.ok());
  EXPECT_EQ(assembly.status().message(), "target test-avx2: cpu \"abacus\" is not a CPU that LLVM knows");
}

TEST(Emit, EdgesAreMaskedNotScalar) {
  const Target avx512 = TestTarget(true), avx2 = TestTarget(false);
  const absl::StatusOr<std::string> with_masks = EmitAssembly(OneTile({4, 8, 27}, avx512, 16), avx512);
  ASSERT_TRUE(with_masks.ok());
  EXPECT_THAT(*with_masks, HasSubstr("{%k1} {z}"));
  EXPECT_THAT(*with_masks, HasSubstr("{%k1}\n"));
  EXPECT_THAT(*with_masks, Not(HasSubstr("vmovss")));
  const absl::StatusOr<std::string> with_vectors = EmitAssembly(OneTile({4, 8, 13}, avx2, 8), avx2);
  ASSERT_TRUE(with_vectors.ok());
  EXPECT_THAT(*with_vectors, HasSubstr("vmaskmovps"));
  EXPECT_THAT(*with_vectors, Not(HasSubstr("vmovss")));
  EXPECT_THAT(*with_vectors, Not(HasSubstr("%k1")));
  EXPECT_THAT(*with_vectors, Not(HasSubstr("zmm")));
}

TEST(Emit, EntryTakesTheCallersOrder) {
  const Target target = TestTarget(false);
  const Impl impl =
      Chain(MakeSpec({2, 3, 8}), target, {IntoRegisters(LayoutKind::kVectors, 8), Microkernel()});
  const auto parameters = [&](std::vector<Parameter> tensors) {
    const std::string ir =
        EmitLlvmIr(Lower(impl, target, "kernel", {.tensors = std::move(tensors)}), target).value();
    const size_t start = ir.find("@kernel(");
    return ir.substr(start, ir.find('\n', start) - start);
  };
  EXPECT_LT(parameters({}).find("%lhs"), parameters({}).find("%rhs"));
  const std::string own =
      parameters({{"w", MatmulDims::kRhs}, {"x", MatmulDims::kLhs}, {"out", MatmulDims::kOut}});
  EXPECT_LT(own.find("%w"), own.find("%x"));
  EXPECT_LT(own.find("%x"), own.find("%out"));
}

TEST(LoopText, DriverOfATiledMatmul) {
  const Target target = TestTarget(false);
  const Spec spec = MakeSpec({5, 10, 16, 1, Order::kRow, Order::kRow, 0, false, Level::kL1});
  const LoopProgram program = Lower(Chain(spec, target,
                                          {Tile(MatmulDims::kK, 4), Tile(MatmulDims::kM, 2),
                                           IntoRegisters(LayoutKind::kVectors, 8), Microkernel()}),
                                    target, "kernel");
  // The first step of the reduction overwrites, the others add; main and rest of the reduction share kernels.
  EXPECT_THAT(LoopText(program), StartsWith(R"(kernel: scratch 0 bytes, tasks 1, features avx2 fma
kernel(lhs, rhs, out, scratch, thread, n_threads)
  for i6 < 2
    call fma_2x16_v8_r10_r16_r16(lhs + i6 * 20, rhs, out + i6 * 32, 2, 0)
  call fma_1x16_v8_r10_r16_r16(lhs + 40, rhs, out + 64, 1, 0)
  for i7 < 2
    call fma_2x16_v8_r10_r16_r16_add(lhs + i7 * 20 + 4, rhs + 64, out + i7 * 32, 2, 0)
  call fma_1x16_v8_r10_r16_r16_add(lhs + 44, rhs + 64, out + 64, 1, 0)
  for i8 < 2
    call fma_2x16_v8_r10_r16_r16_add(lhs + i8 * 20 + 8, rhs + 128, out + i8 * 32, 1, 0)
  call fma_1x16_v8_r10_r16_r16_add(lhs + 48, rhs + 128, out + 64, 0, 2)
)"));
}

TEST(LoopText, TasksAreNumberedOuterTimesInnerCount) {
  const Target target = TestTarget(false);
  Spec spec = MakeSpec({5, 3, 40, 1, Order::kRow, Order::kRow, 0, false, Level::kL1});
  spec.threads = 4;
  const auto parallel = [](int dim, uint32_t size) {
    Decision decision = Tile(dim, size);
    decision.kind = RewriteKind::kParallelTile;
    decision.parts = 2;
    return decision;
  };
  const LoopProgram program = Lower(Chain(spec, target,
                                          {parallel(MatmulDims::kM, 2), parallel(MatmulDims::kN, 16),
                                           IntoRegisters(LayoutKind::kVectors, 8), Microkernel()}),
                                    target, "kernel");
  EXPECT_EQ(program.tasks, 9);
  const std::string text = LoopText(program);
  EXPECT_THAT(text, StartsWith(R"(kernel: scratch 0 bytes, tasks 9, features avx2 fma
kernel(lhs, rhs, out, scratch, thread, n_threads)
  for i6 < 2
    for i7 < 2
      task i6 * 3 + i7
        call fma_2x16_v8_r3_r40_r40(lhs + i6 * 6, rhs + i7 * 16, out + i6 * 80 + i7 * 16, 1, 1)
    task i6 * 3 + 2
      call fma_2x8_v8_r3_r40_r40(lhs + i6 * 6, rhs + 32, out + i6 * 80 + 32, 0, 3)
  for i8 < 2
    task i8 + 6
      call fma_1x16_v8_r3_r40_r40(lhs + 12, rhs + i8 * 16, out + i8 * 16 + 160, 0, 3)
  task 8
    call fma_1x8_v8_r3_r40_r40(lhs + 12, rhs + 32, out + 192, 0, 3)
)"));
}

}  // namespace
}  // namespace kirsch::testing
