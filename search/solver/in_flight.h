// SPDX-License-Identifier: Apache-2.0
// Lets the workers on one query see what the others are expanding, so that they spread over different parts
// of the search. They also learn here that the round is over. All results are shared through the memo
// instead.
#ifndef KIRSCH_SEARCH_SOLVER_IN_FLIGHT_H_
#define KIRSCH_SEARCH_SOLVER_IN_FLIGHT_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "memo/memo.h"
#include "memo/spec_hash.h"

namespace kirsch {

// Remembers the questions that are being expanded right now, by hash. It gives advice only. If two questions
// share a slot or a hash, a worker may defer one without need, or expand one that another worker is at.
// Neither changes the answer, so relaxed atomics are enough.
class InFlightTable {
 public:
  // A question is a spec and a number of lines. The key 0 stands for a free slot.
  static uint64_t QuestionKey(const Spec& spec, Lines available) {
    return HashOf(spec) ^ static_cast<uint64_t>(available) * 0x9e3779b97f4a7c15;
  }
  bool Has(uint64_t key) const { return SlotOf(key).load(std::memory_order_relaxed) == key; }

  // Holds the key in the table for as long as it lives. If another key has the slot, it does nothing.
  class Mark {
   public:
    Mark(InFlightTable& table, uint64_t key) : slot_(table.SlotOf(key)) {
      uint64_t free = 0;
      marked_ = slot_.compare_exchange_strong(free, key, std::memory_order_relaxed);
    }
    ~Mark() {
      if (marked_) slot_.store(0, std::memory_order_relaxed);
    }
    Mark(const Mark&) = delete;
    Mark& operator=(const Mark&) = delete;

   private:
    std::atomic<uint64_t>& slot_;
    bool marked_;
  };

 private:
  static constexpr size_t kSlots = 1 << 12;
  std::atomic<uint64_t>& SlotOf(uint64_t key) { return slots_[key % kSlots]; }
  const std::atomic<uint64_t>& SlotOf(uint64_t key) const { return slots_[key % kSlots]; }

  std::array<std::atomic<uint64_t>, kSlots> slots_ = {};
};

struct InFlight {
  InFlightTable busy;
  std::atomic<bool> round_over = false;
};

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_SOLVER_IN_FLIGHT_H_
