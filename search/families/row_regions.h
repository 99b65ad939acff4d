// SPDX-License-Identifier: Apache-2.0
// Families of graphs that differ in their number of rows: of tokens, say.
#ifndef KIRSCH_SEARCH_FAMILIES_ROW_REGIONS_H_
#define KIRSCH_SEARCH_FAMILIES_ROW_REGIONS_H_

#include <optional>

#include "absl/status/statusor.h"
#include "search/families/plan_regions.h"

namespace kirsch {

// The size is how many rows there are, or a part of that; members that are searched are searched for their
// own plans, of which RowCountSchedule makes rules, where it can. Of one thread. Nothing: of none's it can.
absl::StatusOr<std::optional<PlanFamily>> FindRowRegions(const PlanMembers& members);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_FAMILIES_ROW_REGIONS_H_
