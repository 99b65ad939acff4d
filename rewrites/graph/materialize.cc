// SPDX-License-Identifier: Apache-2.0
#include "rewrites/graph/materialize.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "rewrites/analysis/graph_uses.h"
#include "rewrites/analysis/iteration.h"
#include "rewrites/graph/along_axis.h"
#include "rewrites/graph/copy_loops.h"
#include "rewrites/graph/row_space.h"
#include "spec/graph/builder.h"

namespace kirsch {
namespace {

// Gives results with strides that other operations read, too, dense values, of which the results are copies.
Graph WithDenseValues(const Graph& graph) {
  const GraphUses uses(graph);
  Graph dense = graph;
  for (GraphResult& result : dense.results) {
    const int value = result.value;
    if (graph.TypeOf(result).dense() || value < graph.num_inputs() || uses.UsesOf(value).size() == 1)
      continue;
    dense.nodes[static_cast<size_t>(value)].type.strides.clear();
    dense.nodes.push_back(CopyOf(dense, value, graph.at(value).type));
    result.value = static_cast<int>(dense.nodes.size()) - 1;
  }
  return dense;
}

// Finds out first which operations need copies, then writes the nodes anew. A graph that needs none is
// returned as it is.
class DenseWriter {
 public:
  explicit DenseWriter(Graph graph)
      : graph_(std::move(graph)), uses_(graph_), places_(graph_.nodes.size(), -1) {}

  Graph Write() && {
    for (int node = graph_.num_inputs(); node < static_cast<int>(graph_.nodes.size()); ++node) Look(node);
    // All nodes keep their order. Copies of parameters come first, copies of results come last.
    if (copied_.empty() && copied_results_.empty()) return graph_;
    dense_.name = graph_.name;
    for (int node = 0; node < static_cast<int>(graph_.nodes.size()); ++node) {
      if (node == graph_.num_inputs()) CopyParameters();
      GraphNode copy = graph_.at(node);
      for (int& input : copy.inputs) input = PlaceFor(node, input);
      // A copy of f8 is of bf16, so a transposed view of it is, too.
      if (copy.op == Operation::kTranspose) copy.type.dtype = dense_.at(copy.inputs[0]).type.dtype;
      if (copied_results_.contains(node)) copy.type.strides.clear();
      places_[static_cast<size_t>(node)] = Push(std::move(copy));
    }
    for (const GraphResult& result : graph_.results) {
      const int place = places_[static_cast<size_t>(result.value)];
      const bool copied = copied_results_.contains(result.value);
      dense_.results.push_back(
          {copied ? Push(CopyOf(dense_, place, graph_.TypeOf(result))) : place, result.name});
    }
    return std::move(dense_);
  }

 private:
  const TensorType& TypeOf(int node) const { return graph_.at(node).type; }

  // Notes whether the operation needs copies of its inputs, or of its result.
  void Look(int node) {
    const bool reads = std::any_of(graph_.at(node).inputs.begin(), graph_.at(node).inputs.end(),
                                   [&](int input) { return !TypeOf(input).dense(); });
    const bool writes = !TypeOf(node).dense();
    if ((!reads && !writes) || GoesByTensorsAsTheyLie(graph_, node)) return;
    if (reads) copied_.insert(node);
    if (!writes) return;
    // With dense inputs the operation may be able to write the result's strides. If so, the result needs no
    // copy.
    Graph without = graph_;
    for (int input : graph_.at(node).inputs) without.nodes[static_cast<size_t>(input)].type.strides.clear();
    if (!GoesByTensorsAsTheyLie(without, node)) copied_results_.insert(node);
  }

  // True if some rewrite computes this operation alone with these strides.
  bool GoesByTensorsAsTheyLie(const Graph& graph, int node) const {
    const GraphNode& at = graph.at(node);
    switch (Info(at.op).kind) {
      case OperationKind::kContraction:
        return at.op == Operation::kMatmul && AreMatrices(graph, node, at.inputs);
      case OperationKind::kTranspose:
        return uses_.IsView(node) && AreMatrices(graph, at.inputs[0], {});
      case OperationKind::kAlongAxis:
        return LieAlongAxis(graph, node);
      case OperationKind::kRearrange:
        return FindCopyLoops(graph, {node}).has_value();
      default:
        break;
    }
    if (IsStridedCopy(graph, node)) return true;
    std::string error;
    int error_node = 0;
    return FindRowSpace(graph, {node}, &error, &error_node).has_value();
  }

  // True if the matrices of all these values are evenly apart.
  static bool AreMatrices(const Graph& graph, int node, const std::vector<int>& others) {
    const auto is_matrix = [&](int value) { return FindMatrices(graph.at(value).type).has_value(); };
    return is_matrix(node) && std::ranges::all_of(others, is_matrix);
  }

  // Writes one copy of each strided input that some operation cannot read. Operations that can read it still
  // do.
  void CopyParameters() {
    for (int node : copied_)
      for (int input : graph_.at(node).inputs)
        if (!TypeOf(input).dense() && !copies_.contains(input))
          copies_[input] = Push(CopyOf(dense_, input, {StoredAs(TypeOf(input).dtype), TypeOf(input).dims}));
  }

  // Returns the type of a copy. A type that no kernel writes becomes bf16, which holds all its numbers and
  // may be multiplied by the same other types.
  static Dtype StoredAs(Dtype dtype) { return Info(dtype).is_result ? dtype : Dtype::kBf16; }

  // Returns the new number of a node's input: that of its copy, if the node reads one.
  int PlaceFor(int node, int input) const {
    const bool is_copy = copied_.contains(node) && copies_.contains(input);
    return is_copy ? copies_.at(input) : places_[static_cast<size_t>(input)];
  }

  int Push(GraphNode node) {
    dense_.nodes.push_back(std::move(node));
    return static_cast<int>(dense_.nodes.size()) - 1;
  }

  const Graph graph_;
  const GraphUses uses_;
  std::set<int> copied_;  // operations that read copies of parameters
  std::set<int> copied_results_;
  std::map<int, int> copies_;  // of parameters
  std::vector<int> places_;
  Graph dense_;
};

}  // namespace

Graph MaterializeStrided(const Graph& graph) { return DenseWriter(WithDenseValues(graph)).Write(); }

}  // namespace kirsch
