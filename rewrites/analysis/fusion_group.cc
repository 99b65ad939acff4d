// SPDX-License-Identifier: Apache-2.0
#include "rewrites/analysis/fusion_group.h"

#include <algorithm>

namespace kirsch {

FusionGroup::FusionGroup(const GraphUses& uses, const OperationSet& set) : uses_(uses), set_(set) {
  set.ForEach([&](size_t place) { operations_.push_back(uses.operations()[place]); });
}

bool FusionGroup::MakesBefore(size_t place, int node) const {
  const auto end = operations_.begin() + static_cast<std::ptrdiff_t>(place);
  return std::find(operations_.begin(), end, node) != end;
}

size_t FusionGroup::LastUse(int node) const {
  // Only `uses_` knows who reads the memory of a node; a reader outside of the set ends the search at once.
  // The kernel's result has one more use, behind all operations, which is never in the set.
  size_t last = 0;
  for (const size_t place : uses_.UsesOf(node)) {
    if (place >= kMaxOperations || !set_.Contains(place)) return size();
    last = std::max(last, place);
  }
  // The last reader's place in the graph becomes one in the group: that many of the group's operations come
  // before it.
  return (set_ & OperationSet::First(last)).size();
}

}  // namespace kirsch
