// SPDX-License-Identifier: Apache-2.0
// Tells whether a contender computed what it was asked for, so that a fast wrong answer does not count.
//
// A matmul is compared on a sample of the output's entries, with sums of long double, which are exact for
// integers. A graph is compared on every element, with its loops in float64. (To prove that a kernel of ours
// is right is verification's business, not this one's.)
#ifndef KIRSCH_BENCH_HARNESS_EXPECTED_RESULT_H_
#define KIRSCH_BENCH_HARNESS_EXPECTED_RESULT_H_

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/loops/compiled_loops.h"
#include "bench/workload/workload.h"

namespace kirsch {

// The right values and how far off a contender may be.
struct ExpectedResult {
  std::vector<size_t> offsets;     // elements of `out` that are compared; empty: all are, of all outputs
  std::vector<double> values;      // exact results, up to float64 rounding; not compared if not finite
  std::vector<double> tolerances;  // of each value: an error beyond it is no rounding

  // Allows errors that are so many times as large.
  void Widen(double factor) {
    for (double& tolerance : tolerances) tolerance *= factor;
  }
};

inline constexpr size_t kReferenceEntries = 4096;  // that are compared of a matmul

// A graph that was allowed Winograd's algorithm may be so many times further off: F(4x4,3x3) is about ten
// times as far off as a sum of products.
inline constexpr double kWinogradTolerance = 32;

// Computes the reference from the inputs as they are now, and from the output where a matmul accumulates. So
// call it before the first contender runs. `loops` are those of a graph, LoopsKind::kReference.
// ResourceExhausted without memory.
absl::StatusOr<ExpectedResult> ComputeReference(const Workload& workload,
                                                const CompiledLoops* loops = nullptr);

// The findings of a comparison.
struct OutputCheck {
  double max_error = 0;    // largest |out - value|; infinity where an entry is not a number
  double error_share = 0;  // largest error as a share of its tolerance; likewise
  bool correct = true;     // every compared entry is within its tolerance
};

// Compares the outputs as they are now. Elements whose right value is not finite are left out.
OutputCheck CheckOutput(const ExpectedResult& reference, const Workload& workload);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_HARNESS_EXPECTED_RESULT_H_
