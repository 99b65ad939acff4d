#include "memo/hash_memo.h"

#include <algorithm>

namespace kirsch {

// Multiply and fold, a word at a time. For a table in memory only: not a hash to store.
size_t HashMemo::SpecHash::operator()(const Spec& spec) const {
  uint64_t hash = 0x9e3779b97f4a7c15;
  for (const uint64_t word : spec.words()) {
    const __uint128_t product = static_cast<__uint128_t>(hash ^ word) * 0xda942042e4dd58b5;
    hash = static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  }
  return hash;
}

Known HashMemo::Find(const Spec& spec, Lines available) const {
  Known known;
  const auto found = table_.find(spec);
  if (found == table_.end()) return known;
  for (const Solution& solution : found->second.solutions) {
    if (solution.available < available) continue;
    if (solution.peak <= available) return {&solution, solution.cost};
    known.bound = std::max(known.bound, solution.cost);  // fewer lines cannot be cheaper
  }
  for (const Bound& bound : found->second.bounds)
    if (bound.available >= available) known.bound = std::max(known.bound, bound.cost);
  return known;
}

void HashMemo::AddSolution(const Spec& spec, const Solution& solution) {
  auto& solutions = table_[spec].solutions;
  for (Solution& known : solutions)
    if (known.decision == solution.decision && known.cost == solution.cost && known.peak == solution.peak) {
      known.available = std::max(known.available, solution.available);
      return;
    }
  solutions.push_back(solution);
}

void HashMemo::AddBound(const Spec& spec, Lines available, Cost bound) {
  auto& bounds = table_[spec].bounds;
  for (const Bound& known : bounds)
    if (known.available >= available && known.cost >= bound) return;
  const auto implied = [&](const Bound& known) {
    return known.available <= available && known.cost <= bound;
  };
  bounds.erase(std::remove_if(bounds.begin(), bounds.end(), implied), bounds.end());
  bounds.push_back({available, bound});
}

Memo::Counts HashMemo::counts() const {
  Counts counts;
  counts.specs = static_cast<int64_t>(table_.size());
  for (const auto& [spec, entry] : table_) counts.solutions += static_cast<int64_t>(entry.solutions.size());
  counts.bytes = static_cast<int64_t>(table_.capacity() * (sizeof(Spec) + sizeof(Entry) + 1));
  return counts;
}

}  // namespace kirsch
