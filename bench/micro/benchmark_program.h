// SPDX-License-Identifier: Apache-2.0
// Solves a spec for the Google Benchmark binaries, once, before anything is timed.
#ifndef KIRSCH_BENCH_MICRO_BENCHMARK_PROGRAM_H_
#define KIRSCH_BENCH_MICRO_BENCHMARK_PROGRAM_H_

#include "codegen/llvm/host_cpu.h"
#include "codegen/lower.h"
#include "cost/cost_model.h"
#include "memo/hash_memo.h"
#include "search/solver/search.h"
#include "spec/check.h"
#include "spec/language/parser.h"
#include "spec/target/targets.h"

namespace kirsch {

// The best program of a spec for this machine's target.
struct BenchmarkProgram {
  Target target;
  Spec spec;
  LoopProgram program;
};

// Searches and lowers. `text` must be a good spec; else the benchmark aborts.
inline BenchmarkProgram SolveForBenchmark(const char* text) {
  const absl::StatusOr<ParsedSpec> parsed = ParseSpec(text);
  const absl::StatusOr<TargetFile> file = FindTarget("host", DetectHostCpu().name);
  KIRSCH_CHECK(parsed.ok() && file.ok());
  HashMemo memo;
  const Spec root = PlaceOperands(parsed->spec, Residency::kWarm, file->target);
  const Impl impl = Search(root, CostModel(file->target), memo, {}).impl;
  return {file->target, parsed->spec, Lower(impl, file->target, "kernel")};
}

}  // namespace kirsch

#endif  // KIRSCH_BENCH_MICRO_BENCHMARK_PROGRAM_H_
