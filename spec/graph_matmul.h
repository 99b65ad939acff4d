// Graphs that are one matmul with an epilogue, as specs.
#ifndef KIRSCH_SPEC_GRAPH_MATMUL_H_
#define KIRSCH_SPEC_GRAPH_MATMUL_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "spec/graph.h"

namespace kirsch {

struct GraphMatmul {
  std::string spec;      // in the shorthand
  std::string operands;  // which parameter of the kernel is which of the spec's: "lhs = x, rhs = w, arg1 = b"
};

// InvalidArgument, with the place in `source`, says what keeps a graph from being one matmul of two
// parameters, perhaps transposed, and a chain of elementwise operations on it, with parameters and numbers.
absl::StatusOr<GraphMatmul> AsMatmul(const Graph& graph, std::string_view source);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_GRAPH_MATMUL_H_
