// SPDX-License-Identifier: Apache-2.0
#include "search/explain/explain.h"

#include <utility>

#include "search/solver/solver.h"

namespace kirsch {
namespace {

// A runner-up is looked for up to 1 + 1 / kRunnerUpShare times the best. To prove which one it is beyond that
// would take longer than the search.
constexpr Cost kRunnerUpShare = 4;

// Expands the program's decisions once more, to list its nodes with their costs, traffic and memory; with a
// solver also with their second best decisions.
class NodeLister {
 public:
  explicit NodeLister(const CostModel& model, Solver* solver = nullptr) : model_(model), solver_(solver) {}

  // Lists all nodes. The first is the root, and its cost is that of the program.
  std::vector<ExplainedNode> List(const Impl& root) {
    ExplainedNode top;
    top.impl = &root;
    // The operands themselves are held in their caches for the whole run. Each node adds the tiles and copies
    // it makes.
    for (int operand = 0; operand < root.spec.op_info().num_operands; ++operand) {
      const Level placement = root.spec.tensor(operand).level;
      top.bytes_held[static_cast<size_t>(placement)] +=
          FootprintOf(root.spec, operand, model_.target()).lines * model_.target().line_bytes;
    }
    Visit(top, AvailableAtPlacement(root.spec, model_.target()));
    return std::move(nodes_);
  }

 private:
  // Appends the node and those below it; returns the cost of one run. The node gets its place before its
  // children do, and is stored again when its cost is known. The lines available at each node are those of
  // the search.
  Cost Visit(ExplainedNode node, Lines available) {
    const Impl& impl = *node.impl;
    Expansion expansion;
    Expand(impl.spec, impl.decision, model_.target(), &expansion);
    AddTraffic(expansion, &node);
    node.own = node.cost = model_.Base(impl.spec, impl.decision, expansion);
    if (impl.decision.kind == RewriteKind::kMicrokernel)
      node.tile = TileFactsOf(impl.spec, expansion, model_.target());
    const size_t place = nodes_.size();
    nodes_.push_back(node);
    const Lines below = AvailableBelow(impl.spec, expansion, available, model_.target());
    for (size_t i = 0; i < impl.children.size(); ++i) {
      ExplainedNode child;
      child.impl = &impl.children[i].impl;
      child.depth = node.depth + 1;
      child.trips = impl.children[i].trips;
      child.runs = node.runs * static_cast<double>(child.trips);
      child.weight = node.weight * static_cast<double>(expansion.children[i].weight);
      child.bytes_held = node.bytes_held;
      node.cost += expansion.children[i].weight * Visit(child, below);
    }
    if (solver_ != nullptr) FindRunnerUp(available, &node);
    nodes_[place] = node;
    return node.cost;
  }

  // The copy of a constant operand is made once, ahead of all calls, so it counts in no run of the program.
  void AddTraffic(const Expansion& expansion, ExplainedNode* node) const {
    if (expansion.copied_elements > 0 && ConstantOperand(node->impl->spec) >= 0) return;  // not in every run
    node->traffic = TrafficOf(expansion, model_.target());
    if (expansion.filled != Level::kVrf)
      node->bytes_held[static_cast<size_t>(expansion.filled)] +=
          expansion.filled_lines * model_.target().line_bytes;
  }

  // Tries the other decisions in the order of their closed forms, each below the best one so far.
  void FindRunnerUp(Lines available, ExplainedNode* node) {
    const Spec& spec = node->impl->spec;
    // Nothing that costs more counts as a runner-up. Each one found lowers the limit for the others.
    Cost best = node->cost + node->cost / kRunnerUpShare + 1;
    for (const Choice& other : ChoicesBelow(best, spec, available, model_)) {
      if (other.decision == node->impl->decision) continue;
      const Solver::Outcome outcome = solver_->Solve(spec, other, available, best);
      if (!outcome.solved) continue;
      best = node->runner_up_cost = outcome.cost;
      node->runner_up = other.decision;
    }
  }

  const CostModel& model_;
  Solver* const solver_;
  std::vector<ExplainedNode> nodes_;
};

}  // namespace

std::vector<ExplainedNode> ExplainNodes(const Impl& impl, const CostModel& model) {
  return NodeLister(model).List(impl);
}

Traffic TrafficOf(const Expansion& expansion, const Target& target) {
  Traffic traffic;
  for (int i = 0; i < expansion.num_transfers; ++i) {
    const Transfer& transfer = expansion.transfers[static_cast<size_t>(i)];
    traffic.Add(transfer.from, transfer.to, static_cast<double>(transfer.read.lines * target.line_bytes),
                static_cast<double>(transfer.written.lines * target.line_bytes));
  }
  return traffic;
}

Traffic TrafficOf(const std::vector<ExplainedNode>& nodes) {
  Traffic traffic;
  for (const ExplainedNode& node : nodes) traffic.Add(node.traffic, node.runs);
  return traffic;
}

Explanation Explain(const Impl& impl, const CostModel& model, Memo& memo) {
  Explanation explanation;
  const SearchOptions options;
  Solver solver(model, memo, options, 0);
  explanation.nodes = NodeLister(model, &solver).List(impl);
  explanation.traffic = TrafficOf(explanation.nodes);
  explanation.bound = model.LowerBound(impl.spec);
  explanation.peak_cycles = PeakCycles(impl.spec, model.target());
  return explanation;
}

}  // namespace kirsch
