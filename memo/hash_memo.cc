#include "memo/hash_memo.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "absl/hash/hash.h"

namespace kirsch {

// Seeded per process: fine for a table in memory, never to be stored.
size_t HashMemo::SpecHash::operator()(const Spec& spec) const {
  return absl::HashOf(std::string_view(reinterpret_cast<const char*>(&spec), sizeof(Spec)));
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
  const auto implied = [&](const Bound& known) { return known.available <= available && known.cost <= bound; };
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
