// SPDX-License-Identifier: Apache-2.0
#include "search/solver/limits.h"

#include <algorithm>

namespace kirsch {
namespace {

// True if `spec` reads an input from RAM, so that its lines pass through the caches beside what is resident
// there.
bool StreamsFromRam(const Spec& spec) {
  for (int operand = 0; operand < spec.op_info().output(); ++operand)
    if (spec.operand[operand].level == Level::kRam) return true;
  return false;
}

// The lines of a level that each of the spec's threads may fill. A target sets aside a share of each cache
// for what streams through it, and a larger share if inputs come from RAM. The threads that share the cache
// get equal parts.
Lines Capacity(const Spec& spec, Level level, const Target& target) {
  if (level == Level::kRam) return kUnlimited;
  const MemoryLevel& cache = target.at(level);
  const int contenders = std::min<int>(spec.active_threads, cache.threads_per_cache);
  const double usable = StreamsFromRam(spec) ? std::min(cache.capacity_share, cache.capacity_share_beside_ram)
                                             : cache.capacity_share;
  const double bytes = static_cast<double>(cache.bytes) * usable;
  return static_cast<Lines>(bytes / target.line_bytes / std::max(1, contenders));
}

// True if an expansion takes nothing from the number of lines that are left. Registers and RAM have no limit
// of lines. A level slower than the one being filled is closed; only the copy of a prepacked operand can go
// there.
bool TakesNoLines(const Spec& spec, const Expansion& expansion) {
  return expansion.filled == Level::kVrf || expansion.filled == Level::kRam ||
         expansion.filled > FillingLevel(spec);
}

// The lines left where nothing is filled. If the children run on more threads, those begin to share a cache,
// and each gets its own part of it at most.
Lines LeftToEach(const Spec& spec, const Expansion& expansion, Lines available, const Target& target) {
  if (expansion.num_children == 0) return available;
  const Spec& child = expansion.children[0].spec;
  return child.active_threads == spec.active_threads ? available
                                                     : std::min(available, EmptyLevel(child, target));
}

}  // namespace

Lines EmptyLevel(const Spec& spec, const Target& target) {
  return Capacity(spec, FillingLevel(spec), target);
}

Lines RoomFor(const Spec& spec, const Expansion& expansion, Lines available, const Target& target) {
  if (expansion.filled == FillingLevel(spec)) return available;
  return Capacity(expansion.children[0].spec, expansion.filled, target);
}

Lines AvailableBelow(const Spec& spec, const Expansion& expansion, Lines available, const Target& target) {
  if (TakesNoLines(spec, expansion)) return LeftToEach(spec, expansion, available, target);
  // The tile stays resident for as long as the children run, so its lines come off the room. A child never
  // gets more than its own part of the level; -1 says that the tile doesn't fit.
  const Lines capacity = Capacity(expansion.children[0].spec, expansion.filled, target);
  const int64_t room = RoomFor(spec, expansion, available, target);
  return static_cast<Lines>(std::clamp<int64_t>(room - expansion.filled_lines, -1, capacity));
}

Lines LinesNeeded(const Spec& spec, const Expansion& expansion, const Target& target) {
  if (AvailableBelow(spec, expansion, kUnlimited, target) < 0) return kUnlimited + 1;
  if (TakesNoLines(spec, expansion) || expansion.filled != FillingLevel(spec)) return 0;
  return static_cast<Lines>(expansion.filled_lines);
}

Lines PeakAbove(const Spec& spec, const Expansion& expansion, Lines children) {
  if (TakesNoLines(spec, expansion)) return children;
  return expansion.filled == FillingLevel(spec) ? children + static_cast<Lines>(expansion.filled_lines) : 0;
}

Lines AvailableAtPlacement(const Spec& placed_root, const Target& target) {
  const Level placement = FillingLevel(placed_root);
  if (placement == Level::kRam) return kUnlimited;
  // Begin with the whole cache, and take off what the operands that are placed in it occupy.
  int64_t lines = target.at(placement).bytes / target.line_bytes;
  for (int operand = 0; operand < placed_root.op_info().num_operands; ++operand)
    if (placed_root.tensor(operand).level == placement)
      lines -= FootprintOf(placed_root, operand, target).lines;
  // The resident operands count against the whole cache, not against the share that moves and copies may
  // fill. So does a prepacked copy: AvailableBelow then leaves no more than the share below it.
  const bool prepacks = ConstantOperand(placed_root) >= 0;
  const Lines most = prepacks ? kUnlimited : Capacity(placed_root, placement, target);
  return static_cast<Lines>(std::clamp<int64_t>(lines, 0, most));
}

}  // namespace kirsch
