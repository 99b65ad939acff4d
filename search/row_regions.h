// Families of graphs that differ in their number of rows: of tokens, say.
#ifndef KIRSCH_SEARCH_ROW_REGIONS_H_
#define KIRSCH_SEARCH_ROW_REGIONS_H_

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "cost/cost_model.h"
#include "search/plan_regions.h"
#include "search/plan_search.h"
#include "spec/graph/graph.h"

namespace kirsch {

// The first of `members` has `least` rows, or some multiple, as the others have; those that are searched are
// searched for their own plans, of which RowTemplate makes rules, where it can. Of one thread.
// InvalidArgument: of none's it can.
absl::StatusOr<PlanFamily> FindRowRegions(absl::Span<const Graph> members, uint32_t least,
                                          std::string_view source, const CostModel& model,
                                          const PlanOptions& options);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_ROW_REGIONS_H_
