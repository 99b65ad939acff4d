// SPDX-License-Identifier: Apache-2.0
// Elements of what a graph's kernel returns, for parameters that anyone can make again: what the self-test of
// a header compares. Internal to codegen/, but for tools that make headers.
#ifndef KIRSCH_CODEGEN_SAMPLES_GRAPH_SAMPLES_H_
#define KIRSCH_CODEGEN_SAMPLES_GRAPH_SAMPLES_H_

#include <cstdint>
#include <map>
#include <vector>

#include "spec/graph/graph.h"

namespace kirsch {

struct GraphSample {
  int64_t element = 0;          // where it lies
  double value = 0, error = 0;  // as spec/meaning/graph_reference.h says
};

struct GraphSamples {
  std::vector<uint32_t> sizes;    // of a family's member: its values of those that vary
  std::vector<int64_t> elements;  // of each parameter, then of the result; gaps, too
  std::vector<bool> constant;     // is the parameter one?
  std::vector<GraphSample> samples;
};

// The bits of a parameter's element: floats are between 1/2 and 1, or their negatives; integers are small.
// With s = p + 1 for the p-th parameter, and s = s * 1664525 + 1013904223 modulo 2^32 for each element, these
// are its highest bits & keep | set. Those of blocks are SampledBlocks.
struct SampleBits {
  uint32_t keep, set;
};
SampleBits SampleBitsOf(Dtype dtype);

enum class SampleCount : uint8_t { kNone, kThree, kNine };

// `winograd`: see GraphReference. Of small results there may be fewer samples.
GraphSamples MakeSamples(const Graph& graph, const std::map<int, int>& winograd,
                         SampleCount count = SampleCount::kNine);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_SAMPLES_GRAPH_SAMPLES_H_
