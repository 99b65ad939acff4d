// SPDX-License-Identifier: Apache-2.0
// Whether a contender computed what it was asked for: a float64 reference (exact for integers), of a matmul
// for a sample of the output's entries, of a graph for every element, by its loops. (The proof that a kernel
// of ours is right is verification's business, not this one's; here a fast wrong answer must not count.)
#ifndef KIRSCH_BENCH_HARNESS_EXPECTED_RESULT_H_
#define KIRSCH_BENCH_HARNESS_EXPECTED_RESULT_H_

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/loops/compiled_loops.h"
#include "bench/workload/workload.h"

namespace kirsch {

struct ExpectedResult {
  std::vector<size_t> offsets;     // into out, elements, of what is compared; empty: every element is
  std::vector<double> values;      // the exact results, up to float64 rounding; not compared if not finite
  std::vector<double> tolerances;  // an error beyond it is a wrong result, not rounding; just one: of all
  double relative = 0;             // and this times the value, for the rounding of a narrow output
};

inline constexpr size_t kReferenceEntries = 4096;  // of a matmul

// A graph that was allowed Winograd's algorithm may be so many times further off: F(4x4,3x3) is about ten
// times as far off as a sum of products.
inline constexpr double kWinogradTolerance = 32;

// Reads the inputs and (where a matmul accumulates) the output as they are now. `loops` are those of a graph,
// LoopsKind::kReference. ResourceExhausted without memory.
absl::StatusOr<ExpectedResult> ComputeReference(const Workload& workload,
                                                const CompiledLoops* loops = nullptr);

struct OutputCheck {
  double max_error = 0;    // largest |out - value|; infinity where an entry is not a number
  double error_share = 0;  // the largest part of an entry's tolerance that its error is; likewise
  bool correct = true;     // every compared entry is within its tolerance
};

OutputCheck CheckOutput(const ExpectedResult& reference, const Workload& workload);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_HARNESS_EXPECTED_RESULT_H_
