// One graph to be measured, and its operands in a given piece of memory (compare workload.h).
#ifndef KIRSCH_BENCH_GRAPH_WORKLOAD_H_
#define KIRSCH_BENCH_GRAPH_WORKLOAD_H_

#include <cstddef>
#include <vector>

#include "absl/types/span.h"
#include "bench/contender.h"
#include "bench/peers/graph_peer.h"

namespace kirsch {

using GraphContender = ContenderFor<GraphProblem>;

// Bytes that Place needs.
size_t PlacedBytes(const GraphProblem& problem);

// Points the operands into `memory` (page-aligned, PlacedBytes long), as PlaceBuffers (arena.h) does.
void Place(void* memory, GraphProblem& problem);

// The memory of the inputs and the output.
std::vector<absl::Span<const char>> OperandMemory(const GraphProblem& problem);

// Fills the inputs with reproducible values: floats in [-1, 1), bytes all that there are, wider integers up
// to 2^15.
void FillInputs(const GraphProblem& problem);

// NaN, or -1 in integers.
void FillOutput(const GraphProblem& problem);

// Every input and the output once.
double CompulsoryBytes(const GraphProblem& problem);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_GRAPH_WORKLOAD_H_
