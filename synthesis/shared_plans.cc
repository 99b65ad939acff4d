// SPDX-License-Identifier: Apache-2.0
#include "synthesis/shared_plans.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "rewrites/graph/canonical_graph.h"
#include "search/families/differ_in_keys.h"
#include "search/families/plan_regions.h"
#include "synthesis/graph_kernel.h"

namespace kirsch {
namespace {

// With so few values of a size, each gets a kernel of its own: sharing would save little.
constexpr size_t kFewMembers = 8;

std::vector<Graph> GraphsOf(const KernelRequest& request, const std::vector<int64_t>& members) {
  std::vector<Graph> graphs;
  for (int64_t member : members) graphs.push_back(request.family.graphs()->member(member));
  return graphs;
}

// Members that differ in the shared sizes only, with the plans for their ranges. A family has such a box for
// each combination of its other sizes.
struct PlanBox {
  std::vector<int64_t> members;
  PlanFamily family;
};

bool AreMany(const VaryingSize& size) { return size.values.size() > kFewMembers; }

// True if the size counts keys of an attention, for whatever values of the other sizes.
bool AreKeys(const KernelRequest& request, const std::vector<VaryingSize>& sizes, size_t size) {
  const std::vector<std::vector<int64_t>> lines = BoxesAlong(sizes, {size});
  return std::all_of(lines.begin(), lines.end(),
                     [&](const std::vector<int64_t>& line) { return DifferInKeys(GraphsOf(request, line)); });
}

// True if the size may count columns: no contraction is in the way. Whether plans can be shared along rows
// and columns is found out by trying.
bool MayBeColumns(const KernelRequest& request) {
  const std::vector<GraphNode>& nodes = request.family.graphs()->member(0).nodes;
  return std::none_of(nodes.begin(), nodes.end(), [](const GraphNode& node) {
    return Info(node.op).kind == OperationKind::kContraction;
  });
}

// Adds a region: its plan, and its members. Members get their predicted cycles and their graph. The plan
// itself is kept in the last one only, whose text is shown.
void AddRegion(PlanRegion region, const PlanBox& box, const SharedPlanSizes& shared, const Target& target,
               FamilySynthesis* synthesis) {
  std::vector<int64_t> members;
  for (size_t i : region.members) {
    members.push_back(box.members[i]);
    PlanResult result;
    if (i == region.members.back()) result.plan = region.plan;
    result.plan.graph = CanonicalGraph(synthesis->request.family.graphs()->member(members.back()));
    result.plan.cycles = result.bound_cycles = box.family.cycles[i];
    synthesis->members[static_cast<size_t>(members.back())] = MakeSynthesis(target, std::move(result));
  }
  Region added = RegionOf(synthesis->regions.sizes, members);
  added.decision = PlanOutline(region.plan);
  synthesis->regions.list.push_back(std::move(added));
  // The plan's sizes have kinds; callers pass the request's sizes.
  std::vector<size_t>& taken = synthesis->sizes_of_shared.emplace_back();
  for (const PlanSize& size : region.plan.sizes)
    for (size_t i = 0; i < shared.numbers.size(); ++i)
      if (shared.kinds[i] == size.kind) taken.push_back(shared.numbers[i]);
  synthesis->shared.emplace_back(std::move(region.plan));
}

// A member about the middle of a region: its sizes multiply to about the geometric mean of the first and the
// last member's.
int64_t MiddleOf(const std::vector<VaryingSize>& sizes, const Region& region) {
  const auto product = [&](int64_t member) {
    double product = 1;
    for (uint32_t value : ValuesOf(sizes, member)) product *= value;
    return product;
  };
  const double middle = std::sqrt(product(region.members.front()) * product(region.last()));
  const auto at = std::find_if(region.members.begin(), region.members.end(),
                               [&](int64_t member) { return product(member) >= middle; });
  return at == region.members.end() ? region.last() : *at;
}

// Solves the first, a middle and the last member of each region alone, and says what they lose by sharing.
// Only the first kMostSolved members are, as each takes a search.
absl::Status FindLosses(const std::function<absl::StatusOr<Synthesis>(int64_t member)>& solve,
                        FamilySynthesis* synthesis) {
  constexpr size_t kMostSolved = 24;
  std::vector<std::optional<MemberLoss>>& losses = synthesis->regions.losses;
  losses.assign(synthesis->members.size(), std::nullopt);
  size_t solved = 0;
  for (const Region& region : synthesis->regions.list) {
    for (int64_t member :
         {region.members.front(), MiddleOf(synthesis->regions.sizes, region), region.last()}) {
      const auto i = static_cast<size_t>(member);
      if (losses[i] || ++solved > kMostSolved) continue;
      const absl::StatusOr<Synthesis> own = solve(member);
      if (!own.ok()) return own.status();
      losses[i] = MemberLoss{synthesis->members[i].cycles / own->cycles - 1, true};
      synthesis->before.specs += own->stats.specs_solved;
      synthesis->before.seconds += own->seconds;
    }
  }
  return absl::OkStatus();
}

}  // namespace

// Plans for both sizes come first, as they serve most members. Then keys: plans for any number of rows alone
// are for few of the members.
std::vector<SharedPlanSizes> FindSharedPlanSizes(const SolveArguments& arguments,
                                                 const KernelRequest& request) {
  std::vector<SharedPlanSizes> found;
  if (request.family.graphs() == nullptr || arguments.threads > 1 || !arguments.tune.empty() ||
      arguments.tuned)
    return found;
  const std::vector<VaryingSize> sizes = request.sizes();
  std::vector<size_t> keys, rows;
  for (size_t size = 0; size < sizes.size(); ++size)
    if (AreMany(sizes[size])) (AreKeys(request, sizes, size) ? keys : rows).push_back(size);
  // The size with the most values leaves the fewest boxes, of which each needs plans of its own.
  std::stable_sort(rows.begin(), rows.end(),
                   [&](size_t a, size_t b) { return sizes[a].values.size() > sizes[b].values.size(); });
  for (size_t key : keys)
    for (size_t row : rows)
      found.push_back(key < row ? SharedPlanSizes{{key, row}, {PlanSizeKind::kKeys, PlanSizeKind::kRows}}
                                : SharedPlanSizes{{row, key}, {PlanSizeKind::kRows, PlanSizeKind::kKeys}});
  if (MayBeColumns(request))
    for (size_t row : rows)
      for (size_t column : rows)
        if (row != column)
          found.push_back(
              row < column ? SharedPlanSizes{{row, column}, {PlanSizeKind::kRows, PlanSizeKind::kColumns}}
                           : SharedPlanSizes{{column, row}, {PlanSizeKind::kColumns, PlanSizeKind::kRows}});
  for (size_t key : keys) found.push_back({{key}, {PlanSizeKind::kKeys}});
  for (size_t row : rows) found.push_back({{row}, {PlanSizeKind::kRows}});
  return found;
}

absl::StatusOr<bool> SharePlans(const SolveArguments& arguments, const SharedPlanSizes& shared,
                                const Target& target, const std::shared_ptr<Memo>& memo, SearchBudget& budget,
                                const std::function<absl::StatusOr<Synthesis>(int64_t member)>& solve,
                                FamilySynthesis* synthesis) {
  // One step, so that an interrupt ends the searches for all boxes.
  const Step step(arguments.observer, StepKind::kSearch);
  const CostModel model(target);
  const DbOptions none{"", true};
  SolveArguments own = arguments;
  own.db = &none;
  PlanOptions options = MakePlanOptions(arguments, synthesis->request.family.graphs()->member(0));
  SearchEffort& effort = synthesis->before;
  // Programs of stages are searched with no table, within what is left of the time.
  options.solve = [&](const Spec& placed, Cost cutoff) {
    own.time_budget = budget.Left();
    absl::StatusOr<SearchResult> result = SolvePlaced(own, placed, model, *memo, cutoff, nullptr);
    if (!result.ok()) return result;
    if (result->stop == StopReason::kCancelled) budget.End();
    effort.specs += result->stats.specs_solved;
    effort.seconds += result->seconds;
    return result;
  };
  const KernelRequest& request = synthesis->request;
  const std::vector<VaryingSize>& sizes = synthesis->regions.sizes;
  std::vector<SharedSize> shared_sizes;
  for (size_t i = 0; i < shared.numbers.size(); ++i)
    shared_sizes.push_back({sizes[shared.numbers[i]], shared.kinds[i]});
  // Find plans for each box first. If one box has none, nothing has been filled in yet.
  std::vector<PlanBox> boxes;
  for (std::vector<int64_t>& members : BoxesAlong(sizes, shared.numbers)) {
    const std::vector<Graph> graphs = GraphsOf(request, members);
    // A graph with any values of the shared sizes, also with such as no member has.
    const auto graph_of = [&](const PlanPoint& point) -> std::optional<Graph> {
      std::vector<uint32_t> values = ValuesOf(sizes, members.front());
      for (size_t i = 0; i < shared.numbers.size(); ++i)
        values[shared.numbers[i]] = static_cast<uint32_t>(point.at(shared.kinds[i]));
      absl::StatusOr<Graph> graph = request.family.graphs()->MemberOf(values);
      return graph.ok() ? std::optional(*std::move(graph)) : std::nullopt;
    };
    absl::StatusOr<std::optional<PlanFamily>> found =
        FindPlanRegions({graphs, shared_sizes, graph_of, request.source, model, options});
    if (!found.ok()) return found.status();
    if (!*found) return false;
    boxes.push_back({std::move(members), **std::move(found)});
  }
  // All boxes have plans, so fill in the result.
  synthesis->members.resize(static_cast<size_t>(request.count()));
  for (PlanBox& box : boxes)
    for (PlanRegion& region : box.family.regions)
      AddRegion(std::move(region), box, shared, target, synthesis);
  for (const Synthesis& member : synthesis->members) synthesis->regions.gflops.push_back(member.gflops());
  if (absl::Status status = FindLosses(solve, synthesis); !status.ok()) return status;
  return true;
}

}  // namespace kirsch
