// SPDX-License-Identifier: Apache-2.0
// Microkernels: specs of about one register tile, operands in L1, called through the JIT.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <memory>

#include "bench/micro/benchmark_program.h"
#include "bench/workload/workload.h"
#include "codegen/llvm/jit.h"

namespace kirsch {
namespace {

constexpr size_t kPageBytes = 4096;

std::unique_ptr<void, decltype(&std::free)> Pages(size_t bytes) {
  const size_t rounded = (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
  return {std::aligned_alloc(kPageBytes, rounded), &std::free};
}

// `text` is a spec. Reports FLOP/s.
void BM_Kernel(benchmark::State& state, const char* text) {
  const BenchmarkProgram solved = SolveForBenchmark(text);
  const absl::StatusOr<std::unique_ptr<JitKernel>> kernel = JitCompile(solved.program, solved.target);
  absl::StatusOr<Workload> workload = MakeWorkload(solved.spec, 1);
  KIRSCH_CHECK(kernel.ok() && workload.ok());
  const auto operands = Pages(PlacedBytes(*workload));
  const auto scratch = Pages(static_cast<size_t>(solved.program.scratch_bytes));
  Place(operands.get(), *workload);
  FillInputs(*workload);
  FillOutput(*workload);
  const Problem& problem = workload->problem;
  for (auto _ : state) (*kernel)->function()(problem.lhs, problem.rhs, problem.out, scratch.get(), 0, 1);
  state.counters["FLOP/s"] =
      benchmark::Counter(Flops(solved.spec), benchmark::Counter::kIsIterationInvariantRate);
}

BENCHMARK_CAPTURE(BM_Kernel, tile_14x256x32, "matmul f32 14x256x32 accumulate");
BENCHMARK_CAPTURE(BM_Kernel, tile_6x256x16, "matmul f32 6x256x16 accumulate");
BENCHMARK_CAPTURE(BM_Kernel, tile_4x256x64, "matmul f32 4x256x64 accumulate");
BENCHMARK_CAPTURE(BM_Kernel, masked_13x256x29, "matmul f32 13x256x29 accumulate");
BENCHMARK_CAPTURE(BM_Kernel, row_1x128x48, "matmul f32 1x128x48 accumulate");
BENCHMARK_CAPTURE(BM_Kernel, dot_4x512x4, "matmul f32 4x512x4 rhs=col accumulate");

}  // namespace
}  // namespace kirsch

BENCHMARK_MAIN();
