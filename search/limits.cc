#include "search/limits.h"

#include <algorithm>

namespace kirsch {
namespace {

// Lines of a level that one of `sharers` threads may fill.
Lines Capacity(const Target& target, Level level, int sharers) {
  if (level == Level::kRam) return kUnlimited;
  const MemoryLevel& cache = target.at(level);
  const int contenders = std::min(sharers, cache.sharers);
  const double bytes = static_cast<double>(cache.bytes) * cache.usable;
  return static_cast<Lines>(bytes / target.line_bytes / std::max(1, contenders));
}

// Is what an expansion fills unlimited, or slower than the level that is being filled (as the copy of an
// operand that is packed ahead may be)?
bool TakesNoLines(const Spec& spec, const Expansion& expansion) {
  return expansion.filled == Level::kVrf || expansion.filled == Level::kRam ||
         expansion.filled > FillingLevel(spec);
}

}  // namespace

Lines EmptyLevel(const Spec& spec, const Target& target) {
  return Capacity(target, FillingLevel(spec), spec.sharers);
}

Lines AvailableBelow(const Spec& spec, const Expansion& expansion, Lines available, const Target& target) {
  if (TakesNoLines(spec, expansion)) return available;
  const int64_t room =
      expansion.filled == FillingLevel(spec) ? available : Capacity(target, expansion.filled, spec.sharers);
  return static_cast<Lines>(std::clamp<int64_t>(room - expansion.filled_lines, -1,
                                                Capacity(target, expansion.filled, spec.sharers)));
}

Lines PeakAbove(const Spec& spec, const Expansion& expansion, Lines children) {
  if (TakesNoLines(spec, expansion)) return children;
  return expansion.filled == FillingLevel(spec) ? children + static_cast<Lines>(expansion.filled_lines) : 0;
}

Lines AvailableAtHome(const Spec& placed_root, const Target& target) {
  const Level home = FillingLevel(placed_root);
  if (home == Level::kRam) return kUnlimited;
  int64_t lines = target.at(home).bytes / target.line_bytes;
  for (int operand = 0; operand < placed_root.op_info().num_operands; ++operand)
    if (placed_root.tensor(operand).level == home) lines -= FootprintOf(placed_root, operand, target).lines;
  // What waits there does not count against the share that moves and copies may fill, only against the whole;
  // so does what is packed ahead, below which no more than the share is left.
  const bool ahead = ConstantOperand(placed_root) >= 0;
  const Lines most = ahead ? kUnlimited : Capacity(target, home, placed_root.sharers);
  return static_cast<Lines>(std::clamp<int64_t>(lines, 0, most));
}

}  // namespace kirsch
