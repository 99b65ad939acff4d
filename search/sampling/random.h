// SPDX-License-Identifier: Apache-2.0
// Draws numbers by chance. They are the same for a seed on every machine and with every standard library, so
// that drawn programs can be drawn again.
#ifndef KIRSCH_SEARCH_SAMPLING_RANDOM_H_
#define KIRSCH_SEARCH_SAMPLING_RANDOM_H_

#include <cstddef>
#include <cstdint>
#include <utility>

namespace kirsch {

// SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014). Not thread-safe.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  // The next number: all 64 bits by chance.
  uint64_t Next() {
    uint64_t bits = state_ += 0x9e3779b97f4a7c15;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
    return bits ^ (bits >> 31);
  }

  // A number from 0 up to below `count`, which must be at least 1. All are equally likely, but for one part
  // in 2^64 / count.
  size_t Below(size_t count) { return static_cast<size_t>(Next() % count); }

 private:
  uint64_t state_;
};

// Removes one of the elements by chance from `items`, which must not be empty, and returns it. The order of
// the others changes: the last one fills the gap.
template <typename Items>
auto TakeOne(Items* items, Random* random) {
  const size_t place = random->Below(items->size());
  auto taken = (*items)[place];
  (*items)[place] = items->back();
  items->pop_back();
  return taken;
}

// Adds what `draw` finds, and `is_new` says is new, until there are `count`; or until so many `tries` in a
// row added nothing.
template <typename Draw, typename IsNew, typename Items>
void DrawUntil(size_t count, int tries, const Draw& draw, const IsNew& is_new, Items* items) {
  for (int left = tries; items->size() < count && left > 0; --left) {
    auto drawn = draw();
    if (!drawn || !is_new(*drawn)) continue;
    items->push_back(*std::move(drawn));
    left = tries + 1;
  }
}

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_SAMPLING_RANDOM_H_
