// SPDX-License-Identifier: Apache-2.0
// Plans for a range of sizes: few that serve all members of a family of graphs nearly as well as each one's
// own would.
#ifndef KIRSCH_SEARCH_FAMILIES_PLAN_REGIONS_H_
#define KIRSCH_SEARCH_FAMILIES_PLAN_REGIONS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "cost/cost_model.h"
#include "search/graph/plan_search.h"
#include "spec/graph/graph.h"
#include "spec/language/varying_size.h"
#include "spec/program/plan.h"

namespace kirsch {

// A member's plan as a rule for other sizes. Not thread-safe.
class PlanRule {
 public:
  PlanRule() = default;
  PlanRule(const PlanRule&) = delete;
  virtual ~PlanRule() = default;

  // What it is for.
  virtual int64_t least() const { return 1; }
  virtual int64_t most() const = 0;
  // What the plan takes for the size, predicted; infinity if it is not for it.
  virtual double CyclesFor(int64_t size) = 0;
  // The plan for any size in the range, but for its `graph`, and for its `size`, of which `planned` counts;
  // it has none, if it is for a single size. Nothing if there is no code for one of the programs.
  virtual std::optional<Plan> ApplyToRange(int64_t least, int64_t most) = 0;
};

// What plans are searched for: members that differ in one size. All that is pointed to outlives it.
struct PlanMembers {
  absl::Span<const Graph> graphs;
  const VaryingSize& size;                             // a value for each of them
  const std::function<Graph(int64_t size)>& graph_of;  // of any size in the range
  std::string_view source;
  const CostModel& model;
  const PlanOptions& options;

  int64_t SizeOf(size_t member) const { return size.values[member]; }
  int64_t LeastServed(size_t member) const { return size.LeastServed(member); }
  absl::StatusOr<OrNoPlan<PlanResult>> Search(size_t member, const PlanOptions& own) const {
    return SearchPlan(graphs[member], source, model, own);
  }
};

// Searches for rules.
class RuleFinder {
 public:
  using Rules = std::vector<std::shared_ptr<PlanRule>>;

  virtual ~RuleFinder() = default;

  // Those that the member's plans make which cost less than the cutoff; none if there is no such plan.
  virtual absl::StatusOr<Rules> Find(size_t member, double cutoff) = 0;
  // For a member that no rule serves: those that serve it, if there are any.
  virtual absl::StatusOr<Rules> FindOthers(size_t member) = 0;
  // The size of a member to search for, about this one: no larger, if there is none like that.
  virtual int64_t Representative(int64_t size) const { return size; }
};

// Members of an interval, of which other regions may have some.
struct PlanRegion {
  std::vector<size_t> members;  // ascending
  Plan plan;                    // for all of them: Plan::size
};

struct PlanFamily {
  std::vector<PlanRegion> regions;  // of all members, by their first one
  std::vector<double> cycles;       // that each member takes with its region's plan, predicted
};

// Of members whose operands have one placement, some are searched: the last, the one with a fourth of its
// size, and so on, and what RuleCosts::Refine asks for between two of these.
// Regions are then few: of those that one plan serves, at no more than kMostLoss above each member's
// cheapest, the most come first. `name`: of the size, in plans, made unlike any parameter's. Nothing: no
// rules serve some member.
absl::StatusOr<std::optional<PlanFamily>> FindPlanRegions(const PlanMembers& members, std::string_view name,
                                                          RuleFinder& finder);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_FAMILIES_PLAN_REGIONS_H_
