#include "search/solver/search.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "memo/hash_memo.h"
#include "search/solver/limits.h"
#include "search/solver/search_within.h"
#include "search/solver/solver.h"
#include "search/solver/team.h"
#include "spec/check.h"
#include "spec/expansion.h"
#include "spec/microkernel.h"

namespace kirsch {
namespace {

// Decisions per spec in the quick first pass, whose program is the exact pass's first incumbent.
constexpr int kQuickWidth = 3;

// First budget of the exact pass and how it grows: not far above the bound, so that little is explored that
// the optimum would have pruned. What a failed round proved stays in the memo, but the next one goes through
// it again. A last budget that is far above the optimum takes more than many short steps: where much of the
// space costs nearly the same, as for narrow types, steps of 25 % took nearly twice as many specs.
constexpr double kBudgetStep = 0.1;

struct QuickProgram {
  Cost cost;
  Impl impl;
};

// Tries the few most promising decisions per spec; more of them only if none leads to a program (a copy that
// looks cheap may turn out not to fit).
QuickProgram SolveQuickly(const Spec& root, Lines available, const CostModel& model) {
  for (int width = kQuickWidth;; width *= 2) {
    KIRSCH_CHECK(width < 1 << 20);
    HashMemo memo;
    const SearchOptions options;
    Solver solver(model, memo, options, width);
    const Solver::Outcome outcome = solver.Solve(root, available, kInfiniteCost);
    if (outcome.solved) return {outcome.cost, solver.Reconstruct(root, available)};
  }
}

Cost BoundAtStart(const Spec& root, Lines available, const CostModel& model, const Memo& memo) {
  return std::max(model.LowerBound(root), memo.Find(root, available).bound);
}

// Solves with growing budgets up to the last one, until the optimum is below one. Unless solved, the
// outcome's cost is the bound proven so far.
Solver::Outcome Deepen(Team& team, const Spec& root, Lines available, Cost last, Cost bound) {
  while (bound < last && !team.stopped()) {
    team.SetProgress(last, bound);
    const Cost step = static_cast<Cost>(static_cast<double>(bound) * kBudgetStep) + 1;
    const Solver::Outcome outcome = team.Solve(root, available, std::min(last, bound + step));
    if (outcome.solved) return outcome;
    bound = std::max(bound, outcome.cost);
  }
  return {false, bound, 0};
}

// Below a cutoff there may be no program. Where there is time for this only, any program does.
SearchResult SearchBelow(Cost cutoff, const Spec& root, Lines available, const CostModel& model, Memo& memo,
                         const SearchOptions& options) {
  SearchResult result;
  Team exact(model, memo, options);
  const Solver::Outcome best =
      Deepen(exact, root, available, cutoff, BoundAtStart(root, available, model, memo));
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

// The first program costs no less than the optimum; the last budget is one more, so that among equals the
// exact pass finds the program that its own order of trial prefers.
SearchResult SearchAll(const Spec& root, Lines available, const CostModel& model, Memo& memo,
                       const SearchOptions& options) {
  QuickProgram first = SolveQuickly(root, available, model);
  SearchResult result;
  Team exact(model, memo, options);
  const Solver::Outcome best =
      Deepen(exact, root, available, first.cost + 1, BoundAtStart(root, available, model, memo));
  KIRSCH_CHECK(best.solved || exact.stopped());
  result.stop = best.solved ? StopReason::kOptimal : exact.stop_reason();
  result.stats = exact.stats();
  result.cost = best.solved ? best.cost : first.cost;
  result.bound = best.cost;
  result.impl = best.solved ? exact.Reconstruct(root, available) : std::move(first.impl);
  return result;
}

// Lines of the copy of rhs that no program can do without: when neither input is contiguous along the dim
// that vectors would run along, or a window's elements are apart along it, rhs is packed. Panels as narrow as
// they get, so a program within these lines exists.
int64_t NeededCopyLines(const Spec& root, const Target& target) {
  constexpr int kRhs = MatmulDims::kRhs, kK = MatmulDims::kK;
  const bool dot_product = InnerDim(root, MatmulDims::kLhs) == kK && root.fixed_order == 0;
  const bool window = IsWindow(root, kRhs);
  if (window ? WindowAxis(root, MatmulDims::kN)->stride(0) == 1 : dot_product || InnerDim(root, kRhs) != kK)
    return 0;
  const Dtype own = root.operand[kRhs].dtype;
  const Dtype dtype = IsOfBlocks(own) ? LaneType(BestArithmetic(root, target), kRhs, own) : own;
  const auto lanes = static_cast<uint8_t>(target.vectors.back().lanes());
  const auto group = static_cast<uint8_t>(window ? 1 : Info(BestArithmetic(root, target)).group);
  const TileExtent copy{1, root.size[kK], root.size[MatmulDims::kN]};
  const int64_t elements =
      PackedElements(copy, {LayoutKind::kPacked, Order::kRow, lanes, group, 0}, dtype, target);
  return (BytesOf(dtype, elements) + target.line_bytes - 1) / target.line_bytes;
}

// Lines of the copy of lhs rounded, where there may be one: few rows are not worth it unless it is in L1, and
// for many that don't fit beside the copy the reduction would be cut.
int64_t RoundedCopyLines(const Spec& root, const Target& target) {
  const Dtype rhs = root.operand[MatmulDims::kRhs].dtype;
  if (root.lhs_as == LhsAs::kItself || root.operand[MatmulDims::kLhs].dtype != Dtype::kF32) return 0;
  if (root.lhs_as == LhsAs::kF16) return 0;  // smaller than lhs, and no faster to multiply
  const Dtype rounded = root.lhs_as == LhsAs::kQ8 ? RoundedBeside(rhs) : Dtype::kBf16;
  if (rounded == Dtype::kBf16 && Info(BestArithmetic(rounded, rounded, target)).lhs != rounded) return 0;
  const TileExtent lhs = ExtentOf(root, MatmulDims::kLhs);
  const Layout rows{LayoutKind::kPacked, Order::kRow, 0, 1, 0};
  const int64_t bytes = BytesOf(rounded, PackedElements(lhs, rows, rounded, target));
  return (bytes + target.line_bytes - 1) / target.line_bytes;
}

// True if operands of so many bytes fit the cache, or the share of it that what comes from RAM leaves, and,
// if there is one, a copy the share that may be filled.
bool Holds(const MemoryLevel& cache, int64_t operands, int64_t copy, bool beside_ram) {
  const double share = beside_ram ? cache.usable_beside_ram : 1;
  return static_cast<double>(operands + copy) <= share * static_cast<double>(cache.bytes) &&
         static_cast<double>(copy) <= cache.usable * static_cast<double>(cache.bytes);
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

bool IsVectorOfEpilogue(const Spec& root, int operand) {
  return IsEpilogueOperand(root, operand) &&
         ExtentOf(root, operand).elements() < ExtentOf(root, root.op_info().output()).elements();
}

Spec PlaceOperands(const Spec& root, Residency residency, const Target& target) {
  Spec placed = root;
  const int64_t copy = NeededCopyLines(root, target) + RoundedCopyLines(root, target);
  int64_t lines = 0;
  bool beside_ram = false;
  for (int operand = 0; operand < root.op_info().num_operands; ++operand) {
    if (!residency.InRam(operand)) lines += FootprintOf(root, operand, target).lines;
    beside_ram = beside_ram || (residency.InRam(operand) && operand < root.op_info().output());
  }
  Level home = Level::kRam;
  for (Level level : {Level::kL3, Level::kL2, Level::kL1})
    if (Holds(target.at(level), lines * target.line_bytes, copy * target.line_bytes, beside_ram))
      home = level;
  for (int operand = 0; operand < root.op_info().num_operands; ++operand)
    placed.tensor(operand).level = IsVectorOfEpilogue(root, operand) ? Level::kL1
                                   : residency.InRam(operand)        ? Level::kRam
                                                                     : home;
  return placed;
}

bool HasRoom(const Spec& root, const Target& target) {
  const int64_t copy = NeededCopyLines(root, target);
  return copy == 0 || copy <= AvailableAtHome(root, target);
}

SearchResult Search(const Spec& root, const CostModel& model, Memo& memo, const SearchOptions& options) {
  return SearchWithin(root, AvailableAtHome(root, model.target()), model, memo, options);
}

SearchResult SearchWithin(const Spec& spec, Lines available, const CostModel& model, Memo& memo,
                          const SearchOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  SearchResult result = options.cutoff < kInfiniteCost
                            ? SearchBelow(options.cutoff, spec, available, model, memo, options)
                            : SearchAll(spec, available, model, memo, options);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace kirsch
