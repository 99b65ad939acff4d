// SPDX-License-Identifier: Apache-2.0
#include "memo/hash_memo.h"

#include <algorithm>
#include <mutex>

namespace kirsch {

// Looks for an interval that holds `available`; on the way it collects the bounds that other facts imply.
Known HashMemo::Find(const Spec& spec, Lines available) const {
  Known known;
  const uint64_t hash = HashOf(spec);
  const Shard& shard = ShardOf(hash);
  const std::lock_guard lock(shard.lock);
  const auto found = shard.table.find(spec, hash);
  if (found == shard.table.end()) return known;
  for (const Solution& solution : found->second.solutions) {
    // A solution for fewer lines says nothing about more.
    if (solution.available < available) continue;
    if (solution.peak <= available) return {solution, solution.cost};
    known.bound = std::max(known.bound, solution.cost);  // fewer lines cannot be cheaper
  }
  for (const Bound& bound : found->second.bounds)
    if (bound.available >= available) known.bound = std::max(known.bound, bound.cost);
  return known;
}

// Looks the spec up with the hash that the caller has; only a new spec is hashed again.
HashMemo::Entry& HashMemo::Shard::EntryOf(const Spec& spec, uint64_t hash) {
  const auto found = table.find(spec, hash);
  return found != table.end() ? found->second : table[spec];
}

// The same solution may be found for another number of lines: the interval grows.
void HashMemo::AddSolution(const Spec& spec, const Solution& solution) {
  const uint64_t hash = HashOf(spec);
  Shard& shard = ShardOf(hash);
  const std::lock_guard lock(shard.lock);
  auto& solutions = shard.EntryOf(spec, hash).solutions;
  for (Solution& known : solutions)
    if (known.decision == solution.decision && known.cost == solution.cost && known.peak == solution.peak) {
      known.available = std::max(known.available, solution.available);
      return;
    }
  solutions.push_back(solution);
}

// Drops the new bound if a known one implies it, and else all known ones that it implies.
void HashMemo::AddBound(const Spec& spec, Lines available, Cost bound) {
  const uint64_t hash = HashOf(spec);
  Shard& shard = ShardOf(hash);
  const std::lock_guard lock(shard.lock);
  auto& bounds = shard.EntryOf(spec, hash).bounds;
  for (const Bound& known : bounds)
    if (known.available >= available && known.cost >= bound) return;
  const auto implied = [&](const Bound& known) {
    return known.available <= available && known.cost <= bound;
  };
  bounds.erase(std::remove_if(bounds.begin(), bounds.end(), implied), bounds.end());
  bounds.push_back({available, bound});
}

// Counts shard by shard, so the numbers of a running search are from slightly different times.
Memo::Counts HashMemo::counts() const {
  Counts counts;
  for (const Shard& shard : shards_) {
    const std::lock_guard lock(shard.lock);
    counts.specs += static_cast<int64_t>(shard.table.size());
    for (const auto& [spec, entry] : shard.table)
      counts.solutions += static_cast<int64_t>(entry.solutions.size());
    // A slot of the hash table holds a spec, an entry, and a control byte.
    counts.bytes += static_cast<int64_t>(shard.table.capacity() * (sizeof(Spec) + sizeof(Entry) + 1));
  }
  return counts;
}

void HashMemo::Clear() {
  for (Shard& shard : shards_) {
    const std::lock_guard lock(shard.lock);
    shard.table = {};
  }
}

}  // namespace kirsch
