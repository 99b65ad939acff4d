// SPDX-License-Identifier: Apache-2.0
// Turns graphs that are one contraction with an epilogue into specs, and such specs into graphs.
//
// A kernel that has both forms becomes a spec by default (kernel_file.h). So it gets the same answer whether
// the user wrote a shorthand or a kernel of the kernel language:
//
//   kernel k(x: f32[8,64], w: f32[64,32], b: f32[32]): return relu(add(matmul(x, w), b))
//   ->  matmul f32 8x64x32 epilogue=add:n,relu
#ifndef KIRSCH_SPEC_LANGUAGE_CONTRACTION_GRAPH_H_
#define KIRSCH_SPEC_LANGUAGE_CONTRACTION_GRAPH_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "spec/graph/graph.h"
#include "spec/language/parser.h"

namespace kirsch {

// Returns the spec of a graph that is one contraction and a chain of elementwise operations on it. The
// contraction is a matmul of two parameters, perhaps transposed, or a convolution. The operations take
// parameters and numbers. The result has the kernel's own parameters, in their order.
// InvalidArgument, with the place in `source`: the graph is something else, and the message says where.
absl::StatusOr<ParsedSpec> AsContraction(const Graph& graph, std::string_view source);

// The other way: returns the matmul of a canonical spec and its epilogue as a graph of lhs, rhs, and the
// epilogue's operands. InvalidArgument: the spec has something that graphs lack, such as operands that are
// not dense, or `accumulate`.
absl::StatusOr<Graph> MatmulGraph(const ParsedSpec& parsed);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_LANGUAGE_CONTRACTION_GRAPH_H_
