// SPDX-License-Identifier: Apache-2.0
#include "spec/graph/builder.h"

#include "spec/graph/types.h"
#include "spec/spec.h"
#include "spec/text/cat.h"

namespace kirsch {

GraphNode OperationNode(Operation op, TextPosition position) {
  GraphNode node;
  node.op = op;
  node.position = position;
  node.number = Info(op).option.usual;
  return node;
}

GraphNode CopyOf(const Graph& graph, int value, TensorType type) {
  GraphNode copy = OperationNode(Operation::kCast, graph.at(value).position);
  copy.inputs = {value};
  copy.type = std::move(type);
  return copy;
}

absl::StatusOr<int> AddOperation(Graph* graph, GraphNode node, std::string_view source) {
  // The expectation is a text for people; an empty one means that all is well.
  const std::string expected = InferType(graph, &node);
  if (!expected.empty()) {
    // Numbers have no type of their own, so the error shows them as they were written.
    const std::string types = Join(node.inputs, " and ", [&](int input) {
      const GraphNode& from = graph->at(input);
      return from.op == Operation::kNumber ? from.text : PrintTensorType(from.type);
    });
    return ErrorAt(source, node.position, Cat("expected ", expected, ", got ", types));
  }
  graph->nodes.push_back(std::move(node));
  return static_cast<int>(graph->nodes.size()) - 1;
}

int GraphBuilder::Parameter(std::string name, Dtype dtype, std::vector<uint32_t> dims, bool constant) {
  if (status_.ok() && IsTooLarge(dims))
    status_ = ErrorAt(source_, position_,
                      Cat("expected at most ", kMaxElements, " elements in ", name, ", got ",
                          PrintTensorType({dtype, dims})));
  GraphNode node;
  node.text = std::move(name);
  node.type = {dtype, std::move(dims)};
  node.constant = constant;
  node.position = position_;
  graph_.nodes.push_back(std::move(node));
  return static_cast<int>(graph_.nodes.size()) - 1;
}

int GraphBuilder::Number(std::string text, double number) {
  GraphNode node;
  node.op = Operation::kNumber;
  node.text = std::move(text);
  node.number = number;
  node.position = position_;
  graph_.nodes.push_back(std::move(node));
  return static_cast<int>(graph_.nodes.size()) - 1;
}

int GraphBuilder::Add(GraphNode node) {
  // After an error numbers of nodes mean nothing, so nothing more may be inferred from them.
  if (!status_.ok()) return 0;
  node.position = position_;
  const absl::StatusOr<int> added = AddOperation(&graph_, std::move(node), source_);
  status_ = added.status();
  return added.ok() ? *added : 0;
}

int GraphBuilder::Add(Operation op, std::vector<int> inputs) {
  GraphNode node = OperationNode(op);
  node.inputs = std::move(inputs);
  return Add(std::move(node));
}

int GraphBuilder::Cast(int value, Dtype dtype) {
  if (!status_.ok() || graph_.at(value).type.dtype == dtype) return value;
  GraphNode node = OperationNode(Operation::kCast);
  node.inputs = {value};
  node.type.dtype = dtype;
  return Add(std::move(node));
}

absl::StatusOr<Graph> GraphBuilder::Build(int result) && {
  if (!status_.ok()) return status_;
  graph_.results = {{result}};
  return std::move(graph_);
}

}  // namespace kirsch
