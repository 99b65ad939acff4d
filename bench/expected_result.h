// The right result of a graph: its loops in float64.
#ifndef KIRSCH_BENCH_EXPECTED_RESULT_H_
#define KIRSCH_BENCH_EXPECTED_RESULT_H_

#include <vector>

#include "absl/status/statusor.h"
#include "bench/compiled_loops.h"
#include "bench/graph_workload.h"
#include "bench/reference.h"

namespace kirsch {

struct ExpectedResult {
  std::vector<double> values;  // of every element; what is no finite number is not compared
  double tolerance = 0;        // of every element: an error beyond it is a wrong result, not rounding
  double relative = 0;         // and this times the value, for the rounding of a narrow output
};

// `loops` are the graph's LoopsKind::kReference. Reads the inputs as they are now. ResourceExhausted without
// memory.
absl::StatusOr<ExpectedResult> ComputeReference(const GraphProblem& problem, const CompiledLoops& loops);

OutputCheck CheckOutput(const ExpectedResult& reference, const GraphProblem& problem);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_EXPECTED_RESULT_H_
