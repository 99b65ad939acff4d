// SPDX-License-Identifier: Apache-2.0
#include "search/solver/placement.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "search/solver/limits.h"
#include "search/solver/search.h"
#include "spec/expansion.h"
#include "spec/microkernel.h"

namespace kirsch {
namespace {

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
  const auto lanes = static_cast<uint8_t>(target.vectors.back().lanes(AccumulatorOf(root)));
  const auto group = static_cast<uint8_t>(window ? 1 : Info(BestArithmetic(root, target)).group);
  const TileExtent copy{1, root.size[kK], root.size[MatmulDims::kN]};
  const int64_t elements =
      PackedElements(copy, {LayoutKind::kPacked, Order::kRow, lanes, group, 0}, dtype, target);
  return (Bytes(dtype, elements) + target.line_bytes - 1) / target.line_bytes;
}

// Lines of the copy of lhs rounded, where there may be one: few rows are not worth it unless it is in L1, and
// for many that don't fit beside the copy the reduction would be cut.
int64_t RoundedCopyLines(const Spec& root, const Target& target) {
  const Dtype rhs = root.operand[MatmulDims::kRhs].dtype;
  if (root.lhs_as == LhsAs::kItself || root.operand[MatmulDims::kLhs].dtype != Dtype::kF32) return 0;
  if (root.lhs_as == LhsAs::kF16) return 0;  // smaller than lhs, and no faster to multiply
  const Dtype rounded = root.lhs_as == LhsAs::kQ8 ? RoundedBeside(rhs) : Dtype::kBf16;
  if (rounded == Dtype::kBf16 && Info(ArithmeticOfRounded(target)).lhs != rounded) return 0;
  const TileExtent lhs = ExtentOf(root, MatmulDims::kLhs);
  const Layout rows{LayoutKind::kPacked, Order::kRow, 0, 1, 0};
  const int64_t bytes = Bytes(rounded, PackedElements(lhs, rows, rounded, target));
  return (bytes + target.line_bytes - 1) / target.line_bytes;
}

// Do operands of so many bytes fit the cache, or the share of it that what comes from RAM leaves? And, if
// there is a copy, does it fit the share that may be filled?
bool Holds(const MemoryLevel& cache, int64_t operands, int64_t copy, bool beside_ram) {
  const double share = beside_ram ? cache.capacity_share_beside_ram : 1;
  return static_cast<double>(operands + copy) <= share * static_cast<double>(cache.bytes) &&
         static_cast<double>(copy) <= cache.capacity_share * static_cast<double>(cache.bytes);
}

// In the fastest cache that has room for so many lines of copies, too.
Spec PlaceBesideCopies(const Spec& root, int64_t copy, Residency residency, const Target& target) {
  Spec placed = root;
  int64_t lines = 0;
  bool beside_ram = false;
  for (int operand = 0; operand < root.op_info().num_operands; ++operand) {
    if (!residency.InRam(operand)) lines += FootprintOf(root, operand, target).lines;
    beside_ram = beside_ram || (residency.InRam(operand) && operand < root.op_info().output());
  }
  Level placement = Level::kRam;
  for (Level level : {Level::kL3, Level::kL2, Level::kL1})
    if (Holds(target.at(level), lines * target.line_bytes, copy * target.line_bytes, beside_ram))
      placement = level;
  for (int operand = 0; operand < root.op_info().num_operands; ++operand)
    placed.tensor(operand).level = IsVectorOfEpilogue(root, operand) ? Level::kL1
                                   : residency.InRam(operand)        ? Level::kRam
                                                                     : placement;
  return placed;
}

// Lines of the copies that the programs of a problem may make of whole operands, those of its own first.
std::vector<int64_t> CopyLines(const Spec& root, const Target& target) {
  const int64_t needed = NeededCopyLines(root, target);
  Spec in_order = root;
  in_order.fixed_order = 1;
  std::vector<int64_t> lines = {needed + RoundedCopyLines(root, target)};
  if (root.fixed_order == 0 && ConstantOperand(root) < 0)
    lines.insert(lines.end(), {needed, NeededCopyLines(in_order, target)});
  return lines;
}

bool WasStopped(const SearchResult& result) {
  return result.stop == StopReason::kBudget || result.stop == StopReason::kCancelled;
}
bool HasProgram(const SearchResult& result) { return result.stop != StopReason::kCutoff; }

// The better of two results, and the work of both. It is proven to be the best where both searches came to
// their end.
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
    if (std::find(placements.begin(), placements.end(), placed) == placements.end())
      placements.push_back(placed);
  }
  return placements;
}

absl::StatusOr<SearchResult> AtCheapest(
    absl::Span<const Spec> placements, Cost cutoff,
    absl::FunctionRef<absl::StatusOr<SearchResult>(const Spec& placed_root, Cost cutoff)> solve) {
  absl::StatusOr<SearchResult> best = solve(placements.front(), cutoff);
  for (const Spec& placed : placements.subspan(1)) {
    if (best.ok() && WasStopped(*best)) break;
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
