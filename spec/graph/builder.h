// SPDX-License-Identifier: Apache-2.0
// Builds graphs from code, node by node, for parsers and for whatever rewrites a kernel as a graph. The
// builder infers and checks the type of each node as it is added.
#ifndef KIRSCH_SPEC_GRAPH_BUILDER_H_
#define KIRSCH_SPEC_GRAPH_BUILDER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "spec/graph/graph.h"
#include "spec/text/text.h"

namespace kirsch {

// A node of this operation whose option, if the operation has one, is the usual one of its row in
// spec/operation.h.
GraphNode OperationNode(Operation op, TextPosition position = {});

// Infers the type of `node`, appends it and returns its number. InvalidArgument where the inputs' types do
// not suit the operation: "expected ..., got ...", at the node's place in `source`.
absl::StatusOr<int> AddOperation(Graph* graph, GraphNode node, std::string_view source);

// A copy of the value, with its type or strides as `type` says: a cast to its own type.
GraphNode CopyOf(const Graph& graph, int value, TensorType type);
inline GraphNode CopyOf(const Graph& graph, int value) { return CopyOf(graph, value, graph.at(value).type); }

// Collects nodes and the first error, so that callers need not look at a status after each call. Parameters
// come first, since a graph has its parameters at the front. After an error, Add and Cast append nothing, and
// Build returns the error.
class GraphBuilder {
 public:
  // All nodes have the place `position` of the text that `source` names.
  GraphBuilder(std::string name, std::string_view source, TextPosition position)
      : source_(source), position_(position) {
    graph_.name = std::move(name);
  }

  // Parameter, Number, Add and Cast return the number of a node. `constant`: the values are known before all
  // calls.
  int Parameter(std::string name, Dtype dtype, std::vector<uint32_t> dims, bool constant = false);
  // `text` is the number as PrintGraph writes it, `number` its value. Its type follows from the operation
  // that reads it.
  int Number(std::string text, double number);
  int Number(float number) { return Number(PrintNumber(number), number); }
  int Add(GraphNode node);  // `inputs` are set
  int Add(Operation op, std::vector<int> inputs);
  const Graph& graph() const { return graph_; }  // so far
  // Returns `value` itself if it has that type already.
  int Cast(int value, Dtype dtype);

  // The graph whose result is the node `result`; or the first error.
  absl::StatusOr<Graph> Build(int result) &&;

 private:
  const std::string_view source_;
  const TextPosition position_;
  Graph graph_;
  absl::Status status_;
};

}  // namespace kirsch

#endif  // KIRSCH_SPEC_GRAPH_BUILDER_H_
