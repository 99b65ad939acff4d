// SPDX-License-Identifier: Apache-2.0
// Objects for Windows: COFF, the symbol, and Windows' calling convention, which is run here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "codegen/llvm/emit.h"
#include "codegen/llvm/jit.h"
#include "codegen/lower.h"
#include "spec/text/cat.h"
#include "tests/testing/header_testing.h"

// Calls a function of Windows' convention with six arguments, the registers that it must preserve holding
// `before`; `after`: what they hold then. Both: xmm6 to xmm15, then rsi and rdi.
extern "C" void CallAsWindows(const void* function, const void* const* arguments, const void* before,
                              void* after);
extern "C" void ClobberXmm6();
extern "C" void ClobberXmm15();
extern "C" void ClobberRsi();
asm(R"(
  .text
  .globl CallAsWindows, ClobberXmm6, ClobberXmm15, ClobberRsi
CallAsWindows:
  push %rbp
  mov %rsp, %rbp
  push %rbx
  push %r12
  mov %rcx, %rbx
  mov %rdi, %rax
  mov %rsi, %r12
  movups (%rdx), %xmm6
  movups 16(%rdx), %xmm7
  movups 32(%rdx), %xmm8
  movups 48(%rdx), %xmm9
  movups 64(%rdx), %xmm10
  movups 80(%rdx), %xmm11
  movups 96(%rdx), %xmm12
  movups 112(%rdx), %xmm13
  movups 128(%rdx), %xmm14
  movups 144(%rdx), %xmm15
  mov 160(%rdx), %rsi
  mov 168(%rdx), %rdi
  sub $48, %rsp
  mov 32(%r12), %rcx
  mov %rcx, 32(%rsp)
  mov 40(%r12), %rcx
  mov %rcx, 40(%rsp)
  mov (%r12), %rcx
  mov 8(%r12), %rdx
  mov 16(%r12), %r8
  mov 24(%r12), %r9
  call *%rax
  add $48, %rsp
  movups %xmm6, (%rbx)
  movups %xmm7, 16(%rbx)
  movups %xmm8, 32(%rbx)
  movups %xmm9, 48(%rbx)
  movups %xmm10, 64(%rbx)
  movups %xmm11, 80(%rbx)
  movups %xmm12, 96(%rbx)
  movups %xmm13, 112(%rbx)
  movups %xmm14, 128(%rbx)
  movups %xmm15, 144(%rbx)
  mov %rsi, 160(%rbx)
  mov %rdi, 168(%rbx)
  pop %r12
  pop %rbx
  pop %rbp
  ret
ClobberXmm6:
  pxor %xmm6, %xmm6
  ret
ClobberXmm15:
  pxor %xmm15, %xmm15
  ret
ClobberRsi:
  xor %esi, %esi
  ret
)");

namespace kirsch::testing {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class Win64Test : public HeaderTest {
 protected:
  // What the LLVM tool says of the object.
  std::string Ask(const std::string& tool, const std::string& object) const {
    return Output(Cat(tool, " ", Write("kernel.obj", object)));
  }
  int lanes() const { return target_.vectors.front().bytes / 4; }
  // A tile that takes nearly all registers; packing.
  std::vector<LoopProgram> Programs() const {
    const Impl tile = Chain(tile_, target_, {IntoRegisters(LayoutKind::kVectors, lanes()), Microkernel()});
    return {Lower(tile, target_, "kernel"), Lower(PackedImpl(packed_), target_, "kernel")};
  }

  const Spec tile_ = MakeSpec({GetParam() ? 14u : 6u, 40, 2 * static_cast<uint32_t>(lanes())});
  const Spec packed_ = MakeSpec({13, 19, 37, 1, Order::kCol, Order::kRow, 2, true});
};

INSTANTIATE_TEST_SUITE_P(Isa, Win64Test, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Avx512" : "Avx2"; });

TEST_P(Win64Test, ObjectsAreCoffWithTheSymbol) {
  if (!HaveCommand("llvm-readobj-19")) GTEST_SKIP() << "llvm-readobj-19 is not installed";
  for (const LoopProgram& program : Programs()) {
    const absl::StatusOr<std::string> object = EmitObject(program, target_, {Abi::kWin64});
    ASSERT_TRUE(object.ok()) << object.status();
    EXPECT_THAT(*object, StartsWith("\x64\x86"));
    const std::string said = Ask("llvm-readobj-19 --file-headers --symbols --unwind", *object);
    EXPECT_THAT(said, HasSubstr("Format: COFF-x86-64"));
    const size_t symbol = said.find("Name: kernel\n");
    ASSERT_NE(symbol, std::string::npos);
    EXPECT_THAT(said.substr(symbol, 200), HasSubstr("StorageClass: External"));
    EXPECT_THAT(said, HasSubstr("StartAddress: kernel "));  // it can be unwound
  }
}

TEST_P(Win64Test, ArgumentsAreInWindowsRegisters) {
  if (!HaveCommand("llvm-objdump-19")) GTEST_SKIP() << "llvm-objdump-19 is not installed";
  const Spec spec = MakeSpec({1, 4, 8});
  const Impl impl = Chain(spec, target_, {IntoRegisters(LayoutKind::kVectors, 8), Microkernel()});
  const LoopProgram program = Lower(impl, target_, "kernel");
  const auto disassembled = [&](Abi abi) {
    return Ask("llvm-objdump-19 -d --no-show-raw-insn", *EmitObject(program, target_, {abi}));
  };
  // The only procedure loads from lhs and rhs and stores to out.
  const std::string windows = disassembled(Abi::kWin64), linux = disassembled(Abi::kSystemV);
  EXPECT_THAT(windows, HasSubstr("(%rcx)"));
  EXPECT_THAT(windows, HasSubstr("(%rdx)"));
  EXPECT_THAT(windows, HasSubstr("(%r8)"));
  EXPECT_THAT(windows, Not(HasSubstr("(%rdi)")));
  EXPECT_THAT(linux, HasSubstr("(%rdi)"));
  EXPECT_THAT(linux, Not(HasSubstr("(%r8)")));
}

TEST_P(Win64Test, TheObjectRunsAsWindowsWould) {
  if (!HostRuns(target_)) GTEST_SKIP() << "this host lacks " << MissingOnHost(target_.features);
  const Spec* const specs[] = {&tile_, &packed_};
  for (size_t i = 0; i < 2; ++i) {
    const LoopProgram program = Programs()[i];
    if (i == 0) {  // it has something to preserve
      EXPECT_THAT(*EmitAssembly(program, target_, {Abi::kWin64}), ContainsRegex("movu?aps\t%xmm6, .*rsp"));
    }
    const auto kernel = JitCompile(program, target_, Abi::kWin64);
    ASSERT_TRUE(kernel.ok()) << kernel.status();
    static Win64KernelFunction function;
    static std::array<uint64_t, 22> before, after;
    function = (*kernel)->win64_function();
    for (size_t word = 0; word < before.size(); ++word) before[word] = 0x123456789abcdef0u + word;
    const KernelFunction adapter = [](const void* lhs, const void* rhs, void* out, void* scratch,
                                      size_t thread, size_t n_threads) {
      const void* const arguments[] = {
          lhs, rhs, out, scratch, reinterpret_cast<void*>(thread), reinterpret_cast<void*>(n_threads)};
      CallAsWindows(reinterpret_cast<void*>(function), arguments, before.data(), after.data());
    };
    EXPECT_TRUE(MatchesNaive(*specs[i], adapter, program.scratch_bytes));
    EXPECT_EQ(after, before);
  }
}

// The test above can fail.
TEST_P(Win64Test, ClobberedRegistersAreNoticed) {
  std::array<uint64_t, 22> before, after;
  before.fill(1);
  const void* const arguments[6] = {};
  for (const void* function :
       {reinterpret_cast<const void*>(ClobberXmm6), reinterpret_cast<const void*>(ClobberXmm15),
        reinterpret_cast<const void*>(ClobberRsi)}) {
    CallAsWindows(function, arguments, before.data(), after.data());
    EXPECT_NE(after, before);
  }
}

}  // namespace
}  // namespace kirsch::testing
