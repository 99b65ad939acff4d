// SPDX-License-Identifier: Apache-2.0
// Graphs from code, node by node.
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

// An operation with what it has where nothing else is said.
GraphNode OperationNode(Operation op, TextPosition position = {});

// Infers the type of `node` and appends it. An error has the node's place in `source`.
absl::StatusOr<int> AddOperation(Graph* graph, GraphNode node, std::string_view source);

// Parameters first. After an error everything goes on as if there were none; Build says so in the end.
class GraphBuilder {
 public:
  // All nodes have the place `position` of the text that `source` names.
  GraphBuilder(std::string name, std::string_view source, TextPosition position)
      : source_(source), position_(position) {
    graph_.name = std::move(name);
  }

  int Parameter(std::string name, Dtype dtype, std::vector<uint32_t> dims, bool constant = false);
  int Number(std::string text, double number);
  int Number(float number) { return Number(PrintNumber(number), number); }
  int Add(GraphNode node);  // `inputs` are set
  int Add(Operation op, std::vector<int> inputs);
  const Graph& graph() const { return graph_; }  // so far
  // `value` itself, if that is its type.
  int Cast(int value, Dtype dtype);

  absl::StatusOr<Graph> Build(int result) &&;

 private:
  const std::string_view source_;
  const TextPosition position_;
  Graph graph_;
  absl::Status status_;
};

}  // namespace kirsch

#endif  // KIRSCH_SPEC_GRAPH_BUILDER_H_
