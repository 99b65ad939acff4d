// SPDX-License-Identifier: Apache-2.0
#include "fidelity/cache_simulator.h"

#include <algorithm>

namespace kirsch {
namespace {

// The size that the hardware has; shares that may be filled play no part.
SimulatedCache CacheOf(const Target& target, Level level) {
  return SimulatedCache(target.at(level).bytes, target.at(level).ways, target.line_bytes);
}

}  // namespace

SimulatedCache::SimulatedCache(int64_t bytes, int ways, int line_bytes)
    : sets_(static_cast<uint64_t>(std::max<int64_t>(1, bytes / (int64_t{ways} * line_bytes)))),
      ways_(ways),
      lines_(sets_ * static_cast<size_t>(ways)) {}

SimulatedCache::Way* SimulatedCache::Set(uint64_t line) {
  return lines_.data() + line % sets_ * static_cast<size_t>(ways_);
}

bool SimulatedCache::Use(uint64_t line, bool write) {
  Way* const set = Set(line);
  Way* const way =
      std::find_if(set, set + ways_, [&](const Way& at) { return at.used > 0 && at.line == line; });
  if (way == set + ways_) return false;
  way->used = ++now_;
  way->dirty |= write;
  return true;
}

// A way that holds nothing has `used` 0, so it is taken before all others.
SimulatedCache::Evicted SimulatedCache::Fill(uint64_t line, bool dirty) {
  Way* const set = Set(line);
  Way* const way =
      std::min_element(set, set + ways_, [](const Way& a, const Way& b) { return a.used < b.used; });
  const Evicted evicted{way->line, way->used > 0, way->dirty};
  *way = {line, ++now_, dirty};
  return evicted;
}

std::vector<uint64_t> SimulatedCache::CleanAll() {
  std::vector<uint64_t> cleaned;
  for (Way& way : lines_) {
    if (way.used > 0 && way.dirty) cleaned.push_back(way.line);
    way.dirty = false;
  }
  return cleaned;
}

CacheSimulator::CacheSimulator(const Target& target)
    : line_bytes_(static_cast<uint64_t>(target.line_bytes)),
      caches_{CacheOf(target, Level::kL1), CacheOf(target, Level::kL2), CacheOf(target, Level::kL3)} {}

// Counts a line that crosses between this cache and the next level.
void CacheSimulator::Count(int cache, bool write) {
  const auto next = static_cast<size_t>(Index(Level::kL1) + cache + 1);
  (write ? traffic_.written : traffic_.read)[next] += static_cast<double>(line_bytes_);
}

void CacheSimulator::Use(uint64_t line, bool write, int cache) {
  if (cache == kCaches || At(cache).Use(line, write)) return;
  // A write brings the line in first. Only the closest cache has it dirty: slower ones get it when it is
  // given back.
  Use(line, false, cache + 1);
  Count(cache, false);
  Fill(line, write, cache);
}

void CacheSimulator::Fill(uint64_t line, bool dirty, int cache) {
  const SimulatedCache::Evicted evicted = At(cache).Fill(line, dirty);
  if (evicted.any && evicted.dirty) GiveBack(evicted.line, cache);
}

// Hands a written line to the next level. That may have dropped it since, so the line may have to be filled
// in again, and another one may have to go.
void CacheSimulator::GiveBack(uint64_t line, int cache) {
  Count(cache, true);
  if (cache + 1 < kCaches && !At(cache + 1).Use(line, true)) Fill(line, true, cache + 1);
}

void CacheSimulator::Access(uint64_t address, int bytes, bool write) {
  const uint64_t last = (address + static_cast<uint64_t>(bytes) - 1) / line_bytes_;
  for (uint64_t line = address / line_bytes_; line <= last; ++line) Use(line, write, 0);
}

void CacheSimulator::Place(uint64_t address, int64_t bytes, Level level) {
  const uint64_t end = (address + static_cast<uint64_t>(bytes) + line_bytes_ - 1) / line_bytes_;
  for (int cache = Index(level) - Index(Level::kL1); cache < kCaches; ++cache)
    for (uint64_t line = address / line_bytes_; line < end; ++line)
      if (!At(cache).Use(line, false)) At(cache).Fill(line, false);
}

void CacheSimulator::WriteBack(Level level) {
  // From L1 on, so that a line given back to a slower cache goes on from there in the next turn.
  for (int cache = 0; cache < std::min(kCaches, Index(level) - Index(Level::kL1)); ++cache)
    for (const uint64_t line : At(cache).CleanAll()) GiveBack(line, cache);
}

}  // namespace kirsch
