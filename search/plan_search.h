// The cheapest plan of a graph: dynamic programming over the groups that its operations, in their order, can
// be parted into; each group with the cheapest of its tiles, each stage with the program that the search
// finds for it.
#ifndef KIRSCH_SEARCH_PLAN_SEARCH_H_
#define KIRSCH_SEARCH_PLAN_SEARCH_H_

#include <functional>
#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "cost/cost_model.h"
#include "search/search.h"
#include "spec/graph.h"
#include "spec/plan.h"

namespace kirsch {

// More operations are refused.
inline constexpr size_t kMaxOperations = 16;

struct PlanOptions {
  int threads = 1;
  Residency residency = Residency::kWarm;
  bool fuse = true;             // false: a group for each operation
  bool allow_winograd = false;  // convolutions by Winograd's algorithm, which is less exact
  // Finds the program of a placed root, as Answer or Search do; one that was stopped may return any program.
  std::function<absl::StatusOr<SearchResult>(const Spec& placed_root)> solve;
};

struct PlanResult {
  Plan plan;
  bool optimal = true;  // false: some search of a stage was stopped
  SearchStats stats;    // of all stages
  double seconds = 0;
  // Of a plan with a group for each operation; nothing if some operation can't be one.
  std::optional<double> unfused_cycles;
};

// InvalidArgument, one line with the place, if no plan is known for the graph.
absl::StatusOr<PlanResult> SearchPlan(const Graph& graph, std::string_view source, const CostModel& model,
                                      const PlanOptions& options);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_PLAN_SEARCH_H_
