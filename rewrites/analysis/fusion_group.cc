// SPDX-License-Identifier: Apache-2.0
#include "rewrites/analysis/fusion_group.h"

#include <algorithm>
#include <bit>

namespace kirsch {

FusionGroup::FusionGroup(const GraphUses& uses, OperationSet set) : uses_(uses), set_(set) {
  for (size_t place = 0; place < uses.operations().size(); ++place)
    if ((set >> place & 1) != 0) operations_.push_back(uses.operations()[place]);
}

bool FusionGroup::MakesBefore(size_t place, int node) const {
  const auto end = operations_.begin() + static_cast<std::ptrdiff_t>(place);
  return std::find(operations_.begin(), end, node) != end;
}

size_t FusionGroup::LastUse(int node) const {
  // Only `uses_` knows who reads the memory of a node; a reader outside of the set ends the search at once.
  // The kernel's result has one more use, behind all operations, which is never in the set.
  OperationSet users = 0;
  for (size_t place : uses_.UsesOf(node)) {
    if (place >= kMaxOperations || (set_ >> place & 1) == 0) return size();
    users |= OperationSet{1} << place;
  }
  // The last reader's bit in the graph becomes a place in the group: that many of the group's operations come
  // before it.
  const OperationSet before_last = std::bit_floor(users) - 1;
  return static_cast<size_t>(std::popcount(set_ & before_last));
}

}  // namespace kirsch
