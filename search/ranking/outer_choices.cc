// SPDX-License-Identifier: Apache-2.0
#include "search/ranking/outer_choices.h"

#include <algorithm>
#include <map>
#include <utility>

#include "search/solver/solver.h"

namespace kirsch {
namespace {

// A program is not looked for if its node costs 1 + 1 / kShare times the one it replaces. To prove which is
// the cheapest beyond that takes longer than the search.
constexpr Cost kShare = 4;

ChoiceKind KindOf(const Decision& decision) {
  return {decision.kind,  decision.dim,         decision.operand,
          decision.level, decision.layout.kind, decision.layout.panel};
}

// Walks from the root to the main register tile, and at each node tries all other kinds of decisions.
class Chooser {
 public:
  Chooser(const Impl& root, Cost cost, const CostModel& model, Memo& memo, const SearchOptions& options)
      : root_(root), cost_(cost), model_(model), solver_(model, memo, options, 0) {}

  KBestResult Choices() && {
    choices_.push_back({root_, ToCycles(cost_)});
    Visit(root_, AvailableAtPlacement(root_.spec, model_.target()), 1);
    std::ranges::stable_sort(choices_, {}, &RankedProgram::cycles);
    return {std::move(choices_), !solver_.stopped()};
  }

 private:
  // Adds the programs that depart at this node, then goes on to the main child. `runs`: of the node in the
  // whole program, those that take time one after another.
  void Visit(const Impl& node, Lines available, int64_t runs) {
    const Solver::Outcome own = solver_.Solve(node.spec, available, kInfiniteCost);
    if (solver_.stopped() || node.children.empty()) return;
    for (const auto& [kind, choice] : BestOfEachKind(node, available, own.cost + own.cost / kShare))
      choices_.push_back(
          {With(choice.second, available, node.spec), ToCycles(cost_ + runs * (choice.first - own.cost))});
    const Choice choice = Look(node.spec, node.decision, available, model_);
    const Expansion& expansion = choice.expansion;
    const size_t most = MainChild(expansion);
    path_.push_back(most);
    Visit(node.children[most].impl, choice.below, runs * expansion.children[most].weight);
    path_.pop_back();
  }

  // The cheapest decision of each kind other than the node's, below a limit. Each must beat the best of its
  // kind so far, so most end with their bounds.
  std::map<ChoiceKind, std::pair<Cost, Decision>> BestOfEachKind(const Impl& node, Lines available,
                                                                 Cost limit) {
    std::vector<Decision> decisions;
    EnumerateDecisions(node.spec, model_.target(), &decisions);
    std::map<ChoiceKind, std::pair<Cost, Decision>> best;
    for (const Decision& decision : decisions) {
      const ChoiceKind kind = KindOf(decision);
      if (kind == KindOf(node.decision)) continue;
      const auto known = best.find(kind);
      const Cost least = known == best.end() ? limit : known->second.first;
      const Solver::Outcome outcome =
          solver_.Solve(node.spec, Look(node.spec, decision, available, model_), available, least);
      if (solver_.stopped()) break;
      if (outcome.solved) best[kind] = {outcome.cost, decision};
    }
    return best;
  }

  // The whole program with this decision at the node that the path leads to, and the best programs below it.
  Impl With(const Decision& decision, Lines available, const Spec& spec) const {
    Impl whole = root_;
    Impl* node = &whole;
    for (const size_t child : path_) node = &node->children[child].impl;
    *node = BuildProgram(spec, decision, available, model_.target(),
                         [this](const Expansion& expansion, size_t child, Lines below) {
                           return solver_.Reconstruct(expansion.children[child].spec, below);
                         });
    return whole;
  }

  const Impl& root_;
  const Cost cost_;
  const CostModel& model_;
  Solver solver_;
  std::vector<size_t> path_;
  std::vector<RankedProgram> choices_;
};

}  // namespace

std::vector<ChoiceKind> ChoicesOf(const Impl& program, const Target& target) {
  std::vector<ChoiceKind> kinds;
  for (const Impl* node = &program; !node->children.empty();) {
    const Decision& decision = node->decision;
    Expansion expansion;
    Expand(node->spec, decision, target, &expansion);
    const size_t main = MainChild(expansion);
    const bool is_tile = decision.kind == RewriteKind::kTile;
    // A tile that runs once has no loop, and a move within memory no code: neither tells programs apart.
    const bool no_code = is_tile ? node->children[main].trips == 1
                                 : decision.kind == RewriteKind::kMove && decision.level != Level::kVrf;
    if (!no_code && !(is_tile && !kinds.empty() && kinds.back() == KindOf(decision)))
      kinds.push_back(KindOf(decision));
    node = &node->children[main].impl;
  }
  return kinds;
}

KBestResult OuterChoices(const Impl& best, Cost cost, const CostModel& model, Memo& memo,
                         const SearchOptions& options) {
  return Chooser(best, cost, model, memo, options).Choices();
}

}  // namespace kirsch
