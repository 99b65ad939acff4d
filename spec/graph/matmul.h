// Graphs that are one matmul with an epilogue, as specs, and back.
#ifndef KIRSCH_SPEC_GRAPH_MATMUL_H_
#define KIRSCH_SPEC_GRAPH_MATMUL_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "spec/graph/graph.h"
#include "spec/text/parser.h"

namespace kirsch {

struct GraphMatmul {
  ParsedSpec spec;
  std::string operands;  // which parameter of the kernel is which of the spec's: "lhs = x, rhs = w, arg1 = b"
};

// InvalidArgument, with the place in `source`, says what keeps a graph from being one matmul of two
// parameters, perhaps transposed, and a chain of elementwise operations on it, with parameters and numbers.
absl::StatusOr<GraphMatmul> AsMatmul(const Graph& graph, std::string_view source);

// The other way: the matmul of a canonical spec and its epilogue, as a graph of lhs, rhs, arg1 and so on.
// Error: it has what graphs have not, as operands that are not dense, or `accumulate`.
absl::StatusOr<Graph> GraphOf(const ParsedSpec& parsed);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_GRAPH_MATMUL_H_
