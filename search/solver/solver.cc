// SPDX-License-Identifier: Apache-2.0
#include "search/solver/solver.h"

#include <algorithm>

#include "rewrites/spec/rewrite.h"
#include "search/solver/limits.h"
#include "search/solver/relaxation.h"
#include "spec/check.h"

namespace kirsch {
namespace {

// Specs solved between two looks at the clock and at cancellation, and between two reports of progress.
constexpr int64_t kSpecsBetweenChecks = 1024;

}  // namespace

Cost ChildBudget(Cost budget, Cost others, int64_t weight) {
  if (weight == 0) return kInfiniteCost;
  const Cost room = budget - others;  // weight * cost < room
  return room <= 0 ? 0 : (room + weight - 1) / weight;
}

Solver::Solver(const CostModel& model, Memo& memo, const SearchOptions& options, int width,
               InFlight* in_flight)
    : model_(model),
      memo_(memo),
      options_(options),
      width_(width),
      in_flight_(in_flight),
      own_ranking_(model),
      ranking_(options.ranking != nullptr ? *options.ranking : own_ranking_),
      start_(std::chrono::steady_clock::now()) {}

// The round's end is looked at for each spec, since helpers should drop their work at once. The rest is
// looked at now and then.
void Solver::CheckStop() {
  if (in_flight_ != nullptr && in_flight_->round_over.load(std::memory_order_relaxed)) stopped_ = true;
  if (stats_.specs_solved < next_check_) return;
  next_check_ = stats_.specs_solved + kSpecsBetweenChecks;
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  if (options_.progress) options_.progress({stats_, best_, bound_, seconds});
  if (options_.time_budget_seconds > 0 && seconds > options_.time_budget_seconds) {
    stopped_ = true;
    stop_reason_ = StopReason::kBudget;
  }
  if (options_.cancel != nullptr && options_.cancel->load(std::memory_order_relaxed)) {
    stopped_ = true;
    stop_reason_ = StopReason::kCancelled;
  }
}

// Says what is known of a child without a search: its program's cost, or a bound that the memo holds, or the
// closed form.
Solver::Outcome Solver::Ask(const Spec& spec, Lines available) {
  const Known known = memo_.Find(spec, available);
  if (known.solution.has_value()) {
    ++stats_.memo_hits;
    return {true, known.solution->cost, known.solution->peak};
  }
  return {false, known.bound > 0 ? known.bound : ranking_.LowerBound(spec), 0};
}

// Bounds `spec` from below by an easier question, which is answered only as far as `budget`. The first such
// question is the spec itself with its level empty: if its program fits `available`, it is the answer.
// Otherwise Relax has one.
Solver::Outcome Solver::Relaxed(const Spec& spec, Lines available, Cost budget) {
  if (spec.threads == 1 && spec.out().level != Level::kVrf && available < EmptyLevel(spec, model_.target())) {
    Outcome outcome = Solve(spec, EmptyLevel(spec, model_.target()), budget);
    outcome.solved = outcome.solved && outcome.peak <= available;
    return outcome;
  }
  const std::optional<Relaxation> relaxed = Relax(spec, model_);
  if (!relaxed) return {};
  // The relaxed spec gets a budget that is less by `extra`: beyond that the bound refutes the spec anyway.
  const Outcome outcome =
      Solve(relaxed->spec, EmptyLevel(relaxed->spec, model_.target()), budget - relaxed->extra);
  return {false, std::min(kInfiniteCost, outcome.cost + relaxed->extra), 0};
}

// From cheap to dear: the memo, then the closed form, then the search.
Solver::Outcome Solver::Solve(const Spec& spec, Lines available, Cost budget, Others others) {
  const Outcome known = Ask(spec, available);
  if (known.solved) return {known.cost < budget, known.cost, known.peak};
  return SolveOpen(spec, available, budget, others, known.cost);
}

// Solves a spec of which the memo has no solution. Only one worker at a time should search the same question,
// so a worker marks it, or leaves it for later if the caller allows. Register tiles are too small to mark.
Solver::Outcome Solver::SolveOpen(const Spec& spec, Lines available, Cost budget, Others others, Cost bound) {
  if (!options_.prune) bound = 0;
  if (bound >= budget) return Refute(spec, available, bound);
  if (in_flight_ == nullptr || spec.out().level == Level::kVrf)
    return SolveAnew(spec, available, budget, bound);
  const uint64_t key = InFlightTable::QuestionKey(spec, available);
  if (others == Others::kAvoid && in_flight_->busy.Has(key)) return {.deferred = true};
  const InFlightTable::Mark mark(in_flight_->busy, key);
  return SolveAnew(spec, available, budget, bound);
}

// The quick first pass is not traced: what it prunes says nothing of the optimum.
void Solver::Trace(SearchEventKind kind, const Spec& spec, Lines available, Cost cost,
                   const Decision* decision) {
  if (options_.trace && width_ == 0) options_.trace({kind, spec, available, cost, decision});
}

// Records that no program is below the budget, since `bound` isn't. The bound of a search that was stopped is
// not kept.
Solver::Outcome Solver::Refute(const Spec& spec, Lines available, Cost bound) {
  ++stats_.pruned;
  Trace(SearchEventKind::kPruned, spec, available, bound);
  if (!stopped_) memo_.AddBound(spec, available, bound);
  return {false, bound, 0};
}

// Searches a spec that the memo and the closed form leave open. `bound`: the better of both. The steps: ask a
// relaxed spec; collect candidates; try them; remember the solution or the bound.
Solver::Outcome Solver::SolveAnew(const Spec& spec, Lines available, Cost budget, Cost bound) {
  if (options_.prune && width_ == 0) {
    const Outcome relaxed = Relaxed(spec, available, budget);
    if (relaxed.solved) return relaxed;
    bound = std::max(bound, relaxed.cost);
    if (bound >= budget) return Refute(spec, available, bound);
  }
  CheckStop();
  if (stopped_) return {};
  ++stats_.specs_solved;
  Trace(SearchEventKind::kAsked, spec, available, budget);
  // The callers up the recursion have candidates on this stack, too: these begin at `first`, and are popped
  // at the end.
  const size_t first = candidates_.size();
  const Cost least_skipped = CollectCandidates(spec, available, options_.prune ? budget : kInfiniteCost);
  Outcome outcome = Branch(spec, available, options_.prune ? budget : kInfiniteCost, first);
  if (!stopped_ && width_ == 0) KeepProven(spec, available, first);
  candidates_.resize(first);
  if (outcome.solved || stopped_) return outcome;
  // No candidate is below the budget, which is a bound therefore. The least bound of all decisions may be a
  // better one.
  outcome.cost = std::max(budget, std::min(outcome.cost, least_skipped));
  memo_.AddBound(spec, available, outcome.cost);
  return outcome;
}

// Pushes the decisions that fit and whose bound is below the budget, in the order of the closed forms;
// returns the least bound of the others. The order of candidates must not depend on what is known, so only
// the closed form decides.
Cost Solver::CollectCandidates(const Spec& spec, Lines available, Cost budget) {
  const size_t first = candidates_.size();
  Cost least_skipped = kInfiniteCost;
  const std::vector<RankedDecision>& decisions = ranking_.Of(spec, available).decisions;
  for (size_t place = 0; place < decisions.size(); ++place) {
    const RankedDecision& ranked = decisions[place];
    if (ranked.needs > available) continue;
    if (ranked.proven < budget) {
      candidates_.push_back({ranked.decision, place, ranked.base, ranked.proven});
    } else {
      least_skipped = std::min(least_skipped, ranked.proven);
      ++stats_.pruned;
      Trace(SearchEventKind::kPruned, spec, available, ranked.proven, &ranked.decision);
    }
  }
  if (width_ > 0 && candidates_.size() > first + static_cast<size_t>(width_))
    candidates_.resize(first + static_cast<size_t>(width_));
  return least_skipped;
}

// Leaves what was proven of the candidates with the list of the spec's decisions.
void Solver::KeepProven(const Spec& spec, Lines available, size_t first_candidate) {
  RankedList* list = ranking_.Kept(spec, available);
  if (list == nullptr) return;
  list->proven_for = available;
  for (size_t i = first_candidate; i < candidates_.size(); ++i)
    list->decisions[candidates_[i].place].proven = candidates_[i].bound;
}

// Tries the candidates from `first_candidate` on, and returns the best below the budget. If there is none,
// the cost is the least of their bounds.
//
// Candidates that other workers are at come last: by then they may be done, or else there is help to give.
// The first candidate is never put off, since the budgets of all others depend on its cost.
Solver::Outcome Solver::Branch(const Spec& spec, Lines available, Cost budget, size_t first_candidate) {
  Solution best;
  best.cost = budget;
  size_t winner = first_candidate;
  Cost least_bound = kInfiniteCost;
  const size_t end = candidates_.size();
  bool deferred = false;
  const auto try_next = [&](size_t i, Others others) {
    const Candidate candidate = candidates_[i];  // a copy: the recursion below may reallocate the stack
    const Cost limit = i < winner ? best.cost + 1 : best.cost;  // see solver.h
    if (options_.prune && candidate.bound >= limit) return;
    const Outcome outcome = Try(spec, candidate, available, options_.prune ? limit : kInfiniteCost, others);
    candidates_[i].deferred = outcome.deferred;
    if (!outcome.deferred && !stopped_) candidates_[i].bound = std::max(candidate.bound, outcome.cost);
    deferred |= outcome.deferred;
    if (outcome.solved && outcome.cost < limit) {
      best = {outcome.cost, outcome.peak, available, candidate.decision};
      winner = i;
    } else if (!outcome.solved && !outcome.deferred) {
      least_bound = std::min(least_bound, outcome.cost);
    }
  };
  for (size_t i = first_candidate; i < end && !stopped_; ++i)
    try_next(i, i == first_candidate ? Others::kJoin : Others::kAvoid);
  for (size_t i = first_candidate; deferred && i < end && !stopped_; ++i)
    if (candidates_[i].deferred) try_next(i, Others::kJoin);
  if (stopped_) return {};
  if (best.decision.kind == RewriteKind::kNone) return {false, least_bound, 0};
  memo_.AddSolution(spec, best);
  Trace(SearchEventKind::kWon, spec, available, best.cost, &best.decision);
  // The solution was found with `available` lines and uses `peak` of them, so it is optimal for all numbers
  // between.
  return {true, best.cost, best.peak};
}

// A spec without a program within its limits has an infinite bound, which is not to be multiplied.
constexpr Solver::Outcome kImpossible{false, kInfiniteCost, 0};

Solver::Outcome Solver::Solve(const Spec& spec, const Choice& choice, Lines available, Cost budget) {
  if (choice.bound >= budget) return {false, choice.bound, 0};
  return Try(spec, {choice.decision, 0, choice.base, choice.bound}, available, budget, Others::kJoin);
}

// Prices one decision: solves its children in turn, each with what the others' costs or bounds leave of the
// budget.
Solver::Outcome Solver::Try(const Spec& spec, const Candidate& candidate, Lines available, Cost budget,
                            Others others) {
  Expansion expansion;
  Expand(spec, candidate.decision, model_.target(), &expansion);
  const Lines below = AvailableBelow(spec, expansion, available, model_.target());
  Cost total = candidate.base;
  std::array<Outcome, 3> children;
  bool asked_now = true;  // nothing was solved since the children were asked about
  for (size_t i = 0; i < static_cast<size_t>(expansion.num_children); ++i) {
    children[i] = Ask(expansion.children[i].spec, below);
    if (children[i].cost >= kInfiniteCost) return kImpossible;
    total += expansion.children[i].weight * children[i].cost;
  }
  // `total` begins as a bound and becomes the cost: each child's bound is replaced by its cost. Once the
  // total reaches the budget, the decision cannot win, and the remaining children need no search.
  Lines peak = 0;
  for (size_t i = 0; i < static_cast<size_t>(expansion.num_children); ++i) {
    if (total >= budget) return {false, total, 0};
    Outcome& outcome = children[i];
    if (!outcome.solved) {
      const Expansion::Child& child = expansion.children[i];
      const Cost rest = total - child.weight * outcome.cost;
      const Cost child_budget = ChildBudget(budget, rest, child.weight);
      outcome = asked_now ? SolveOpen(child.spec, below, child_budget, others, outcome.cost)
                          : Solve(child.spec, below, child_budget, others);
      asked_now = false;
      if (stopped_ || outcome.deferred) return outcome;
      if (outcome.cost >= kInfiniteCost) return kImpossible;
      total = rest + child.weight * outcome.cost;
      if (!outcome.solved) return {false, std::max(total, budget), 0};
    }
    peak = std::max(peak, outcome.peak);
  }
  if (total >= budget) return {false, total, 0};
  return {true, total, PeakAbove(spec, expansion, peak)};
}

// The lines below each node are computed as during the search, so that the memo is asked the same questions.
Impl Solver::Reconstruct(const Spec& spec, Lines available) const {
  const Known known = memo_.Find(spec, available);
  KIRSCH_CHECK(known.solution.has_value());
  return BuildProgram(spec, known.solution->decision, available, model_.target(),
                      [this](const Expansion& expansion, size_t child, Lines below) {
                        return Reconstruct(expansion.children[child].spec, below);
                      });
}

}  // namespace kirsch
