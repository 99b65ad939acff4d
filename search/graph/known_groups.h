// SPDX-License-Identifier: Apache-2.0
// Keeps what searches for plans of one graph have learned of its fusion groups. Searches that pack the
// graph's constants in different ways share it: most groups read none of the constants whose packing differs.
#ifndef KIRSCH_SEARCH_GRAPH_KNOWN_GROUPS_H_
#define KIRSCH_SEARCH_GRAPH_KNOWN_GROUPS_H_

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/container/node_hash_map.h"
#include "absl/status/statusor.h"
#include "rewrites/analysis/graph_uses.h"
#include "search/graph/fusion_graph.h"
#include "search/graph/group_pricer.h"
#include "search/graph/plan_packing.h"
#include "search/graph/plan_paths.h"
#include "spec/text/status_macros.h"

namespace kirsch {

struct KnownGroup {
  std::optional<PricedGroup> group;  // nothing: only the bound is known
  double closed = 0;                 // the closed form of its cycles
  double bound = 0;                  // cycles; of a priced group, its own
};

// What is known of the groups of a graph, some operations of which are folded. Not thread-safe.
class KnownGroups {
 public:
  // The constants that a group reads and whose packing is decided, each with its copies as a number;
  // ascending.
  using Packing = absl::InlinedVector<int, 8>;

  // Returns a number for the copies of a constant: another one for each choice of copies.
  int NumberOf(const PlanPacking::value_type& decided) {
    return numbers_.try_emplace(decided, static_cast<int>(numbers_.size())).first->second;
  }

  // Returns what is known of a group if the constants that it reads are packed so; it stays where it is. At
  // first that is a closed form: the one with fewer constants decided, which bounds what more of them allow;
  // else `bound()`, whose error is returned. (Prices are no such bounds: where a copy is free to choose, not
  // all copies are tried.)
  template <typename Bound>
  absl::StatusOr<KnownGroup*> Find(const GroupQuestion& group, const Packing& packing, const Bound& bound) {
    std::map<Packing, KnownGroup>& by_packing = known_[group];
    if (const auto known = by_packing.find(packing); known != by_packing.end()) return &known->second;
    std::optional<double> least;
    for (const auto& [decided, known] : by_packing)
      if (std::includes(packing.begin(), packing.end(), decided.begin(), decided.end()))
        least = std::max(least.value_or(0), known.closed);
    if (!least) {
      KIRSCH_ASSIGN_OR_RETURN(const double closed, bound());
      least = closed;
    }
    return &(by_packing[packing] = {std::nullopt, *least, *least});
  }

  // Returns the sets of operations that the groups lead to. The first search makes them, for all with its
  // PlanOptions::most_states.
  const FusionGraph& FusionGraphOf(const GraphUses& uses, size_t most_states) {
    if (!fusion_graph_) fusion_graph_.emplace(uses, most_states);
    return *fusion_graph_;
  }

  // Forgets all prices, as after a search that was stopped: its groups may be any.
  void Clear() { known_.clear(); }

 private:
  std::optional<FusionGraph> fusion_graph_;
  absl::node_hash_map<GroupQuestion, std::map<Packing, KnownGroup>> known_;
  std::map<PlanPacking::value_type, int> numbers_;
};

// What searches of one graph have learned that differ in PlanOptions::packing, `folded` and `cutoff` only:
// for each choice of folded operations.
struct PlanKnowledge {
  std::map<std::vector<int>, KnownGroups> of_choice;
};

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_GRAPH_KNOWN_GROUPS_H_
