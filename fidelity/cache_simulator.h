// SPDX-License-Identifier: Apache-2.0
// Simulates caches line by line, and counts the bytes that cross from level to level when a program reads and
// writes.
//
// It is the oracle for the traffic that the model predicts from footprints. It shares nothing with the cost
// model.
#ifndef KIRSCH_FIDELITY_CACHE_SIMULATOR_H_
#define KIRSCH_FIDELITY_CACHE_SIMULATOR_H_

#include <array>
#include <cstdint>
#include <vector>

#include "spec/level.h"
#include "spec/target.h"
#include "spec/traffic.h"

namespace kirsch {

// One set-associative cache that replaces the line used longest ago. A line is named by its number: its
// address over line_bytes.
class SimulatedCache {
 public:
  // As many sets as the bytes are enough for, one at least. Sets need not be a power of two.
  SimulatedCache(int64_t bytes, int ways, int line_bytes);

  // The line that made room: `any` if there was one, `dirty` if it had been written since it was brought in.
  struct Evicted {
    uint64_t line = 0;
    bool any = false, dirty = false;
  };

  // Returns whether the line is here. If so, it becomes the one used last, and it becomes dirty if `write`.
  bool Use(uint64_t line, bool write);
  // Brings in a line that is not here, in place of the one of its set that was used longest ago.
  Evicted Fill(uint64_t line, bool dirty);
  // Makes all lines clean. Returns those that were dirty.
  std::vector<uint64_t> CleanAll();

 private:
  struct Way {
    uint64_t line = 0;
    int64_t used = 0;  // when; 0: holds nothing
    bool dirty = false;
  };
  // The first of the `ways_` neighbours in `lines_` that may hold the line.
  Way* Set(uint64_t line);

  const uint64_t sets_;
  const int ways_;
  std::vector<Way> lines_;
  int64_t now_ = 0;
};

// Simulates the caches of a target, L1 to L3, in front of RAM. There are no prefetchers.
//
// A level that has not got a line gets it from the next one, which keeps it, too. A line that was written is
// given back to the next level when it makes room for another. A cache need not have all lines of the closer
// ones. An example, where L1 has one way, and lines 0 and 8 share a set of it:
//
//   write line 0    L2 -> L1    read[L2] += 64, and read[L3], read[RAM]; dirty in L1 only
//   read line 8     L2 -> L1    read[L2] += 64, and read[L3], read[RAM]
//                   L1 -> L2    written[L2] += 64: line 0 makes room, and is dirty in L2
//   WriteBack(L3)   L2 -> L3    written[L3] += 64
class CacheSimulator {
 public:
  explicit CacheSimulator(const Target& target);

  // Reads or writes `bytes` at an address, which may lie in several lines.
  void Access(uint64_t address, int bytes, bool write);

  // Puts the lines of these bytes into `level` and all slower caches, without counting anything. They must
  // not be in a faster cache yet.
  void Place(uint64_t address, int64_t bytes, Level level);

  // Gives back what was written, from all levels closer than `level`. The part of a result that is still in
  // these caches counts as written only then.
  void WriteBack(Level level);

  // Bytes that have crossed so far: `read` from a level to the next closer one, `written` the other way.
  const Traffic& traffic() const { return traffic_; }

 private:
  static constexpr int kCaches = 3;

  // `cache` counts from L1, which is 0; kCaches stands for RAM.
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
