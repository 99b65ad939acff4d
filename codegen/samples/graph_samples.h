// SPDX-License-Identifier: Apache-2.0
// Computes a few elements of what a graph's kernel returns, so that the self-test of a header can compare
// them. The parameters follow from a formula, so the header makes them again instead of storing them.
// Internal to codegen/, but for tools that make headers.
#ifndef KIRSCH_CODEGEN_SAMPLES_GRAPH_SAMPLES_H_
#define KIRSCH_CODEGEN_SAMPLES_GRAPH_SAMPLES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "spec/dtype.h"
#include "spec/graph/graph.h"

namespace kirsch {

// One element of a result, with the error that a kernel may make.
struct GraphSample {
  size_t result = 0;            // which of the kernel's results
  int64_t element = 0;          // where it lies
  double value = 0, error = 0;  // as spec/meaning/graph_reference.h says
};

// All that the self-test needs of one member of a family, or of a single graph.
struct GraphSamples {
  std::vector<uint32_t> sizes;    // of a family's member: its values of those that vary
  std::vector<int64_t> elements;  // of each parameter, then of each result; gaps, too
  std::vector<bool> constant;     // is the parameter one?
  std::vector<GraphSample> samples;
};

// Says which bits a parameter's element has. Floats are between 1/2 and 1, or their negatives; integers are
// small. For the p-th parameter, p from 0, s begins as p + 1. Each element takes s = s * 1664525 + 1013904223
// modulo 2^32; its bits are the highest of s, & keep | set. An f64 is two such words, the upper one second.
// Parameters of types of blocks are SampledBlocks.
struct SampleBits {
  uint32_t keep, set;
};
SampleBits SampleBitsOf(Dtype dtype);
// How many words an element is made of.
inline int SampleWords(Dtype dtype) { return std::max(1, Bytes(dtype) / kWordBytes); }

// Families of many members have fewer samples of each, or none (header_function.cc).
enum class SampleCount : uint8_t { kNone, kThree, kNine };

// Keeps the elements of parameters that are read first, as the reference reads them many times, and all
// members of a family have the same ones. They may be larger than the memory, so there is a limit.
class KeptElements {
 public:
  // Returns the elements of a parameter that is not of blocks, from the first one to `end`; null if these are
  // too many to keep.
  const double* Find(int parameter, Dtype dtype, int64_t end);

 private:
  std::vector<std::vector<double>> of_parameter_;
  int64_t kept_ = 0;
};

// Runs the reference on the sampled parameters. `winograd`: see GraphReference. Samples that are not finite,
// or may be anything, are left out; small results have fewer.
GraphSamples MakeSamples(const Graph& graph, const std::map<int, int>& winograd, SampleCount count,
                         KeptElements& kept);
GraphSamples MakeSamples(const Graph& graph, const std::map<int, int>& winograd,
                         SampleCount count = SampleCount::kNine);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_SAMPLES_GRAPH_SAMPLES_H_
