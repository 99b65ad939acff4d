// SPDX-License-Identifier: Apache-2.0
#include "rewrites/graph/canonical_graph.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>
#include <vector>

#include "rewrites/graph/materialize.h"
#include "rewrites/graph/materialize_repeated.h"
#include "spec/graph/builder.h"

namespace kirsch {
namespace {

// Splits ascending axes into runs of neighbours, the last run first: {0, 2, 3} becomes {{2, 3}, {0}}.
std::vector<std::vector<uint32_t>> Runs(const std::vector<uint32_t>& axes) {
  std::vector<std::vector<uint32_t>> runs;
  for (uint32_t axis : axes) {
    if (runs.empty() || runs.front().back() + 1 != axis) runs.insert(runs.begin(), std::vector<uint32_t>());
    runs.front().push_back(axis);
  }
  return runs;
}

// True if both compute the same of the same inputs. Names and places in the text don't count. Two parameters
// are never the same: each is the caller's own memory. Numbers are compared as bits, as NaNs are equal then.
bool IsSame(const GraphNode& a, const GraphNode& b) {
  return a.op != Operation::kInput && a.op == b.op && a.type == b.type && a.inputs == b.inputs &&
         a.axes == b.axes && std::bit_cast<uint64_t>(a.number) == std::bit_cast<uint64_t>(b.number) &&
         a.conv == b.conv && a.along == b.along && a.lhs_as == b.lhs_as;
}

// True if a permutation is what transpose is, which matmuls may read without a copy.
bool ExchangesLastTwo(const GraphNode& node) {
  if (node.op != Operation::kPermute || node.axes.size() < 2) return false;
  std::vector<uint32_t> exchanged(node.axes.size());
  std::iota(exchanged.begin(), exchanged.end(), 0u);
  std::swap(exchanged.back(), exchanged[exchanged.size() - 2]);
  return node.axes == exchanged;
}

// Writes the nodes anew, from the results backwards: each only when it is asked for, after those that it
// reads. Nodes that nobody asks for are left out that way.
class Canonicaliser {
 public:
  explicit Canonicaliser(const Graph& graph) : graph_(graph), places_(graph.nodes.size(), -1) {
    canonical_.name = graph.name;
    for (const GraphNode& node : graph.nodes) begun_.push_back(IsBegun(node));
    // Parameters keep their numbers, the unused ones among them, since callers pass all of them.
    for (int input = 0; input < graph.num_inputs(); ++input)
      places_[static_cast<size_t>(input)] = Push(graph.at(input));
  }

  Graph Run() && {
    for (const GraphResult& result : graph_.results) {
      int place = PlaceOf(result.value);
      // Results that are the same value are copies of it, since each is memory of its own.
      while (canonical_.IsResult(place)) place = Push(CopyOf(canonical_, place));
      canonical_.results.push_back({place, result.name});
    }
    return std::move(canonical_);
  }

 private:
  // Returns the node's number in the new graph, and writes it, if it is not there yet.
  int PlaceOf(int node) {
    int& place = places_[static_cast<size_t>(node)];
    if (place >= 0) return place;
    GraphNode copy = graph_.at(node);
    for (size_t i : OrderOfInputs(copy)) copy.inputs[i] = PlaceOf(copy.inputs[i]);
    if (ExchangesLastTwo(copy)) {
      copy.op = Operation::kTranspose;
      copy.axes.clear();
    }
    return place = Info(copy.op).kind == OperationKind::kReduction ? PushReduction(std::move(copy))
                                                                   : Push(std::move(copy));
  }

  // Returns the order in which the inputs are written. Those that begin with a contraction come last, in
  // reverse: the first of them ends up right before the operation, so an epilogue may take it further. That
  // holds whichever operand of the operation it is.
  std::vector<size_t> OrderOfInputs(const GraphNode& node) const {
    std::vector<size_t> order, begun;
    for (size_t i = 0; i < node.inputs.size(); ++i)
      (begun_[static_cast<size_t>(node.inputs[i])] ? begun : order).push_back(i);
    order.insert(order.end(), begun.rbegin(), begun.rend());
    return order;
  }

  // True if the value is a contraction, or elementwise operations on one: a candidate for an epilogue.
  bool IsBegun(const GraphNode& node) const {
    const OperationKind kind = Info(node.op).kind;
    if (kind == OperationKind::kContraction) return true;
    if (kind != OperationKind::kElementwise && kind != OperationKind::kCast) return false;
    return std::ranges::any_of(node.inputs, [&](int input) { return begun_[static_cast<size_t>(input)]; });
  }

  // Writes a reduction as one for each run of neighbouring axes. Only the last of them has the strides that
  // the result was asked to have.
  int PushReduction(GraphNode node) {
    std::vector<std::vector<uint32_t>> runs = Runs(node.axes);
    const Dtype dtype = node.type.dtype;
    const std::vector<int64_t> strides = std::move(node.type.strides);  // of the result only
    node.type = {dtype, canonical_.at(node.inputs[0]).type.dims};
    for (std::vector<uint32_t>& axes : runs) {
      for (uint32_t axis : axes) node.type.dims[axis] = 1;
      if (&axes == &runs.back()) node.type.strides = strides;
      node.axes = std::move(axes);
      node.inputs = {Push(node)};
    }
    return node.inputs[0];
  }

  // Returns the number of an equal node, if there is one; else appends the node.
  int Push(GraphNode node) {
    std::vector<GraphNode>& nodes = canonical_.nodes;
    const auto known =
        std::ranges::find_if(nodes, [&](const GraphNode& other) { return IsSame(node, other); });
    if (known != nodes.end()) return static_cast<int>(known - nodes.begin());
    nodes.push_back(std::move(node));
    return static_cast<int>(nodes.size()) - 1;
  }

  const Graph& graph_;
  std::vector<int> places_;  // of the graph's nodes, as far as they are written
  std::vector<bool> begun_;  // by a contraction
  Graph canonical_;
};

}  // namespace

// The copies are written last, so a second pass puts them in their places like all other inputs.
Graph CanonicalGraph(const Graph& graph) {
  const Graph as_it_lies = Canonicaliser(graph).Run();
  const Graph dense = MaterializeStrided(MaterializeRepeated(as_it_lies));
  return Canonicaliser(dense).Run();
}

}  // namespace kirsch
