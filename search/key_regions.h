// Plans for any number of keys: few that serve all members of a family of attentions nearly as well as each
// one's own would.
#ifndef KIRSCH_SEARCH_KEY_REGIONS_H_
#define KIRSCH_SEARCH_KEY_REGIONS_H_

#include <cstddef>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "cost/cost_model.h"
#include "search/plan_search.h"
#include "spec/graph/graph.h"
#include "spec/graph/plan.h"

namespace kirsch {

// Do the members differ in nothing but the number of keys, each having one more than the one before it: what
// is summed over by the matmul behind a softmax? And do what they read lie alike, from the first key on? So
// a plan for one may be for all. Three members at least.
bool DifferInKeys(absl::Span<const Graph> members);

// Members that are neighbours.
struct KeyRegion {
  size_t first = 0, last = 0;  // both included
  Plan plan;                   // for all of them: Plan::keys
};

struct KeyFamily {
  std::vector<KeyRegion> regions;  // ascending; of all members
  std::vector<double> cycles;      // that each member takes with its region's plan, predicted
  SearchStats stats;
};

// `members` differ in keys, of which the first has `least`. Some are searched for plans for any number of
// keys: of those whose operands wait in one place, the last, the one with a fourth of its keys, and so on.
// Regions are as few intervals as there may be in which one of these plans costs no more than kMostLoss above
// each member's cheapest. Of one thread. InvalidArgument: there is no such plan.
absl::StatusOr<KeyFamily> FindKeyRegions(absl::Span<const Graph> members, uint32_t least,
                                         std::string_view source, const CostModel& model,
                                         const PlanOptions& options);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_KEY_REGIONS_H_
