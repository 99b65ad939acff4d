// SPDX-License-Identifier: Apache-2.0
// Measures microkernels: specs of about one register tile, operands in L1, called through the JIT.
//
// The bench measures the same with peers beside them; here a change of a kernel shows within seconds.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <memory>

#include "bench/micro/benchmark_program.h"
#include "bench/workload/workload.h"
#include "codegen/llvm/jit.h"

namespace kirsch {
namespace {

constexpr size_t kPageBytes = 4096;

// Memory of whole pages, since Place wants page-aligned memory.
std::unique_ptr<void, decltype(&std::free)> Pages(size_t bytes) {
  const size_t rounded = (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
  return {std::aligned_alloc(kPageBytes, rounded), &std::free};
}

// Times one spec, `text`, and reports FLOP/s. All specs accumulate, so that the output is read as well as
// written.
void BM_Kernel(benchmark::State& state, const char* text) {
  const BenchmarkProgram solved = SolveForBenchmark(text);
  const absl::StatusOr<std::unique_ptr<JitKernel>> kernel = JitCompile(solved.program, solved.target);
  absl::StatusOr<Workload> workload = MakeWorkload(solved.spec, 1);
  KIRSCH_CHECK(kernel.ok() && workload.ok());
  const auto operands = Pages(PlacedBytes(*workload));
  const auto scratch = Pages(static_cast<size_t>(solved.program.scratch_bytes));
  Place(operands.get(), *workload);
  FillInputs(*workload);
  FillOutputs(*workload);
  const Problem& problem = workload->problem;
  for (auto _ : state) (*kernel)->function()(problem.lhs, problem.rhs, problem.out, scratch.get(), 0, 1);
  state.counters["FLOP/s"] =
      benchmark::Counter(Flops(solved.spec), benchmark::Counter::kIsIterationInvariantRate);
}

// Whole tiles of three shapes; a masked one; a row; and dot products.
BENCHMARK_CAPTURE(BM_Kernel, tile_14x256x32, "matmul f32 14x256x32 accumulate");
BENCHMARK_CAPTURE(BM_Kernel, tile_6x256x16, "matmul f32 6x256x16 accumulate");
BENCHMARK_CAPTURE(BM_Kernel, tile_4x256x64, "matmul f32 4x256x64 accumulate");
BENCHMARK_CAPTURE(BM_Kernel, masked_13x256x29, "matmul f32 13x256x29 accumulate");
BENCHMARK_CAPTURE(BM_Kernel, row_1x128x48, "matmul f32 1x128x48 accumulate");
BENCHMARK_CAPTURE(BM_Kernel, dot_4x512x4, "matmul f32 4x512x4 rhs=col accumulate");

}  // namespace
}  // namespace kirsch

BENCHMARK_MAIN();
