// SPDX-License-Identifier: Apache-2.0
#include "search/graph/fusion_graph.h"

#include <algorithm>
#include <set>

#include "rewrites/graph/copy_loops.h"

namespace kirsch {

FusionGraph::FusionGraph(const GraphUses& uses, size_t most)
    : reads_(uses.operations().size()), users_(reads_.size()), neighbours_(reads_.size()) {
  const Graph& graph = uses.graph();
  const size_t operations = reads_.size();
  // For each value, link the operation that makes it with those that read it. All of them are neighbours of
  // one another.
  for (size_t node = 0; node < graph.nodes.size(); ++node) {
    const std::vector<size_t>& readers = uses.UsesOf(static_cast<int>(node));
    OperationSet all;
    for (size_t reader : readers)
      if (reader != operations) all |= OperationSet::Of(reader);
    const auto made = std::find(uses.operations().begin(), uses.operations().end(), static_cast<int>(node));
    if (made != uses.operations().end()) {
      const auto place = static_cast<size_t>(made - uses.operations().begin());
      users_[place] = all;
      if (!readers.empty() && readers.back() == operations) returned_ |= OperationSet::Of(place);
      for (size_t reader : readers)
        if (reader != operations) reads_[reader] |= OperationSet::Of(place);
      all |= OperationSet::Of(place);
    }
    all.ForEach([&](size_t place) { neighbours_[place] |= all; });
  }
  Enumerate(uses, most);
  std::vector<size_t> sizes;
  for (const OperationSet& set : done_) sizes.push_back(set.size());
  for (size_t end = 0; end < done_.size(); ++end) {
    before_.push_back(FindBefore(end, sizes));
    for (size_t place = 0; place < before_[end].size(); ++place)
      edges_[done_[end] - done_[before_[end][place]]].push_back({end, place});
  }
}

// A copy that nobody reads is a result. As it is a group of its own, it makes no difference when it is made:
// such copies come last, one after the other. Otherwise there would be many times as many sets.
std::vector<size_t> FusionGraph::OrderOf(const GraphUses& uses, std::vector<OperationSet>* needs) const {
  std::vector<size_t> order, last;
  for (size_t place = 0; place < reads_.size(); ++place) {
    const bool is_last = users_[place].empty() && IsStridedCopy(uses.graph(), uses.operations()[place]);
    (is_last ? last : order).push_back(place);
  }
  *needs = reads_;
  for (const size_t place : last) {
    for (const size_t before : order) (*needs)[place] |= OperationSet::Of(before);
    order.push_back(place);
  }
  return order;
}

void FusionGraph::Enumerate(const GraphUses& uses, size_t most) {
  std::vector<OperationSet> needs;
  const std::vector<size_t> order = OrderOf(uses, &needs);
  // Each set leads to those with one operation more that finds all it needs. Such a set is a larger number,
  // so the loop over the growing set meets it later on.
  std::set<OperationSet> known = {OperationSet()};
  for (auto set = known.begin(); set != known.end() && known.size() <= most; ++set)
    for (size_t place = 0; place < reads_.size(); ++place)
      if (!set->Contains(place) && set->Contains(needs[place])) known.insert(*set | OperationSet::Of(place));
  all_ = known.size() <= most;
  if (all_) {
    done_.assign(known.begin(), known.end());
    return;
  }
  // Too many: the prefixes of one order are enough for a plan, though maybe not for the best.
  done_ = {OperationSet()};
  for (const size_t place : order) done_.push_back(done_.back() | OperationSet::Of(place));
}

std::optional<size_t> FusionGraph::Find(const OperationSet& set) const {
  const auto found = std::lower_bound(done_.begin(), done_.end(), set);
  if (found == done_.end() || *found != set) return std::nullopt;
  return static_cast<size_t>(found - done_.begin());
}

std::vector<size_t> FusionGraph::FindBefore(size_t end, const std::vector<size_t>& sizes) const {
  std::vector<size_t> before;
  for (size_t i = end; i-- > 0;)
    if (sizes[i] + kMaxGroupOperations >= sizes[end] && done_[end].Contains(done_[i]) &&
        IsConnected(done_[end] - done_[i]))
      before.push_back(i);
  std::stable_sort(before.begin(), before.end(), [&](size_t a, size_t b) { return sizes[a] > sizes[b]; });
  return before;
}

OperationSet FusionGraph::Union(const std::vector<OperationSet>& of, const OperationSet& group) {
  OperationSet all;
  group.ForEach([&](size_t place) { all |= of[place]; });
  return all;
}

bool FusionGraph::IsConnected(const OperationSet& group) const {
  // Start with one operation, and add neighbours within the group until there are no more.
  OperationSet reached = OperationSet::Of(group.first()), before;
  while (reached != before) {
    before = reached;
    reached |= Union(neighbours_, reached) & group;
  }
  return reached == group;
}

}  // namespace kirsch
