// SPDX-License-Identifier: Apache-2.0
// Graphs that are one contraction with an epilogue, as specs; and such specs as graphs.
#ifndef KIRSCH_SPEC_LANGUAGE_CONTRACTION_GRAPH_H_
#define KIRSCH_SPEC_LANGUAGE_CONTRACTION_GRAPH_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "spec/graph/graph.h"
#include "spec/language/parser.h"

namespace kirsch {

// The spec of a graph that is one matmul of two parameters, perhaps transposed, or one convolution, and a
// chain of elementwise operations on it, with parameters and numbers. It has the kernel's own parameters.
// InvalidArgument, with the place in `source`: the graph is something else.
absl::StatusOr<ParsedSpec> AsContraction(const Graph& graph, std::string_view source);

// The other way: the matmul of a canonical spec and its epilogue, as a graph of lhs, rhs, and what the
// epilogue takes. Error: it has what graphs have not, as operands that are not dense, or `accumulate`.
absl::StatusOr<Graph> MatmulGraph(const ParsedSpec& parsed);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_LANGUAGE_CONTRACTION_GRAPH_H_
