// SPDX-License-Identifier: Apache-2.0
// Measures the speed of the search: cold searches by one worker and by two. The target is fixed, so that
// figures compare between machines.
#include <benchmark/benchmark.h>

#include <cstdint>

#include "cost/cost_model.h"
#include "memo/hash_memo.h"
#include "search/solver/search.h"
#include "spec/check.h"
#include "spec/language/parser.h"
#include "spec/target/targets.h"

namespace kirsch {
namespace {

// Searches for the spec `text` from an empty memo. Reports specs solved per second, in all and per worker,
// memo entries, and the memo's bytes per entry.
void BM_Search(benchmark::State& state, const char* text, int workers) {
  const absl::StatusOr<ParsedSpec> parsed = ParseSpec(text);
  const absl::StatusOr<TargetFile> file = FindTarget("znver4", "");
  KIRSCH_CHECK(parsed.ok() && file.ok());
  const CostModel model(file->target);
  const Spec root = PlaceOperands(parsed->spec, Residency::kWarm, file->target);
  SearchOptions options;
  options.workers = workers;
  int64_t solved = 0;
  Memo::Counts counts;
  // A memo of its own for each search, or the second would only look up the answer.
  for (auto _ : state) {
    HashMemo memo;
    solved += Search(root, model, memo, options).stats.specs_solved;
    counts = memo.counts();
  }
  state.counters["specs/s"] = benchmark::Counter(static_cast<double>(solved), benchmark::Counter::kIsRate);
  state.counters["specs/s/worker"] =
      benchmark::Counter(static_cast<double>(solved) / workers, benchmark::Counter::kIsRate);
  state.counters["entries"] = static_cast<double>(counts.specs);
  state.counters["bytes/entry"] = static_cast<double>(counts.bytes) / static_cast<double>(counts.specs);
}

#define KIRSCH_SEARCH_BENCHMARK(name, text)                                                  \
  BENCHMARK_CAPTURE(BM_Search, name, text, 1)->Unit(benchmark::kMillisecond)->UseRealTime(); \
  BENCHMARK_CAPTURE(BM_Search, name##_two_workers, text, 2)->Unit(benchmark::kMillisecond)->UseRealTime()

// Cubes of three sizes, an odd shape, and a vector by a matrix.
KIRSCH_SEARCH_BENCHMARK(cube_64, "matmul f32 64x64x64");
KIRSCH_SEARCH_BENCHMARK(cube_512, "matmul f32 512x512x512");
KIRSCH_SEARCH_BENCHMARK(cube_1000, "matmul f32 1000x1000x1000");
KIRSCH_SEARCH_BENCHMARK(odd_17x1031x523, "matmul f32 17x1031x523");
KIRSCH_SEARCH_BENCHMARK(vector_4096, "matmul f32 1x4096x4096");

}  // namespace
}  // namespace kirsch

BENCHMARK_MAIN();
