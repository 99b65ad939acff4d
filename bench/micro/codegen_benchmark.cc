// SPDX-License-Identifier: Apache-2.0
// Measures code generation: the time of each step from the loop program on.
#include <benchmark/benchmark.h>

#include "bench/micro/benchmark_program.h"
#include "codegen/header/header_file.h"
#include "codegen/llvm/emit.h"
#include "codegen/llvm/jit.h"

namespace kirsch {
namespace {

// The program that all of them compile. It is solved when the first benchmark asks.
const BenchmarkProgram& Cube512() {
  static const BenchmarkProgram program = SolveForBenchmark("matmul f32 512x512x512");
  return program;
}

// To machine code in memory, ready to be called.
void BM_JitCompile(benchmark::State& state) {
  for (auto _ : state) KIRSCH_CHECK(JitCompile(Cube512().program, Cube512().target).ok());
}
BENCHMARK(BM_JitCompile)->Unit(benchmark::kMillisecond);

// To LLVM IR as text.
void BM_EmitLlvmIr(benchmark::State& state) {
  for (auto _ : state) KIRSCH_CHECK(EmitLlvmIr(Cube512().program, Cube512().target, {}).ok());
}
BENCHMARK(BM_EmitLlvmIr)->Unit(benchmark::kMillisecond);

// To an object file.
void BM_EmitObject(benchmark::State& state) {
  for (auto _ : state) KIRSCH_CHECK(EmitObject(Cube512().program, Cube512().target, {}).ok());
}
BENCHMARK(BM_EmitObject)->Unit(benchmark::kMillisecond);

// To C, as a header. No compiler is run.
void BM_PrintHeader(benchmark::State& state) {
  HeaderFunction function;
  function.name = Cube512().program.name;
  function.members = {{Cube512().spec}};
  function.variants = {{Cube512().target, {Cube512().program}}};
  for (auto _ : state) benchmark::DoNotOptimize(PrintHeaderFile({.name = "cube", .functions = {function}}));
}
BENCHMARK(BM_PrintHeader)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace kirsch

BENCHMARK_MAIN();
