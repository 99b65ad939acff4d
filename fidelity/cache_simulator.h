// SPDX-License-Identifier: Apache-2.0
// Caches simulated line by line: what crosses from level to level when a program reads and writes.
#ifndef KIRSCH_FIDELITY_CACHE_SIMULATOR_H_
#define KIRSCH_FIDELITY_CACHE_SIMULATOR_H_

#include <array>
#include <cstdint>
#include <vector>

#include "spec/level.h"
#include "spec/target.h"
#include "spec/traffic.h"

namespace kirsch {

// One set-associative cache that replaces the line used longest ago. Lines are addresses over line_bytes.
class SimulatedCache {
 public:
  SimulatedCache(int64_t bytes, int ways, int line_bytes);

  struct Evicted {
    uint64_t line = 0;
    bool any = false, dirty = false;
  };

  // Is the line here? Then it has been used just now, and is dirty if it is to be written.
  bool Use(uint64_t line, bool write);
  // Brings a line in that is not here.
  Evicted Fill(uint64_t line, bool dirty);
  // Makes all lines clean; how many were not.
  std::vector<uint64_t> CleanAll();

 private:
  struct Way {
    uint64_t line = 0;
    int64_t used = 0;  // when; 0: holds nothing
    bool dirty = false;
  };
  Way* Set(uint64_t line);

  const uint64_t sets_;
  const int ways_;
  std::vector<Way> lines_;
  int64_t now_ = 0;
};

// The caches of a target, L1 to L3, in front of RAM: every level that has not got a line gets it from the
// next, and gives back a line that was written when it makes room for another.
class CacheSimulator {
 public:
  explicit CacheSimulator(const Target& target);

  void Access(uint64_t address, int bytes, bool write);

  // Brings in whatever waits at `level`, not counted: the lines of these bytes are there and in no closer
  // one.
  void Place(uint64_t address, int64_t bytes, Level level);

  // Gives back what was written, from all levels closer than `level`.
  void WriteBack(Level level);

  // Bytes that have crossed so far.
  const Traffic& traffic() const { return traffic_; }

 private:
  static constexpr int kCaches = 3;

  void Use(uint64_t line, bool write, int cache);
  void Fill(uint64_t line, bool dirty, int cache);
  void GiveBack(uint64_t line, int cache);
  SimulatedCache& At(int cache) { return caches_[static_cast<size_t>(cache)]; }
  void Count(int cache, bool write);

  const uint64_t line_bytes_;
  std::array<SimulatedCache, kCaches> caches_;
  Traffic traffic_;
};

}  // namespace kirsch

#endif  // KIRSCH_FIDELITY_CACHE_SIMULATOR_H_
