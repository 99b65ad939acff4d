// SPDX-License-Identifier: Apache-2.0
// Finds the cheapest plan of a graph: the fusion groups that its operations are parted into, their order, and
// how each is computed. See GRAPHS.md.
#ifndef KIRSCH_SEARCH_GRAPH_PLAN_SEARCH_H_
#define KIRSCH_SEARCH_GRAPH_PLAN_SEARCH_H_

#include <functional>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cost/cost_model.h"
#include "rewrites/graph/graph_rewrite.h"
#include "search/graph/plan_packing.h"
#include "search/solver/search.h"
#include "spec/graph/graph.h"
#include "spec/language/plan_schedule.h"
#include "spec/language/schedule.h"
#include "spec/program/plan.h"

namespace kirsch {

// The factor by which the bound of a group is raised at once. It is small, so that little is searched that
// the cheapest plan can do without.
inline constexpr double kBoundRaise = 1.04;

struct PlanKnowledge;
class StagePrices;

// A question about a graph: what its plan is for, what it may have, and who searches its stages.
struct PlanOptions {
  int threads = 1;
  Residency residency = Residency::kWarm;
  // The cache that holds all that the caller hands over and that is not in RAM. Nothing: what PlacementOf
  // says. A family has the plans of its members so, for sizes that are none of theirs.
  std::optional<Level> placement = {};
  bool fuse = true;             // false: a group for each operation
  bool allow_winograd = false;  // convolutions by Winograd's algorithm, which is less exact
  bool explain = false;         // find what would be second best, too
  // Not null: the number of keys is to be a symbol, and this is the same kernel with another number of
  // them. Whatever differs between the two graphs goes by keys, in the way that `keys` says. Must outlive the
  // search.
  const Graph* other_keys = nullptr;
  KeyUse keys = KeyUse::kBlocks;
  bool symbolic_rows = false;  // so is the number of rows to be (search/families/plan_growth.h)
  // Of constant parameters that it has, the copies that plans may make ahead; they make nothing else. (A
  // schedule decides itself.)
  PlanPacking packing = {};
  // The operations of the canonical graph that are constant-folded (search/graph/constant_folding.h).
  // Nothing: the search chooses.
  std::optional<std::vector<int>> folded = {};
  // Only a plan that costs less is looked for. If none does, the result has no nests, and its cycles are a
  // bound.
  double cutoff = std::numeric_limits<double>::infinity();
  // Not null: what earlier searches of the graph have learned, and this one adds to (known_groups.h). A
  // schedule is followed without it. Must outlive the search.
  PlanKnowledge* knowledge = nullptr;
  // Not null: the prices of stages that earlier searches for this target have worked out. Must outlive the
  // search.
  StagePrices* prices = nullptr;
  // The most sets of operations that are looked at. Of a graph with more, only those of the canonical order
  // are, and the result is not called optimal.
  size_t most_states = 1024;
  // Decides as far as it goes, and the rest is searched; null: all is searched. Must outlive the search.
  const PlanSchedule* schedule = nullptr;
  // Finds the program of a placed root, if there is one below the cutoff, as Answer and Search do. A search
  // that was stopped may return any program.
  std::function<absl::StatusOr<SearchResult>(const Spec& placed_root, Cost cutoff)> solve;
  // Finds the program of a schedule, as Replay does. Called only if there is a schedule.
  std::function<absl::StatusOr<SearchResult>(const Spec& placed_root, const Schedule& schedule,
                                             std::string_view source)>
      replay;
};

// Sets `solve` and `replay` so that stages are searched with this memo, and without a table. Searches have
// the time budget and the cancellation of `search`. `model` and `memo` must outlive the options.
void SearchStages(const CostModel& model, Memo& memo, PlanOptions* options, const SearchOptions& search = {});

// A plan and what is proven of it.
struct PlanResult {
  Plan plan;
  // kBudget: some search of a stage was stopped, or not all states were looked at. kPinned: by a schedule, at
  // least in part.
  StopReason stop = StopReason::kOptimal;
  bool from_table = false;  // recalled, not searched (plan_recall.h)
  SearchStats stats;        // of all stages
  size_t groups = 0;        // that were looked at
  double seconds = 0;
  double bound_cycles = 0;  // no plan costs less; the plan's own cycles when optimal
  // The cycles of a plan with a group for each operation. Nothing if some operation can't be a group, or if
  // nobody asked for an explanation.
  std::optional<double> unfused_cycles;
};

// The answer that the space has no plan for the graph, with what the options ask for. It is no error: a
// family goes on from there.
struct NoPlan {
  explicit NoPlan(absl::Status why) : why(std::move(why)) {}

  absl::Status why;  // InvalidArgument, one line with the place: what a caller says who needs a plan
};

template <typename T>
using OrNoPlan = std::variant<T, NoPlan>;

// For callers that need a plan: that there is none is an error.
template <typename T>
absl::StatusOr<T> Require(absl::StatusOr<OrNoPlan<T>> found) {
  if (!found.ok()) return found.status();
  if (const auto* none = std::get_if<NoPlan>(&*found)) return none->why;
  return std::get<T>(*std::move(found));
}

// Returns the cheapest plan of a graph. `source`: what errors call the text of the graph. An error is that of
// PlanOptions::solve, or InvalidArgument, one line with the place, if the schedule is not one of the graph's
// plans.
absl::StatusOr<OrNoPlan<PlanResult>> SearchPlan(const Graph& graph, std::string_view source,
                                                const CostModel& model, const PlanOptions& options);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_GRAPH_PLAN_SEARCH_H_
