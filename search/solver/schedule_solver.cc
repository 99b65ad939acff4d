// SPDX-License-Identifier: Apache-2.0
#include "search/solver/schedule_solver.h"

#include <algorithm>

#include "search/solver/choice.h"

namespace kirsch {
namespace {

// True if fewer lines of the level than there are say nothing but that: threads may have a part of it each.
bool IsWithinLevel(const Spec& spec) { return spec.threads == 1 && spec.out().level != Level::kVrf; }

bool IsLater(const TextPosition& a, const TextPosition& b) {
  return a.line != b.line ? a.line > b.line : a.column > b.column;
}

}  // namespace

ScheduleSolver::ScheduleSolver(const Schedule& schedule, const CostModel& model, Memo& memo,
                               const SearchOptions& options, int width)
    : schedule_(schedule),
      model_(model),
      options_(options),
      any_(width > 0),
      solver_(model, memo, options, width),
      start_(std::chrono::steady_clock::now()) {
  FindChoices(schedule);
}

bool ScheduleSolver::FindChoices(const Schedule& node) {
  bool choice = node.holes != 0 || (node.gap && !node.IsOpen());
  for (const Schedule& child : node.children) choice |= FindChoices(child);
  if (choice) choices_.insert(&node);
  return choice;
}

// Deepens as the search does: close to the bound, little is tried that the best program would have refuted.
std::optional<Cost> ScheduleSolver::Solve(const Spec& root, Lines available, Cost limit) {
  constexpr double kBudgetStep = 0.2;
  Cost budget = HasChoices() && !any_ ? model_.LowerBound(root) : limit;
  while (!CheckStop()) {
    budget = std::min(limit, budget + static_cast<Cost>(static_cast<double>(budget) * kBudgetStep) + 1);
    const Answer answer = Solve(root, schedule_, available, budget);
    if (answer.solved) return answer.cost;
    if (budget == limit) break;
  }
  CheckStop();  // the solver may have been stopped in the last round
  return std::nullopt;
}

// Nodes without a choice below them are not remembered: the solver remembers what takes time there.
ScheduleSolver::Answer ScheduleSolver::Solve(const Spec& spec, const Schedule& node, Lines available,
                                             Cost budget) {
  if (CheckStop()) return {};
  if (node.IsOpen()) {
    const Solver::Outcome outcome = solver_.Solve(spec, available, budget);
    if (outcome.cost >= kInfiniteCost) Fail(node, spec, available);
    return {outcome.solved, outcome.cost, outcome.peak};
  }
  if (!choices_.contains(&node)) return SolveAnew(spec, node, available, budget);
  // With all lines of its level the spec has no dearer programs. If the best one of these fits, it is the
  // answer; if there is none, there is none with fewer lines.
  if (const Lines empty = EmptyLevel(spec, model_.target()); IsWithinLevel(spec) && available < empty) {
    const Answer answer = Solve(spec, node, empty, budget);
    if (!answer.solved || answer.peak <= available) return answer;
  }
  const Question question(spec.words(), available, &node);
  if (const auto known = answers_.find(question); known != answers_.end()) {
    Answer answer = known->second;
    const bool solved = answer.solved;
    answer.solved = solved && answer.cost < budget;
    if (solved || answer.cost >= budget) return answer;
  }
  // Of all programs none may be below the budget, which is known without looking at the schedule.
  if (budget < kInfiniteCost && !any_) {
    const Solver::Outcome outcome = solver_.Solve(spec, available, budget);
    if (!outcome.solved) return {false, outcome.cost};
  }
  const Answer answer = SolveAnew(spec, node, available, budget);
  if (!CheckStop()) answers_[question] = answer;
  return answer;
}

// Of equal programs the first wins, so that which it is does not depend on what was asked before.
ScheduleSolver::Answer ScheduleSolver::SolveAnew(const Spec& spec, const Schedule& node, Lines available,
                                                 Cost budget) {
  Answer best{false, budget};
  if (node.gap)
    if (const Answer here = Solve(spec, node.children[0], available, budget); here.solved)
      best = {true, here.cost, here.peak};
  for (const Choice& candidate : CandidatesFor(spec, node, available)) {
    if ((best.solved && any_) || candidate.bound >= best.cost) break;
    if (const Answer found = Try(spec, candidate, node, best.cost); found.solved) best = found;
  }
  return best;
}

// Returns the decisions that the node stands for and that fit, the least bound first.
std::vector<Choice> ScheduleSolver::CandidatesFor(const Spec& spec, const Schedule& node, Lines available) {
  const Target& target = model_.target();
  decisions_.clear();
  if (node.gap || node.holes != 0)
    EnumerateDecisions(spec, target, &decisions_);
  else if (IsLegal(spec, node.decision, target))
    decisions_.push_back(node.decision);
  std::vector<Choice> candidates;
  for (const Decision& decision : decisions_) {
    if (!node.gap && !node.Fits(decision)) continue;
    const Choice choice = Look(spec, decision, available, model_);
    // What is behind a gap needs a child to be in; what is below a decision, a child each.
    const auto children = static_cast<size_t>(choice.expansion.num_children);
    if (choice.below >= 0 && (node.gap ? children > 0 : node.children.size() <= children))
      candidates.push_back(choice);
  }
  if (candidates.empty() && !node.gap) Fail(node, spec, available);
  std::ranges::stable_sort(candidates, {}, &Choice::bound);
  return candidates;
}

// Prices one decision, if that is below the budget. Children that the schedule says something of come first:
// where they have no program, the others need none.
ScheduleSolver::Answer ScheduleSolver::Try(const Spec& spec, const Choice& candidate, const Schedule& node,
                                           Cost budget) {
  const Expansion& expansion = candidate.expansion;
  Cost total = candidate.bound;
  Lines peak = 0;
  for (const bool open : {false, true})
    for (size_t i = 0; i < static_cast<size_t>(expansion.num_children); ++i) {
      const Expansion::Child& child = expansion.children[i];
      const Schedule& part = ChildOf(node, expansion, i);
      if (part.IsOpen() != open) continue;
      const Cost rest = total - child.weight * model_.LowerBound(child.spec);
      const Cost limit = budget >= kInfiniteCost ? budget : ChildBudget(budget, rest, child.weight);
      const Answer answer = Solve(child.spec, part, candidate.below, limit);
      if (!answer.solved) return {};
      total = rest + child.weight * answer.cost;
      peak = std::max(peak, answer.peak);
    }
  if (total >= budget) return {};
  return {true, total, PeakAbove(spec, expansion, peak), candidate.decision};
}

// Questions that are answered by all lines of the level are remembered with these.
Impl ScheduleSolver::Reconstruct(const Spec& spec, const Schedule& node, Lines available) const {
  if (node.IsOpen()) return solver_.Reconstruct(spec, available);
  Decision decision = node.decision;
  if (choices_.contains(&node)) {
    const auto own = answers_.find({spec.words(), available, &node});
    if (own == answers_.end() || !own->second.solved)
      if (const Lines empty = EmptyLevel(spec, model_.target()); available < empty)
        return Reconstruct(spec, node, empty);
    decision = own->second.decision;
  }
  if (decision.kind == RewriteKind::kNone) return Reconstruct(spec, node.children[0], available);
  return BuildProgram(spec, decision, available, model_.target(),
                      [&](const Expansion& expansion, size_t i, Lines below) {
                        return Reconstruct(expansion.children[i].spec, ChildOf(node, expansion, i), below);
                      });
}

// The part of a node's schedule that is for a child. A gap goes on where most of the work is.
const Schedule& ScheduleSolver::ChildOf(const Schedule& node, const Expansion& expansion,
                                        size_t child) const {
  if (node.gap) return child == MainChild(expansion) ? node : open_;
  return child < node.children.size() ? node.children[child] : open_;
}

void ScheduleSolver::Fail(const Schedule& node, const Spec& spec, Lines available) {
  if (failure_.node == nullptr || IsLater(node.position, failure_.node->position))
    failure_ = {&node, spec, available};
}

// Looks at the clock itself, too: the solver does so only where it has to search.
bool ScheduleSolver::CheckStop() {
  constexpr int kQuestionsBetweenChecks = 256;
  if (stopped_) return true;
  if (solver_.stopped()) {
    stop_reason_ = solver_.stop_reason();
    return stopped_ = true;
  }
  if (++questions_ % kQuestionsBetweenChecks != 0) return false;
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  if (options_.time_budget_seconds > 0 && seconds > options_.time_budget_seconds)
    stop_reason_ = StopReason::kBudget;
  else if (options_.cancel != nullptr && options_.cancel->load(std::memory_order_relaxed))
    stop_reason_ = StopReason::kCancelled;
  return stopped_ = stop_reason_ != StopReason::kOptimal;
}

}  // namespace kirsch
