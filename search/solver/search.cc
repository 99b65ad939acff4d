// SPDX-License-Identifier: Apache-2.0
#include "search/solver/search.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "memo/hash_memo.h"
#include "search/solver/limits.h"
#include "search/solver/parallel_solver.h"
#include "search/solver/search_within.h"
#include "search/solver/solver.h"
#include "spec/check.h"

namespace kirsch {
namespace {

// How many decisions per spec the quick first pass tries. Its program is the exact pass's first incumbent.
constexpr int kQuickWidth = 3;

// The first budget of the exact pass is this share above the bound, and each later one is as far above its
// own. Close to the bound, little is explored that the optimum would have pruned. A failed round's proofs
// stay in the memo and with ranked decisions, so it costs little that the next round goes through them again.
// A last budget far above the optimum costs more (bench/lab/2026-11-29.md).
constexpr double kBudgetStep = 0.03;

struct QuickProgram {
  Cost cost;
  Impl impl;
};

// Finds some legal program in milliseconds. It tries the few most promising decisions per spec, and more of
// them only if none leads to a program: a copy that looks cheap may turn out not to fit. Nothing comes of
// that only where an extension forbids too much.
QuickProgram SolveQuickly(const Spec& root, Lines available, const CostModel& model) {
  constexpr int kMostWidth = 1 << 12;
  for (int width = kQuickWidth;; width *= 2) {
    if (width > kMostWidth && model.target().extension != nullptr) return {kInfiniteCost, {}};
    KIRSCH_CHECK(width < 1 << 20);
    // A memo of its own: what a narrow search proves holds for its few decisions only.
    HashMemo memo;
    const SearchOptions options;
    Solver solver(model, memo, options, width);
    const Solver::Outcome outcome = solver.Solve(root, available, kInfiniteCost);
    if (outcome.solved) return {outcome.cost, solver.Reconstruct(root, available)};
  }
}

// The best bound known before any search: the closed form, or what earlier searches proved.
Cost BoundAtStart(const Spec& root, Lines available, const CostModel& model, const Memo& memo) {
  return std::max(model.LowerBound(root), memo.Find(root, available).bound);
}

// Solves with growing budgets, up to `last`, until the optimum is below one. Otherwise the outcome's cost is
// the bound proven so far. Example, from a bound of 1,000 with an optimum of 1,050: the budget 1,031 fails
// and proves 1,031 or more; the next budget, 1,062, succeeds.
// An extension's bounds are far below its costs, so there is one round.
Solver::Outcome Deepen(ParallelSolver& solver, const Spec& root, Lines available, const CostModel& model,
                       Cost last, Cost bound) {
  const bool tight = model.target().extension == nullptr;
  while (bound < last && !solver.stopped()) {
    solver.SetProgress(last, bound);
    const Cost step = tight ? static_cast<Cost>(static_cast<double>(bound) * kBudgetStep) + 1 : last;
    const Solver::Outcome outcome = solver.Solve(root, available, std::min(last, bound + step));
    if (outcome.solved) return outcome;
    bound = std::max(bound, outcome.cost);
  }
  return {false, bound, 0};
}

// Searches for a program below a cutoff, where there may be none. So there is no quick first pass, unless
// time runs out: then any program is given.
SearchResult SearchBelow(Cost cutoff, const Spec& root, Lines available, const CostModel& model, Memo& memo,
                         const SearchOptions& options) {
  SearchResult result;
  ParallelSolver exact(model, memo, options);
  const Solver::Outcome best =
      Deepen(exact, root, available, model, cutoff, BoundAtStart(root, available, model, memo));
  result.stats = exact.stats();
  result.cost = result.bound = best.cost;
  if (best.solved) {
    result.impl = exact.Reconstruct(root, available);
  } else if (!exact.stopped()) {
    result.stop = StopReason::kCutoff;
  } else {
    QuickProgram first = SolveQuickly(root, available, model);
    result.cost = first.cost;
    result.impl = std::move(first.impl);
    result.stop = exact.stop_reason();
  }
  return result;
}

// Searches without a cutoff. The quick program costs no less than the optimum. The last budget is one more
// than its cost. So among equals the exact pass finds the program that its own order of trial prefers.
SearchResult SearchAll(const Spec& root, Lines available, const CostModel& model, Memo& memo,
                       const SearchOptions& options) {
  QuickProgram first = SolveQuickly(root, available, model);
  SearchResult result;
  ParallelSolver exact(model, memo, options);
  const Solver::Outcome best =
      Deepen(exact, root, available, model, first.cost + 1, BoundAtStart(root, available, model, memo));
  KIRSCH_CHECK(best.solved || exact.stopped() || model.target().extension != nullptr);
  result.stop = best.solved ? StopReason::kOptimal : exact.stop_reason();
  result.stats = exact.stats();
  result.cost = best.solved ? best.cost : first.cost;
  result.bound = best.cost;
  result.impl = best.solved ? exact.Reconstruct(root, available) : std::move(first.impl);
  return result;
}

}  // namespace

std::string_view Name(StopReason reason) {
  switch (reason) {
    case StopReason::kOptimal:
      return "optimal";
    case StopReason::kBudget:
      return "budget";
    case StopReason::kCancelled:
      return "cancelled";
    case StopReason::kPinned:
      return "pinned";
    case StopReason::kCutoff:
      return "cutoff";
  }
  return "?";
}

SearchResult Search(const Spec& root, const CostModel& model, Memo& memo, const SearchOptions& options) {
  return SearchWithin(root, AvailableAtPlacement(root, model.target()), model, memo, options);
}

SearchResult SearchWithin(const Spec& spec, Lines available, const CostModel& model, Memo& memo,
                          const SearchOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  SearchResult result = options.cutoff < kInfiniteCost
                            ? SearchBelow(options.cutoff, spec, available, model, memo, options)
                            : SearchAll(spec, available, model, memo, options);
  // An extension may leave no program at all.
  if (result.cost >= kInfiniteCost) result.stop = StopReason::kCutoff;
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace kirsch
