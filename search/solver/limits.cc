// SPDX-License-Identifier: Apache-2.0
#include "search/solver/limits.h"

#include <algorithm>

namespace kirsch {
namespace {

// Does `spec` read an input from RAM, past whatever is resident in the caches?
bool StreamsFromRam(const Spec& spec) {
  for (int operand = 0; operand < spec.op_info().output(); ++operand)
    if (spec.operand[operand].level == Level::kRam) return true;
  return false;
}

// Lines of a level that one of the threads that `spec` is for may fill.
Lines Capacity(const Spec& spec, Level level, const Target& target) {
  if (level == Level::kRam) return kUnlimited;
  const MemoryLevel& cache = target.at(level);
  const int contenders = std::min<int>(spec.active_threads, cache.threads_per_cache);
  const double usable = StreamsFromRam(spec) ? std::min(cache.capacity_share, cache.capacity_share_beside_ram)
                                             : cache.capacity_share;
  const double bytes = static_cast<double>(cache.bytes) * usable;
  return static_cast<Lines>(bytes / target.line_bytes / std::max(1, contenders));
}

// Is what an expansion fills unlimited, or slower than the level that is being filled (as the copy of an
// operand that is prepacked may be)?
bool TakesNoLines(const Spec& spec, const Expansion& expansion) {
  return expansion.filled == Level::kVrf || expansion.filled == Level::kRam ||
         expansion.filled > FillingLevel(spec);
}

// Threads that begin to share a cache have no more than their share of it each.
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
  // What is filled stays resident beside what the spec below reads.
  const Lines capacity = Capacity(expansion.children[0].spec, expansion.filled, target);
  const int64_t room = RoomFor(spec, expansion, available, target);
  return static_cast<Lines>(std::clamp<int64_t>(room - expansion.filled_lines, -1, capacity));
}

Lines PeakAbove(const Spec& spec, const Expansion& expansion, Lines children) {
  if (TakesNoLines(spec, expansion)) return children;
  return expansion.filled == FillingLevel(spec) ? children + static_cast<Lines>(expansion.filled_lines) : 0;
}

Lines AvailableAtPlacement(const Spec& placed_root, const Target& target) {
  const Level placement = FillingLevel(placed_root);
  if (placement == Level::kRam) return kUnlimited;
  int64_t lines = target.at(placement).bytes / target.line_bytes;
  for (int operand = 0; operand < placed_root.op_info().num_operands; ++operand)
    if (placed_root.tensor(operand).level == placement)
      lines -= FootprintOf(placed_root, operand, target).lines;
  // What is resident there does not count against the share that moves and copies may fill, only against the
  // whole; so does what is prepacked, below which no more than the share is left.
  const bool prepacks = ConstantOperand(placed_root) >= 0;
  const Lines most = prepacks ? kUnlimited : Capacity(placed_root, placement, target);
  return static_cast<Lines>(std::clamp<int64_t>(lines, 0, most));
}

}  // namespace kirsch
