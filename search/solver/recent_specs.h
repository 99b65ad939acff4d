// SPDX-License-Identifier: Apache-2.0
// Keeps values that are worked out from a spec, of the specs that were met last. Internal to search/.
#ifndef KIRSCH_SEARCH_SOLVER_RECENT_SPECS_H_
#define KIRSCH_SEARCH_SOLVER_RECENT_SPECS_H_

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "memo/spec_hash.h"
#include "spec/spec.h"

namespace kirsch {

// A hash table without chains: a spec replaces the one that has its slot. It starts small, as most searches
// are, and grows up to a number of slots that caches can hold. Not thread-safe.
template <typename Value>
class RecentSpecs {
 public:
  // `most_slots`: a power of two.
  explicit RecentSpecs(size_t most_slots) : most_slots_(most_slots) {}

  // Returns the value of a spec that is kept; null if it is not. The pointer is valid until the next Keep.
  Value* Find(const Spec& spec) {
    if (slots_.empty()) return nullptr;
    Slot& slot = slots_[PlaceOf(spec)];
    return slot.spec == spec ? &slot.value : nullptr;
  }

  // Returns the slot of a spec that is not kept, and keeps it from now on. The value is the one of another
  // spec: its memory may serve again.
  Value& Keep(const Spec& spec) {
    if (replaced_++ >= slots_.size() / 2 && slots_.size() < most_slots_) Grow();
    Slot& slot = slots_[PlaceOf(spec)];
    slot.spec = spec;
    return slot.value;
  }

 private:
  static constexpr size_t kFirstSlots = 64;
  struct Slot {
    Spec spec;  // of no size at first, as no spec that is asked about
    Value value;
  };

  size_t PlaceOf(const Spec& spec) const { return HashOf(spec) & (slots_.size() - 1); }

  void Grow() {
    std::vector<Slot> old = std::exchange(
        slots_, std::vector<Slot>(std::min(slots_.empty() ? kFirstSlots : 4 * slots_.size(), most_slots_)));
    for (Slot& slot : old)
      if (!(slot.spec == Spec())) slots_[PlaceOf(slot.spec)] = std::move(slot);
    replaced_ = 0;
  }

  const size_t most_slots_;
  std::vector<Slot> slots_;
  size_t replaced_ = 0;  // since the table grew
};

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_SOLVER_RECENT_SPECS_H_
