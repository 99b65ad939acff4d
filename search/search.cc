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

}  // namespace

std::string_view Name(StopReason reason) {
  switch (reason) {
    case StopReason::kOptimal: return "optimal";
    case StopReason::kBudget: return "budget";
    case StopReason::kCancelled: return "cancelled";
    case StopReason::kPinned: return "pinned";
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
  // One more than the first program costs, so that the exact pass finds the program that its own order of trial
  // prefers among equals.
  const Solver::Outcome best = exact.Solve(root, available, first.cost + 1);
  result.stop = exact.stop_reason();
  result.stats = exact.stats();
  if (best.solved) {
    result.cost = result.bound = best.cost;
    result.impl = exact.Reconstruct(root, available);
  } else {
    KIRSCH_CHECK(exact.stopped());
    result.cost = first.cost;
    result.bound = std::max(model.LowerBound(root), memo.Find(root, available).bound);
    result.impl = quick.Reconstruct(root, available);
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace kirsch
