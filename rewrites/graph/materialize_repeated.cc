// SPDX-License-Identifier: Apache-2.0
#include "rewrites/graph/materialize_repeated.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "rewrites/graph/row_space.h"
#include "spec/graph/builder.h"

namespace kirsch {
namespace {

using Dims = std::vector<uint32_t>;

// A single element needs no broadcast.
bool IsRepeated(const GraphNode& operand) {
  return operand.op != Operation::kNumber && operand.type.elements() != 1;
}

// Makes a shape of an operand's and of the result's: as it is repeated before.
using Shape = Dims (*)(const Dims& own, const Dims& wide);

// True if rows and columns fit the operation on operands of these shapes, whatever strides its tensors have.
bool HasRows(const Graph& graph, GraphNode node, Shape shape) {
  Graph alone;
  for (int& input : node.inputs) {
    const GraphNode& operand = graph.at(input);
    alone.nodes.push_back(OperationNode(operand.op));
    alone.nodes.back().type = {operand.type.dtype, IsRepeated(operand)
                                                       ? shape(operand.type.dims, node.type.dims)
                                                       : operand.type.dims};
    input = static_cast<int>(alone.nodes.size()) - 1;
  }
  node.type.strides.clear();
  alone.nodes.push_back(std::move(node));
  std::string error;
  int error_node = 0;
  return FindRowSpace(alone, {static_cast<int>(alone.nodes.size()) - 1}, &error, &error_node).has_value();
}

Dims AsItIs(const Dims& own, const Dims&) { return own; }

Dims Whole(const Dims&, const Dims& wide) { return wide; }

// The operand's own shape, but for the axes before its first one of several elements. A bias of several
// blocks of channels needs no more: [4,1,1,16] becomes [8,4,1,1,16].
Dims RepeatedBefore(const Dims& own, const Dims& wide) {
  Dims dims(wide.size() - own.size(), 1);
  dims.insert(dims.end(), own.begin(), own.end());
  const auto first = std::ranges::find_if(dims, [](uint32_t size) { return size != 1; });
  std::copy(wide.begin(), wide.begin() + (first - dims.begin()), dims.begin());
  return dims;
}

// The shape `wide`, but for the axes behind the last one along which the operand is not repeated. The same as
// the operand's where that is not repeated before this axis, or before all that it has.
Dims RepeatedInFront(const Dims& own, const Dims& wide) {
  Dims dims(wide.size() - own.size(), 1);
  dims.insert(dims.end(), own.begin(), own.end());
  const auto varies = [](uint32_t size) { return size != 1; };
  const auto first = std::ranges::find_if(dims, varies);
  const auto last = std::find_if(dims.rbegin(), dims.rend(), varies).base();
  // A vector of columns is read as it is.
  if (last == dims.end() && std::equal(first, last, wide.begin() + (first - dims.begin()))) return own;
  std::copy(wide.begin(), wide.begin() + (last - dims.begin()), dims.begin());
  return dims;
}

class Repeater {
 public:
  explicit Repeater(const Graph& graph) : graph_(graph) {}

  Graph Write() && {
    written_.name = graph_.name;
    for (const GraphNode& node : graph_.nodes) places_.push_back(Place(node));
    for (const GraphResult& result : graph_.results)
      written_.results.push_back({places_[static_cast<size_t>(result.value)], result.name});
    return std::move(written_);
  }

 private:
  int Place(GraphNode node) {
    for (int& input : node.inputs) input = places_[static_cast<size_t>(input)];
    if (Info(node.op).kind == OperationKind::kElementwise) {
      const Shape shape = *std::ranges::find_if(
          kShapes, [&](Shape each) { return each == Whole || HasRows(written_, node, each); });
      Repeat(&node, shape);
    }
    return Push(std::move(node));
  }

  // The first one after which rows and columns fit is taken.
  static constexpr std::array<Shape, 4> kShapes = {AsItIs, RepeatedBefore, RepeatedInFront, Whole};

  // Broadcasts operands to the shapes that `shape` makes of theirs and of the result's.
  void Repeat(GraphNode* node, Shape shape) {
    for (int& input : node->inputs) {
      const GraphNode& operand = written_.at(input);
      if (!IsRepeated(operand)) continue;
      const Dims dims = shape(operand.type.dims, node->type.dims);
      if (dims == operand.type.dims) continue;
      GraphNode repeated = OperationNode(Operation::kBroadcast, operand.position);
      repeated.inputs = {input};
      const Dtype dtype = operand.type.dtype;
      repeated.type = {Info(dtype).is_result ? dtype : Dtype::kBf16, dims};
      input = Push(std::move(repeated));
    }
  }

  int Push(GraphNode node) {
    written_.nodes.push_back(std::move(node));
    return static_cast<int>(written_.nodes.size()) - 1;
  }

  const Graph& graph_;
  Graph written_;
  std::vector<int> places_;
};

}  // namespace

Graph MaterializeRepeated(const Graph& graph) { return Repeater(graph).Write(); }

}  // namespace kirsch
