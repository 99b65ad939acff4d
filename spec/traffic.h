// SPDX-License-Identifier: Apache-2.0
// Counts the bytes that a program brings in from each memory level, and back.
#ifndef KIRSCH_SPEC_TRAFFIC_H_
#define KIRSCH_SPEC_TRAFFIC_H_

#include <algorithm>
#include <array>

#include "spec/level.h"

namespace kirsch {

// Bytes by level: those that cross from it to the next faster level, and those that cross back. A line from
// RAM to the core crosses three times, as in L1's misses, L2's and L3's. L1 has none: its loads and stores
// are instructions.
struct Traffic {
  std::array<double, kNumLevels> read = {}, written = {};

  // Adds bytes that cross all levels from `to` to `from`. `from` is the slower end, whichever way they go.
  void Add(Level from, Level to, double bytes_read, double bytes_written) {
    for (int level = std::max(Index(to), Index(Level::kL1)) + 1; level <= Index(from); ++level) {
      read[static_cast<size_t>(level)] += bytes_read;
      written[static_cast<size_t>(level)] += bytes_written;
    }
  }
  void Add(const Traffic& other, double times = 1) {
    for (size_t level = 0; level < read.size(); ++level) {
      read[level] += times * other.read[level];
      written[level] += times * other.written[level];
    }
  }
  double at(Level level) const {
    return read[static_cast<size_t>(level)] + written[static_cast<size_t>(level)];
  }

  friend bool operator==(const Traffic&, const Traffic&) = default;
};

}  // namespace kirsch

#endif  // KIRSCH_SPEC_TRAFFIC_H_
