// SPDX-License-Identifier: Apache-2.0
// Finds plans for a range of sizes: a few that serve all members of a family of graphs, each nearly as well
// as the member's own plan would.
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

// A number that differs between members, and what it counts. It is one of their sizes, or a sum of them, as
// keys are where a query sees those before it, too. DifferInKeys says what numbers of keys are.
struct PlanNumber {
  SizeSymbol symbol = SizeSymbol::kRows;
  SizeSum sum;
};

// The members that plans are searched for. They differ in a number of rows, of keys, of rows and keys, or of
// rows and columns. All that this refers to must outlive it.
struct PlanMembers {
  absl::Span<const Graph> graphs;        // of all choices of values; the last size varies fastest
  absl::Span<const VaryingSize> sizes;   // one, or two
  absl::Span<const PlanNumber> numbers;  // one, or two of different kinds; each size is part of some
  // The graph of any numbers, also of such as no member has; nothing if there is none.
  const std::function<std::optional<Graph>(SymbolValues)>& graph_of;
  std::string_view source;
  const CostModel& model;
  const PlanOptions& options;
  // True once there is no time left: members that some rule serves are not searched for then. Null: there is.
  std::function<bool()> stopped = {};

  // The number of a symbol; null: there is none.
  const PlanNumber* number(SizeSymbol symbol) const;
  // The numbers for these values of the sizes.
  SymbolValues PointOf(absl::Span<const uint32_t> values) const;
};

// A group of members with one plan. They are in a box of sizes; other regions may have some of its members.
struct PlanRegion {
  std::vector<size_t> members;  // ascending
  Plan plan;                    // for all of them: Plan::symbols
};

// The result: each member is in exactly one region.
struct PlanFamily {
  std::vector<PlanRegion> regions;  // of all members, by their first one
  std::vector<double> cycles;       // that each member takes with its region's plan, predicted
};

// Searches for plans of some members: for each size the last value of each placement, the one with a fourth
// of it, and so on, and the others that RegionFinder asks for. A plan serves only members
// whose operands have the same placement. Regions are chosen one after the other. Each time the plan comes
// first that serves the most members without one, at no more than kMostLoss above each member's cheapest.
// Returns nothing if no rule serves some member, or if no rule serves several of several members. Runs on one
// thread.
absl::StatusOr<std::optional<PlanFamily>> FindPlanRegions(const PlanMembers& members);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_FAMILIES_PLAN_REGIONS_H_
