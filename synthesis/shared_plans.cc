// SPDX-License-Identifier: Apache-2.0
#include "synthesis/shared_plans.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "rewrites/graph/canonical_graph.h"
#include "search/families/key_regions.h"
#include "search/families/row_regions.h"
#include "synthesis/graph_kernel.h"

namespace kirsch {
namespace {

// So few members have kernels of their own: sharing saves little.
constexpr size_t kFewMembers = 8;

std::vector<Graph> GraphsOf(const KernelRequest& request, const std::vector<int64_t>& members) {
  std::vector<Graph> graphs;
  for (int64_t member : members) graphs.push_back(request.family.graphs()->member(member));
  return graphs;
}

// Members that differ in the shared size only, and the plans for these.
struct PlanLine {
  std::vector<int64_t> members;
  PlanFamily family;
};

// Are there many members with neighbouring values of the size?
bool AreMany(const VaryingSize& size) { return size.values.size() > kFewMembers && size.is_range(); }

bool AreKeys(const KernelRequest& request, const std::vector<VaryingSize>& sizes, size_t size) {
  const std::vector<std::vector<int64_t>> lines = LinesAlong(sizes, size);
  return std::all_of(lines.begin(), lines.end(),
                     [&](const std::vector<int64_t>& line) { return DifferInKeys(GraphsOf(request, line)); });
}

// The whole plan is kept of each region's last member, whose text is shown.
void AddRegion(PlanRegion region, const PlanLine& line, size_t size, const Target& target,
               FamilySynthesis* synthesis) {
  std::vector<int64_t> members;
  for (size_t i : region.members) {
    members.push_back(line.members[i]);
    PlanResult result;
    if (i == region.members.back()) result.plan = region.plan;
    result.plan.graph = CanonicalGraph(synthesis->request.family.graphs()->member(members.back()));
    result.plan.cycles = result.bound_cycles = line.family.cycles[i];
    synthesis->members[static_cast<size_t>(members.back())] = MakeSynthesis(target, std::move(result));
  }
  DispatchRange added = RegionOf(synthesis->regions.sizes, members);
  added.decision = PlanOutline(region.plan);
  synthesis->regions.list.push_back(std::move(added));
  synthesis->sizes_of_shared.push_back(region.plan.size ? std::vector{size} : std::vector<size_t>());
  synthesis->shared.emplace_back(std::move(region.plan));
}

// Of each region the first, a middle and the last member.
absl::Status FindLosses(const std::function<absl::StatusOr<Synthesis>(int64_t member)>& solve, size_t size,
                        FamilySynthesis* synthesis) {
  std::vector<std::optional<MemberLoss>>& losses = synthesis->regions.losses;
  losses.assign(synthesis->members.size(), std::nullopt);
  for (const DispatchRange& region : synthesis->regions.list) {
    const auto size_of = [&](int64_t member) { return ValuesOf(synthesis->regions.sizes, member)[size]; };
    const double middle =
        std::sqrt(static_cast<double>(size_of(region.members.front())) * size_of(region.members.back()));
    const auto at = std::find_if(region.members.begin(), region.members.end(),
                                 [&](int64_t member) { return size_of(member) + 1 > middle; });
    const auto middle_number = static_cast<size_t>(at - region.members.begin());
    for (size_t number : {size_t{0}, middle_number, region.members.size() - 1}) {
      const auto i = static_cast<size_t>(region.members[number]);
      if (losses[i]) continue;
      const absl::StatusOr<Synthesis> own = solve(region.members[number]);
      if (!own.ok()) return own.status();
      losses[i] = MemberLoss{synthesis->members[i].cycles / own->cycles - 1, true};
      synthesis->before.specs += own->stats.specs_solved;
      synthesis->before.seconds += own->seconds;
    }
  }
  return absl::OkStatus();
}

}  // namespace

// Keys first: where there are any, plans for any number of rows are for few of the members.
std::vector<SharedPlanSize> FindSharedPlanSizes(const SolveArguments& arguments,
                                                const KernelRequest& request) {
  std::vector<SharedPlanSize> keys, rows;
  if (request.family.graphs() == nullptr || arguments.threads > 1 || !arguments.tune.empty() ||
      arguments.tuned)
    return keys;
  const std::vector<VaryingSize> sizes = request.sizes();
  for (size_t size = 0; size < sizes.size(); ++size)
    if (AreMany(sizes[size])) {
      const bool are_keys = AreKeys(request, sizes, size);
      (are_keys ? keys : rows).push_back({size, are_keys});
    }
  keys.insert(keys.end(), rows.begin(), rows.end());
  return keys;
}

absl::StatusOr<bool> SharePlans(const SolveArguments& arguments, const SharedPlanSize& size,
                                const Target& target, const std::shared_ptr<Memo>& memo, SearchBudget& budget,
                                const std::function<absl::StatusOr<Synthesis>(int64_t member)>& solve,
                                FamilySynthesis* synthesis) {
  const Step step(arguments.observer, StepKind::kSearch);
  const CostModel model(target);
  const DbOptions none{"", true};
  SolveArguments own = arguments;
  own.db = &none;
  PlanOptions options = MakePlanOptions(arguments, synthesis->request.family.graphs()->member(0));
  SearchEffort& effort = synthesis->before;
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
  std::vector<PlanLine> lines;
  const auto find = size.keys ? FindKeyRegions : FindRowRegions;
  for (std::vector<int64_t>& members : LinesAlong(sizes, size.number)) {
    const std::vector<Graph> graphs = GraphsOf(request, members);
    const auto graph_of = [&](int64_t value) {
      std::vector<uint32_t> values = ValuesOf(sizes, members.front());
      values[size.number] = static_cast<uint32_t>(value);
      return request.family.graphs()->MemberOf(values);
    };
    absl::StatusOr<std::optional<PlanFamily>> found =
        find({graphs, sizes[size.number], graph_of, request.source, model, options});
    if (!found.ok()) return found.status();
    if (!*found) return false;
    lines.push_back({std::move(members), **std::move(found)});
  }
  synthesis->members.resize(static_cast<size_t>(request.count()));
  for (PlanLine& line : lines)
    for (PlanRegion& region : line.family.regions)
      AddRegion(std::move(region), line, size.number, target, synthesis);
  for (const Synthesis& member : synthesis->members) synthesis->regions.gflops.push_back(member.gflops());
  if (absl::Status status = FindLosses(solve, size.number, synthesis); !status.ok()) return status;
  return true;
}

}  // namespace kirsch
