// SPDX-License-Identifier: Apache-2.0
// Keeps the memo of one search in memory: a hash table from specs to what is known of them. It is in shards,
// each locked by itself, so that several workers seldom wait for each other.
#ifndef KIRSCH_MEMO_HASH_MEMO_H_
#define KIRSCH_MEMO_HASH_MEMO_H_

#include <array>
#include <atomic>
#include <functional>
#include <thread>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "memo/huge_page_allocator.h"
#include "memo/memo.h"
#include "memo/spec_hash.h"

namespace kirsch {

// A lock for critical sections of a few dozen instructions. It is Lockable (for std::lock_guard). It gives
// the core away while it waits, since the owner may have lost its own.
class SpinLock {
 public:
  void lock() {
    while (taken_.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
  }
  void unlock() { taken_.clear(std::memory_order_release); }

 private:
  std::atomic_flag taken_;
};

// Answers are copies, so nothing refers to a shard once its lock is released.
class HashMemo : public Memo {
 public:
  Known Find(const Spec& spec, Lines available) const override;
  void AddSolution(const Spec& spec, const Solution& solution) override;
  void AddBound(const Spec& spec, Lines available, Cost bound) override;
  Counts counts() const override;
  void Clear() override;

 private:
  // No program within `available` lines costs less than `cost`.
  struct Bound {
    Lines available;
    Cost cost;
  };
  struct Entry {
    absl::InlinedVector<Solution, 1> solutions;  // disjoint boxes
    absl::InlinedVector<Bound, 1> bounds;        // fewer lines, higher bound
  };
  // The top kShardBits of a spec's hash choose its shard.
  struct alignas(64) Shard {  // a cache line or more each: neighbours are locked by different threads
    Entry& EntryOf(const Spec& spec, uint64_t hash);  // made if there is none

    mutable SpinLock lock;
    absl::flat_hash_map<Spec, Entry, SpecHash, std::equal_to<>,
                        HugePageAllocator<std::pair<const Spec, Entry>>>
        table;
  };
  static constexpr int kShardBits = 4;
  Shard& ShardOf(uint64_t hash) { return shards_[hash >> (64 - kShardBits)]; }
  const Shard& ShardOf(uint64_t hash) const { return shards_[hash >> (64 - kShardBits)]; }

  std::array<Shard, 1 << kShardBits> shards_;
};

}  // namespace kirsch

#endif  // KIRSCH_MEMO_HASH_MEMO_H_
