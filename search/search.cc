#include "search/search.h"

#include <algorithm>
#include <chrono>

#include "memo/hash_memo.h"
#include "search/solver.h"
#include "spec/check.h"
#include "spec/expansion.h"

namespace kirsch {
namespace {

// Decisions per spec in the quick first pass, whose program is the exact pass's first incumbent.
constexpr int kQuickWidth = 3;

// First budget of the exact pass and how it grows: a little above the bound, so that little is explored that
// the optimum would have pruned. What a failed round proved stays in the memo.
constexpr double kBudgetStep = 0.02;

Cost BoundAtStart(const Spec& root, Lines available, const CostModel& model, const Memo& memo) {
  return std::max(model.LowerBound(root), memo.Find(root, available).bound);
}

// Solves with growing budgets until the optimum is below one. Unless solved, the outcome's cost is the bound
// proven so far. The last budget is one more than the first program costs, so that among equals the exact
// pass finds the program that its own order of trial prefers.
Solver::Outcome Deepen(Solver& solver, const Spec& root, Lines available, Cost incumbent, Cost bound) {
  while (true) {
    solver.SetProgress(incumbent, bound);
    const Cost step = static_cast<Cost>(static_cast<double>(bound) * kBudgetStep) + 1;
    const Solver::Outcome outcome = solver.Solve(root, available, std::min(incumbent + 1, bound + step));
    if (outcome.solved) return outcome;
    bound = std::max(bound, outcome.cost);
    if (solver.stopped()) return {false, bound, 0};
    KIRSCH_CHECK(bound <= incumbent);
  }
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
  }
  return "?";
}

Spec PlaceOperands(const Spec& root, Residency residency, const Target& target) {
  Spec placed = root;
  int64_t lines = 0;
  for (int operand = 0; operand < root.op_info().num_operands; ++operand)
    lines += FootprintOf(root, operand, target).lines;
  Level home = Level::kRam;
  if (residency == Residency::kWarm)
    for (Level level : {Level::kL3, Level::kL2, Level::kL1})
      if (lines * target.line_bytes <= target.at(level).bytes) home = level;
  for (int operand = 0; operand < root.op_info().num_operands; ++operand)
    placed.operand[static_cast<size_t>(operand)].level = home;
  return placed;
}

SearchResult Search(const Spec& root, const CostModel& model, Memo& memo, const SearchOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const Lines available = AvailableAtHome(root, model.target());
  SearchOptions quick_options;
  quick_options.cancel = nullptr;
  HashMemo quick_memo;
  Solver quick(model, quick_memo, quick_options, kQuickWidth);
  const Solver::Outcome first = quick.Solve(root, available, kInfiniteCost);
  KIRSCH_CHECK(first.solved);

  SearchResult result;
  Solver exact(model, memo, options, 0);
  const Solver::Outcome best =
      Deepen(exact, root, available, first.cost, BoundAtStart(root, available, model, memo));
  result.stop = exact.stop_reason();
  result.stats = exact.stats();
  result.cost = best.solved ? best.cost : first.cost;
  result.bound = best.cost;
  result.impl = best.solved ? exact.Reconstruct(root, available) : quick.Reconstruct(root, available);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace kirsch
