// SPDX-License-Identifier: Apache-2.0
#include "fidelity/cache_simulator.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <random>
#include <vector>

namespace kirsch {
namespace {

Target SmallTarget() {
  Target target;
  target.line_bytes = 64;
  const int64_t bytes[] = {0, 8 * 64, 32 * 64, 128 * 64};
  for (int level = 1; level <= 3; ++level) {
    target.memory[static_cast<size_t>(level)].bytes = bytes[level];
    target.memory[static_cast<size_t>(level)].ways = 2 << (level - 1);
  }
  return target;
}

// A cache as its definition has it: a list for each set, the line used last in front.
class SlowCache {
 public:
  SlowCache(int sets, size_t ways) : sets_(sets), ways_(ways) {}
  bool Use(uint64_t line) {
    std::deque<uint64_t>& set = lines_[line % static_cast<uint64_t>(sets_)];
    for (auto at = set.begin(); at != set.end(); ++at)
      if (*at == line) {
        set.erase(at);
        set.push_front(line);
        return true;
      }
    return false;
  }
  void Fill(uint64_t line) {
    std::deque<uint64_t>& set = lines_[line % static_cast<uint64_t>(sets_)];
    set.push_front(line);
    if (set.size() > ways_) set.pop_back();
  }

 private:
  const int sets_;
  const size_t ways_;
  std::map<uint64_t, std::deque<uint64_t>> lines_;
};

TEST(CacheSimulator, ReadsAreThoseOfListsOfLines) {
  CacheSimulator caches(SmallTarget());
  std::vector<SlowCache> slow = {SlowCache(4, 2), SlowCache(8, 4), SlowCache(16, 8)};
  double misses[3] = {};
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    const uint64_t line = random() % (1 << (3 + i % 8));
    caches.Access(line * 64 + random() % 61, 4, false);
    int level = 0;
    while (level < 3 && !slow[static_cast<size_t>(level)].Use(line)) ++level;
    while (level-- > 0) slow[static_cast<size_t>(level)].Fill(line), ++misses[level];
  }
  for (int level = 0; level < 3; ++level)
    EXPECT_EQ(caches.traffic().read[static_cast<size_t>(level + 2)], 64 * misses[level]);
  EXPECT_EQ(caches.traffic().written, Traffic().written);
}

TEST(CacheSimulator, AnAccessMayTouchTwoLines) {
  CacheSimulator caches(SmallTarget());
  caches.Access(60, 8, false);
  EXPECT_EQ(caches.traffic().read[static_cast<size_t>(Index(Level::kRam))], 128);
}

TEST(CacheSimulator, EachWrittenLineComesBackOnce) {
  CacheSimulator caches(SmallTarget());
  for (uint64_t address = 0; address < 1024 * 64; address += 4) caches.Access(address, 4, true);
  caches.WriteBack(Level::kRam);
  for (Level level : {Level::kL2, Level::kL3, Level::kRam}) {
    EXPECT_EQ(caches.traffic().read[static_cast<size_t>(Index(level))], 1024 * 64) << Name(level);
    EXPECT_EQ(caches.traffic().written[static_cast<size_t>(Index(level))], 1024 * 64) << Name(level);
  }
}

TEST(CacheSimulator, WhatIsPlacedIsThereAndNotCounted) {
  CacheSimulator caches(SmallTarget());
  caches.Place(0, 16 * 64, Level::kL2);
  EXPECT_EQ(caches.traffic(), Traffic());
  for (uint64_t line = 0; line < 16; ++line) caches.Access(line * 64, 4, false);
  EXPECT_EQ(caches.traffic().read[static_cast<size_t>(Index(Level::kL2))], 16 * 64);
  EXPECT_EQ(caches.traffic().read[static_cast<size_t>(Index(Level::kL3))], 0);
}

}  // namespace
}  // namespace kirsch
