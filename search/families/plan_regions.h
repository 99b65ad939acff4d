// SPDX-License-Identifier: Apache-2.0
// Plans for a range of sizes: few that serve all members of a family of graphs nearly as well as each one's
// own would.
#ifndef KIRSCH_SEARCH_FAMILIES_PLAN_REGIONS_H_
#define KIRSCH_SEARCH_FAMILIES_PLAN_REGIONS_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "cost/cost_model.h"
#include "search/families/symbolic_plan.h"
#include "search/graph/plan_search.h"
#include "spec/graph/graph.h"
#include "spec/language/varying_size.h"
#include "spec/program/plan.h"

namespace kirsch {

// One of the sizes in which members differ, and what it counts. Of keys: see DifferInKeys.
struct SharedSize {
  VaryingSize size;
  PlanSizeKind kind = PlanSizeKind::kRows;
};

// What plans are searched for: members that differ in a number of rows, of keys, or of both. All that is
// pointed to outlives it.
struct PlanMembers {
  absl::Span<const Graph> graphs;                   // of all choices of values; the last size varies fastest
  absl::Span<const SharedSize> sizes;               // one, or two of different kinds
  const std::function<Graph(PlanPoint)>& graph_of;  // of any sizes in the ranges
  std::string_view source;
  const CostModel& model;
  const PlanOptions& options;
};

// A box of members, of which other regions may have some.
struct PlanRegion {
  std::vector<size_t> members;  // ascending
  Plan plan;                    // for all of them: Plan::sizes
};

struct PlanFamily {
  std::vector<PlanRegion> regions;  // of all members, by their first one
  std::vector<double> cycles;       // that each member takes with its region's plan, predicted
};

// Some members are searched: of each size the last value, the one with a fourth of it, and so on, and what
// RuleCosts::Refine asks for between these. A plan serves members whose operands have the placement of its
// own. Regions are chosen one after the other: the plan that serves the most members without one, at no more
// than kMostLoss above each one's cheapest, comes first. Of one thread. Nothing: no rules serve some member.
absl::StatusOr<std::optional<PlanFamily>> FindPlanRegions(const PlanMembers& members);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_FAMILIES_PLAN_REGIONS_H_
