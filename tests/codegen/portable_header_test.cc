// SPDX-License-Identifier: Apache-2.0
// What a header must bear: sanitizers, operands beyond 2^31 bytes, MSVC. There is no MSVC here: Clang checks
// the code for Windows, and GCC runs it with its own words for MSVC's.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdlib>

#include "absl/strings/str_replace.h"
#include "spec/text/cat.h"
#include "tests/testing/header_testing.h"

namespace kirsch::testing {
namespace {

using ::testing::HasSubstr;

// Memory of which only the pages touched exist.
class SparseMatrix {
 public:
  explicit SparseMatrix(size_t elements)
      : bytes_(elements * sizeof(float)),
        data_(static_cast<float*>(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {}
  ~SparseMatrix() { munmap(data_, bytes_); }
  SparseMatrix(const SparseMatrix&) = delete;
  SparseMatrix& operator=(const SparseMatrix&) = delete;
  bool ok() const { return data_ != MAP_FAILED; }
  float* data() { return data_; }

 private:
  const size_t bytes_;
  float* const data_;
};

class PortableHeaderTest : public HeaderTest {
 protected:
  // One without scratch memory; one that packs, with tasks.
  std::vector<LoopProgram> Programs() const {
    Spec parallel = spec_;
    parallel.threads = 2;
    return {Lower(DotImpl(MakeSpec({3, 77, 3, 1, Order::kRow, Order::kCol})), target_, "kernel"),
            Lower(ParallelImpl(parallel), target_, "kernel")};
  }
  std::string Header(const LoopProgram& program) const {
    const bool dot = program.scratch_bytes == 0;
    return PrintHeader(program, target_,
                       Options(dot ? MakeSpec({3, 77, 3, 1, Order::kRow, Order::kCol}) : spec_));
  }

  const Spec spec_ = MakeSpec({9, 23, 71, 1, Order::kCol, Order::kRow, 3, true});
};

INSTANTIATE_TEST_SUITE_P(Isa, PortableHeaderTest, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Avx512" : "Avx2"; });

TEST_P(PortableHeaderTest, SelfTestsRunUnderSanitizers) {
  if (!HostRuns(target_)) GTEST_SKIP() << "this host lacks " << MissingOnHost(target_.features);
  const std::string flags = "-O1 -fsanitize=address,undefined -fno-sanitize-recover=all -DKERNEL_SELF_TEST";
  for (const LoopProgram& program : Programs()) {
    const std::string header = Header(program);
    ASSERT_TRUE(Compile(Cat("gcc ", kC), flags, Write("kernel.h", header), Path("self_test")));
    EXPECT_TRUE(Run(Path("self_test")));
    if (program.tasks == 1) continue;
    // It would be noticed: an output that is one element short.
    const std::string shorter = absl::StrReplaceAll(header, {{"malloc(on *", "malloc((on - 1) *"}});
    ASSERT_NE(shorter, header);
    ASSERT_TRUE(Compile(Cat("gcc ", kC), flags, Write("kernel.h", shorter), Path("self_test")));
    EXPECT_NE(std::system(Cat(Path("self_test"), " > /dev/null 2>&1").c_str()), 0);
  }
}

// Rows 2 GiB and more apart, in every operand, in both orders.
TEST_P(PortableHeaderTest, OffsetsBeyond31Bits) {
  if (!HostRuns(target_)) GTEST_SKIP() << "this host lacks " << MissingOnHost(target_.features);
  constexpr uint32_t kGap = (1u << 29) + 5;
  for (const Matmul& matmul : {Matmul{3, 2, 3, 1, Order::kRow, Order::kRow, kGap},
                               Matmul{3, 3, 2, 1, Order::kCol, Order::kCol, kGap, true}}) {
    const Spec spec = MakeSpec(matmul);
    std::vector<std::unique_ptr<SparseMatrix>> operands;
    std::vector<size_t> ld;
    for (int operand = 0; operand < 3; ++operand) {
      ld.push_back(spec.tensor(operand).layout.ld);
      const TileExtent extent = ExtentOf(spec, operand);
      operands.push_back(std::make_unique<SparseMatrix>(static_cast<size_t>(extent.outer) * ld.back()));
      if (!operands.back()->ok()) GTEST_SKIP() << "the system gives no address space";
    }
    const auto lhs = [&](size_t m, size_t k) -> float& {
      return operands[0]->data()[matmul.lhs == Order::kRow ? m * ld[0] + k : k * ld[0] + m];
    };
    const auto rhs = [&](size_t k, size_t n) -> float& {
      return operands[1]->data()[matmul.rhs == Order::kRow ? k * ld[1] + n : n * ld[1] + k];
    };
    const auto out = [&](size_t m, size_t n) -> float& { return operands[2]->data()[m * ld[2] + n]; };
    for (size_t m = 0; m < matmul.m; ++m)
      for (size_t k = 0; k < matmul.k; ++k) lhs(m, k) = static_cast<float>(1 + 10 * m + k);
    for (size_t k = 0; k < matmul.k; ++k)
      for (size_t n = 0; n < matmul.n; ++n) rhs(k, n) = static_cast<float>(2 + 7 * k + 3 * n);

    HeaderOptions options = Options(spec);
    options.external = true;
    const LoopProgram program = Lower(PackedImpl(spec), target_, "kernel");
    Write("kernel.c", PrintHeader(program, target_, options));
    ASSERT_TRUE(Compile(Cat("gcc ", kC), "-O2 -shared -fPIC -fsanitize=undefined -fno-sanitize-recover=all",
                        Path("kernel.c"), Path("kernel.so")));
    void* handle = dlopen(Path("kernel.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(handle, nullptr) << dlerror();
    ASSERT_GT(program.scratch_bytes, 0);
    Scratch scratch(program.scratch_bytes);
    reinterpret_cast<void (*)(const float*, const float*, float*, void*)>(dlsym(handle, "kernel"))(
        operands[0]->data(), operands[1]->data(), operands[2]->data(), scratch.get());
    for (size_t m = 0; m < matmul.m; ++m)
      for (size_t n = 0; n < matmul.n; ++n) {
        float sum = 0;
        for (size_t k = 0; k < matmul.k; ++k) sum += lhs(m, k) * rhs(k, n);
        EXPECT_EQ(out(m, n), sum) << m << " " << n;
      }
    dlclose(handle);
  }
}

// Clang as a Windows compiler of its own, and, after the intrinsics, under another name, as MSVC.
TEST_P(PortableHeaderTest, ClangTakesTheCodeForWindows) {
  if (!HaveCommand("clang-19")) GTEST_SKIP() << "clang-19 is not installed";
  const std::string windows =
      "--target=x86_64-pc-windows-msvc -ffreestanding -fms-extensions -fms-compatibility";
  for (const LoopProgram& program : Programs()) {
    Write("kernel.h", Header(program));
    const std::string as_clang = Write("clang.c", "#include \"kernel.h\"\n#include \"kernel.h\"\n");
    const std::string as_msvc = Write("msvc.c",
                                      "#include <immintrin.h>\n#include <intrin.h>\n#include <stddef.h>\n"
                                      "#undef __clang__\n#include \"kernel.h\"\n");
    for (const char* language : {kC, kCpp}) {
      const std::string clang = Cat("clang-19 ", windows, " ", language);
      EXPECT_TRUE(Compile(clang, "-c", as_clang, Path("clang.obj")));
      EXPECT_TRUE(Compile(clang, Cat("-c -mxsave -Wno-unused-function ", Isa()), as_msvc, Path("msvc.obj")));
    }
  }
}

// The branches for MSVC, run here: CPUID says what the builtin says.
TEST_P(PortableHeaderTest, TheBranchesForMsvcRun) {
  if (!HostRuns(target_)) GTEST_SKIP() << "this host lacks " << MissingOnHost(target_.features);
  Write("intrin.h",
        "#include <cpuid.h>\n"
        "#define _ReadWriteBarrier() __asm__ volatile(\"\" ::: \"memory\")\n"
        "#define __declspec(word) __attribute__((word, unused))\n");
  const std::string flags = Cat("-O1 -D_MSC_VER=1930 -DKERNEL_SELF_TEST -mxsave -I", directory_, " ", Isa());
  for (const LoopProgram& program : Programs()) {
    const std::string header = Header(program);
    ASSERT_TRUE(Compile(Cat("gcc ", kC), flags, Write("kernel.h", header), Path("self_test")));
    EXPECT_TRUE(Run(Path("self_test")));
    // A leaf that there is not.
    const std::string lacking =
        absl::StrReplaceAll(header, {{"kernel_cpuid(7, 0", "kernel_cpuid(2147483647, 0"}});
    ASSERT_NE(lacking, header);
    ASSERT_TRUE(Compile(Cat("gcc ", kC), flags, Write("kernel.h", lacking), Path("self_test")));
    EXPECT_EQ(WEXITSTATUS(std::system(Cat(Path("self_test"), " > /dev/null").c_str())), 2);
  }
}

}  // namespace
}  // namespace kirsch::testing
