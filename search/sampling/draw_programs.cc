// SPDX-License-Identifier: Apache-2.0
#include "search/sampling/draw_programs.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "search/sampling/random.h"
#include "search/solver/choice.h"
#include "search/solver/search.h"
#include "search/solver/solver.h"
#include "spec/language/schedule.h"

namespace kirsch {
namespace {

// Draws in a row that may find nothing new before the space counts as exhausted.
constexpr int kTriesPerProgram = 40;
constexpr int kDecisionsPerSpec = 4;   // that a descent tries before it gives a spec up
constexpr int kSpecsPerProgram = 150;  // different ones that a descent looks at
// A node whose decision is replaced takes at least 1 / kLeastShare of the program's time.
constexpr Cost kLeastShare = 20;  // of a node whose decision is replaced
constexpr double kDeeper = 1.04;  // by how much a budget grows

// The decisions that fit and whose closed-form bound is at most `most`.
std::vector<Decision> DecisionsWithin(const Spec& spec, Lines available, Cost most, const CostModel& model) {
  std::vector<Decision> decisions;
  EnumerateDecisions(spec, model.target(), &decisions);
  std::erase_if(decisions, [&](const Decision& decision) {
    const Choice choice = Look(spec, decision, available, model);
    return choice.below < 0 || choice.bound > most;
  });
  return decisions;
}

// Builds the program that begins with a choice. Each child gets the program that `find(spec, available,
// most)` returns, where `most` is what the bounds of the others leave of the budget. Nothing if one of them
// has none.
template <typename Find>
std::optional<DrawnProgram> Build(const Spec& spec, const Choice& choice, Cost budget, const CostModel& model,
                                  Find find) {
  DrawnProgram program{{spec, choice.decision, {}}, choice.bound};
  for (size_t i = 0; i < static_cast<size_t>(choice.expansion.num_children); ++i) {
    const Expansion::Child& child = choice.expansion.children[i];
    const Cost rest = program.cost - (child.weight > 0 ? child.weight * model.LowerBound(child.spec) : 0);
    const Cost most = child.weight > 0 ? (budget - rest) / child.weight : kInfiniteCost;
    std::optional<DrawnProgram> found = find(child.spec, choice.below, most);
    if (!found) return std::nullopt;
    program.cost = rest + child.weight * found->cost;
    program.impl.children.push_back({child.trips, std::move(found->impl)});
  }
  if (program.cost > budget) return std::nullopt;
  return program;
}

// One random descent. A spec that comes up again gets the same program, as the search would have it.
class Descent {
 public:
  Descent(const CostModel& model, Random* random) : model_(model), random_(*random) {}

  // Tries a few decisions by chance, until one leads to a program that costs at most `most`.
  std::optional<DrawnProgram> Draw(const Spec& spec, Lines available, Cost most) {
    const auto known = drawn_.find({spec.words(), available});
    if (known != drawn_.end() && known->second.cost <= most) return known->second;
    if (++specs_ > kSpecsPerProgram) return std::nullopt;
    std::vector<Decision> decisions = DecisionsWithin(spec, available, most, model_);
    for (int tried = 0; tried < kDecisionsPerSpec && !decisions.empty(); ++tried) {
      const Choice choice = Look(spec, TakeOne(&decisions, &random_), available, model_);
      std::optional<DrawnProgram> program =
          Build(spec, choice, most, model_,
                [this](const Spec& child, Lines below, Cost budget) { return Draw(child, below, budget); });
      if (!program) continue;
      drawn_[{spec.words(), available}] = *program;
      return program;
    }
    return std::nullopt;
  }

 private:
  const CostModel& model_;
  Random& random_;
  absl::flat_hash_map<std::pair<Spec::Words, Lines>, DrawnProgram> drawn_;
  int specs_ = 0;
};

DrawnProgram Optimum(const Spec& root, const CostModel& model, Memo& memo) {
  SearchResult result = Search(root, model, memo, {});
  return {std::move(result.impl), result.cost};
}

}  // namespace

ProgramDrawer::ProgramDrawer(const Spec& root, const CostModel& model, Memo& memo)
    : model_(model),
      available_(AvailableAtPlacement(root, model.target())),
      solver_(model, memo, options_, 0),
      best_(Optimum(root, model, memo)) {
  Visit({&best_.impl, available_, 0, 1, {}});
  // Only nodes that take a good part of the time are given another decision.
  std::erase_if(nodes_, [&](const Node& node) { return node.cost * node.weight * kLeastShare < best_.cost; });
}

std::optional<DrawnProgram> ProgramDrawer::DrawAnywhere(Random* random) {
  return Descent(model_, random).Draw(best_.impl.spec, available_, best_.cost * kFarthestDrawn);
}

std::optional<DrawnProgram> ProgramDrawer::DrawAround(Random* random) {
  const Node& node = nodes_[random->Below(nodes_.size())];
  const Spec& spec = node.impl->spec;
  // The program may cost so much more, and so one run of the node may cost so much in all.
  const Cost allowed = static_cast<Cost>(static_cast<double>(best_.cost) * (kFarthestAround - 1));
  const Cost most = node.cost + allowed / node.weight;
  std::vector<Decision> decisions = DecisionsWithin(spec, node.available, most, model_);
  std::erase(decisions, node.impl->decision);
  if (decisions.empty()) return std::nullopt;
  const Choice choice = Look(spec, TakeOne(&decisions, random), node.available, model_);
  std::optional<DrawnProgram> other =
      Build(spec, choice, most, model_,
            [this](const Spec& child, Lines below, Cost budget) { return Solved(child, below, budget); });
  if (!other) return std::nullopt;
  // Put the new subtree in its place in a copy of the optimum.
  DrawnProgram program = best_;
  program.cost += (other->cost - node.cost) * node.weight;
  Impl* place = &program.impl;
  for (const size_t child : node.path) place = &place->children[child].impl;
  *place = std::move(other->impl);
  return program;
}

// Lists the nodes of the optimum, each before those below it, and returns the cost of one run.
Cost ProgramDrawer::Visit(const Node& node) {
  const Impl& impl = *node.impl;
  const Choice choice = Look(impl.spec, impl.decision, node.available, model_);
  const size_t number = nodes_.size();
  nodes_.push_back(node);
  Cost cost = choice.base;
  for (size_t i = 0; i < impl.children.size(); ++i) {
    const Cost weight = choice.expansion.children[i].weight;
    Node child{&impl.children[i].impl, choice.below, 0, node.weight * weight, node.path};
    child.path.push_back(i);
    cost += weight * Visit(child);
  }
  return nodes_[number].cost = cost;
}

// Returns the best program, if it costs no more than `most`. The budget grows by little from the bound on, so
// that little is searched in vain.
std::optional<DrawnProgram> ProgramDrawer::Solved(const Spec& spec, Lines available, Cost most) {
  Cost budget = model_.LowerBound(spec);
  while (budget <= most) {
    budget = std::min(most, static_cast<Cost>(static_cast<double>(budget) * kDeeper)) + 1;
    const Solver::Outcome outcome = solver_.Solve(spec, available, budget);
    if (outcome.solved) return DrawnProgram{solver_.Reconstruct(spec, available), outcome.cost};
    budget = std::max(budget, outcome.cost);
  }
  return std::nullopt;
}

std::vector<DrawnProgram> DrawPrograms(const Spec& root, const CostModel& model, Memo& memo, int count,
                                       uint64_t seed) {
  ProgramDrawer drawer(root, model, memo);
  Random random(seed);
  std::vector<DrawnProgram> programs = {drawer.best()};
  std::set<std::string> schedules = {PrintSchedule(drawer.best().impl)};
  const auto all = static_cast<size_t>(std::max(1, count));
  const auto anywhere = [&] { return drawer.DrawAnywhere(&random); };
  const auto is_new = [&](const DrawnProgram& program) {
    return schedules.insert(PrintSchedule(program.impl)).second;
  };
  const auto fill = [&](size_t wanted, const auto& draw) {
    DrawUntil(wanted, kTriesPerProgram, draw, is_new, &programs);
  };
  fill(1 + (all - 1) / 2, anywhere);
  fill(all, [&] { return drawer.DrawAround(&random); });
  fill(all, anywhere);  // where there are too few around the optimum
  return programs;
}

}  // namespace kirsch
