// SPDX-License-Identifier: Apache-2.0
#include "search/solver/placement.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "rewrites/spec/rewrite.h"
#include "search/solver/limits.h"
#include "search/solver/search.h"
#include "spec/expansion.h"
#include "spec/microkernel.h"

namespace kirsch {
namespace {

// Lines of a copy of rhs in panels of so many lanes.
int64_t CopiedRhsLines(const Spec& root, Dtype dtype, int lanes, int group, const Target& target) {
  const TileExtent copy{1, root.size[MatmulDims::kK], root.size[MatmulDims::kN]};
  const Layout panels{LayoutKind::kPacked, Order::kRow, static_cast<uint8_t>(lanes),
                      static_cast<uint8_t>(group), 0};
  return (Bytes(dtype, PackedElements(copy, panels, dtype, target)) + target.line_bytes - 1) /
         target.line_bytes;
}

// Lines of a copy of lhs by rows.
int64_t CopiedLhsLines(const Spec& root, Dtype dtype, const Target& target) {
  const int64_t elements = PackedElements(ExtentOf(root, MatmulDims::kLhs), kDense, dtype, target);
  return (Bytes(dtype, elements) + target.line_bytes - 1) / target.line_bytes;
}

// Lines of the copy of rhs that no program can do without; 0 if some program needs none. Rhs must be packed
// in two cases. Neither input is contiguous along the dim that vectors would run along, or the elements of a
// window are not adjacent along it. The copy has the narrowest panels there are, so a program within these
// lines exists.
int64_t NeededCopyLines(const Spec& root, const Target& target) {
  constexpr int kRhs = MatmulDims::kRhs, kK = MatmulDims::kK;
  // No copy is needed if vectors can be read as rhs lies: along the columns for outer products, or along the
  // reduction of both inputs for dot products. A fixed order of sums rules dot products out, as they have a
  // sum in each lane.
  const bool dot_product = InnerDim(root, MatmulDims::kLhs) == kK && root.fixed_order == 0;
  const bool window = IsWindow(root, kRhs);
  if (window ? WindowAxis(root, MatmulDims::kN)->stride(0) == 1 : dot_product || InnerDim(root, kRhs) != kK)
    return 0;
  // Otherwise, the size of a copy in the type that it is multiplied in: blocks of bits are decoded.
  const Dtype own = root.operand[kRhs].dtype;
  const Dtype dtype = IsOfBlocks(own) ? LaneType(BestArithmetic(root, target), kRhs, own) : own;
  const int lanes = target.vectors.back().lanes(AccumulatorOf(root));
  const int group = window ? 1 : Info(BestArithmetic(root, target)).group;
  return CopiedRhsLines(root, dtype, lanes, group, target);
}

// Lines of copies of all of rhs and lhs that the best arithmetic may read, if several rows use rhs; else 0.
// Lhs is copied where its groups are not contiguous. What a copy of a constant takes the place of is there.
int64_t UsefulCopyLines(const Spec& root, const Target& target) {
  constexpr int kLhs = MatmulDims::kLhs, kRhs = MatmulDims::kRhs;
  if (root.size[MatmulDims::kM] == 1 || root.op_info().lanewise() || IsOfBlocks(root.operand[kRhs].dtype))
    return 0;
  const Arithmetic best = BestArithmetic(root, target);
  const auto beyond_constant = [&](int operand, int64_t lines) {
    const bool constant = root.tensor(operand).constant != 0;
    return constant ? std::max<int64_t>(0, lines - FootprintOf(root, operand, target).lines) : lines;
  };
  const Dtype lhs = LaneType(best, kLhs, root.operand[kLhs].dtype),
              rhs = LaneType(best, kRhs, root.operand[kRhs].dtype);
  const bool copies_lhs = Info(best).groups_lhs() && InnerDim(root, kLhs) != MatmulDims::kK;
  return beyond_constant(kRhs, CopiedRhsLines(root, rhs, target.vectors.front().lanes(AccumulatorOf(root)),
                                              Info(best).group, target)) +
         (copies_lhs ? beyond_constant(kLhs, CopiedLhsLines(root, lhs, target)) : 0);
}

// Lines of the copy of lhs in a rounded type, if the problem allows one that is faster to multiply; else 0.
// With few rows the copy pays only if it is in L1. With many rows that don't fit beside the copy, the
// reduction would have to be cut.
int64_t RoundedCopyLines(const Spec& root, const Target& target) {
  const Dtype rhs = root.operand[MatmulDims::kRhs].dtype;
  if (root.lhs_as == LhsAs::kItself || root.operand[MatmulDims::kLhs].dtype != Dtype::kF32) return 0;
  if (root.lhs_as == LhsAs::kF16) return 0;  // smaller than lhs, and no faster to multiply
  const Dtype rounded = root.lhs_as == LhsAs::kQ8 ? RoundedBeside(rhs) : Dtype::kBf16;
  if (rounded == Dtype::kBf16 && Info(ArithmeticOfRounded(target)).lhs != rounded) return 0;
  return CopiedLhsLines(root, rounded, target);
}

// True if operands of so many bytes fit the cache together with a copy. If inputs stream from RAM, only a
// share of the cache is left for both. The copy also has to fit the share that may be filled, since the
// program makes it.
bool Holds(const MemoryLevel& cache, int64_t operands, int64_t copy, bool beside_ram) {
  const double share = beside_ram ? cache.capacity_share_beside_ram : 1;
  return static_cast<double>(operands + copy) <= share * static_cast<double>(cache.bytes) &&
         static_cast<double>(copy) <= cache.capacity_share * static_cast<double>(cache.bytes);
}

// Bytes of the operands that need room in a cache: those that are not in RAM.
int64_t ResidentBytes(const Spec& root, Residency residency, const Target& target) {
  int64_t lines = 0;
  for (int operand = 0; operand < root.op_info().num_operands; ++operand)
    if (!residency.InRam(operand)) lines += FootprintOf(root, operand, target).lines;
  return lines * target.line_bytes;
}

// Places operands in the fastest cache that has room for `copy` lines of copies, too. All operands that are
// not in RAM go to the same cache; if no cache holds them, to RAM.
Spec PlaceBesideCopies(const Spec& root, int64_t copy, Residency residency, const Target& target) {
  Spec placed = root;
  const int64_t operands = ResidentBytes(root, residency, target);
  // Inputs from RAM count by what they leave of a cache.
  bool beside_ram = false;
  for (int operand = 0; operand < root.op_info().output(); ++operand)
    beside_ram = beside_ram || residency.InRam(operand);
  Level placement = Level::kRam;
  // From slow to fast, so that the last level which holds everything wins.
  for (Level level : {Level::kL3, Level::kL2, Level::kL1})
    if (Holds(target.at(level), operands, copy * target.line_bytes, beside_ram)) placement = level;
  for (int operand = 0; operand < root.op_info().num_operands; ++operand)
    placed.tensor(operand).level = IsVectorOfEpilogue(root, operand) ? Level::kL1
                                   : residency.InRam(operand)        ? Level::kRam
                                                                     : placement;
  return placed;
}

// For each placement, the lines of the copies that programs may make of whole operands. The problem's own
// come first: the needed copy and the rounded one. Then the narrower questions: without rounding, and in a
// fixed order of sums. And a copy that need not be, which L1 may have no room for beside operands that fill
// it.
std::vector<int64_t> CopyLines(const Spec& root, const Target& target) {
  const int64_t needed = NeededCopyLines(root, target);
  Spec in_order = root;
  in_order.fixed_order = 1;
  std::vector<int64_t> lines = {needed + RoundedCopyLines(root, target)};
  if (root.fixed_order == 0 && ConstantOperand(root) < 0)
    lines.insert(lines.end(), {needed, NeededCopyLines(in_order, target)});
  if (ResidentBytes(root, Residency::kWarm, target) > target.at(Level::kL1).bytes) return lines;
  Spec as_it_is = root;
  as_it_is.lhs_as = LhsAs::kItself;
  lines.insert(lines.end(), {UsefulCopyLines(root, target), UsefulCopyLines(as_it_is, target)});
  return lines;
}

bool WasStopped(const SearchResult& result) {
  return result.stop == StopReason::kBudget || result.stop == StopReason::kCancelled;
}
bool HasProgram(const SearchResult& result) { return result.stop != StopReason::kCutoff; }

// Keeps the better of two results in `*best`, with the counts and seconds of both. The result is proven
// optimal only if both searches came to their end, so a stop of either is kept, and the lesser bound.
void TakeBetter(SearchResult other, SearchResult* best) {
  if (HasProgram(other) && (!HasProgram(*best) || other.cost < best->cost)) std::swap(other, *best);
  best->bound = std::min(best->bound, other.bound);
  best->stats += other.stats;
  best->seconds += other.seconds;
  best->table_seconds += other.table_seconds;
  best->from_table = best->from_table && other.from_table;
  if (WasStopped(other)) best->stop = other.stop;
}

}  // namespace

bool IsVectorOfEpilogue(const Spec& root, int operand) {
  return IsEpilogueOperand(root, operand) &&
         ExtentOf(root, operand).elements() < ExtentOf(root, root.op_info().output()).elements();
}

Spec PlaceOperands(const Spec& root, Residency residency, const Target& target) {
  return PlaceBesideCopies(root, CopyLines(root, target).front(), residency, target);
}

std::vector<Spec> Placements(const Spec& root, Residency residency, const Target& target) {
  std::vector<Spec> placements;
  for (int64_t lines : CopyLines(root, target)) {
    const Spec placed = PlaceBesideCopies(root, lines, residency, target);
    if (std::ranges::find(placements, placed) == placements.end()) placements.push_back(placed);
  }
  return placements;
}

absl::StatusOr<SearchResult> AtCheapest(
    absl::Span<const Spec> placements, Cost cutoff,
    absl::FunctionRef<absl::StatusOr<SearchResult>(const Spec& placed_root, Cost cutoff)> solve) {
  absl::StatusOr<SearchResult> best = solve(placements.front(), cutoff);
  for (const Spec& placed : placements.subspan(1)) {
    if (best.ok() && WasStopped(*best)) break;
    // A further place is of use only if it beats the best program so far, so that one's cost is the cutoff.
    const bool known = best.ok() && HasProgram(*best);
    absl::StatusOr<SearchResult> other = solve(placed, known ? std::min(cutoff, best->cost) : cutoff);
    if (!other.ok()) continue;
    if (best.ok())
      TakeBetter(*std::move(other), &*best);
    else
      best = std::move(other);
  }
  return best;
}

bool HasRoom(const Spec& root, const Target& target) {
  const int64_t copy = NeededCopyLines(root, target);
  return copy == 0 || copy <= AvailableAtPlacement(root, target);
}

}  // namespace kirsch
