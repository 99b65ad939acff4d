#include "tools/shared_keys.h"

#include <cmath>
#include <utility>
#include <variant>
#include <vector>

#include "rewrites/canonical_graph.h"
#include "search/key_regions.h"
#include "tools/interrupt.h"

namespace kirsch {
namespace {

// So few members have kernels of their own, as they always had: a plan for any number of keys loses most where
// there are few of them, and saves little.
constexpr size_t kFewMembers = 32;

std::vector<Graph> MembersOf(const KernelRequest& request) {
  std::vector<Graph> members;
  for (int64_t i = 0; i < request.count(); ++i) members.push_back(request.graph->member(i));
  return members;
}

// The whole plan is kept of each region's last member, whose text is shown.
void AddRegion(KeyRegion region, const std::vector<double>& cycles, const Target& target,
               FamilySynthesis* synthesis) {
  const std::vector<VaryingSize>& sizes = synthesis->regions.sizes;
  Region added;
  added.decision = PlanOutline(region.plan);
  added.box.push_back({sizes[0].values[region.first], sizes[0].values[region.last]});
  for (size_t i = region.first; i <= region.last; ++i) {
    added.members.push_back(static_cast<int64_t>(i));
    PlanResult result;
    if (i == region.last) result.plan = region.plan;
    result.plan.graph = CanonicalGraph(synthesis->request.graph->member(static_cast<int64_t>(i)));
    result.plan.cycles = result.bound_cycles = cycles[i];
    synthesis->members.emplace_back(GraphSynthesis{target, std::move(result)});
    synthesis->regions.gflops.push_back(PredictedGflops(synthesis->graph(i)));
  }
  synthesis->regions.list.push_back(std::move(added));
  synthesis->plans.push_back(std::move(region.plan));
}

// Of each region the first, a middle and the last member.
absl::Status FindLosses(const std::function<absl::StatusOr<Member>(int64_t member)>& solve,
                        FamilySynthesis* synthesis) {
  std::vector<std::optional<MemberLoss>>& losses = synthesis->regions.losses;
  losses.assign(synthesis->members.size(), std::nullopt);
  for (const Region& region : synthesis->regions.list) {
    const int64_t first = region.members.front(), last = region.members.back();
    const auto middle = static_cast<int64_t>(std::sqrt(static_cast<double>((first + 1) * (last + 1)))) - 1;
    for (int64_t member : {first, middle, last}) {
      const auto i = static_cast<size_t>(member);
      if (losses[i]) continue;
      absl::StatusOr<Member> own = solve(member);
      if (!own.ok()) return own.status();
      const PlanResult& best = std::get<GraphSynthesis>(*own).result;
      losses[i] = MemberLoss{synthesis->graph(i).result.plan.cycles / best.plan.cycles - 1, true};
      synthesis->before.specs += best.stats.specs_solved;
      synthesis->before.seconds += best.seconds;
    }
  }
  return absl::OkStatus();
}

}  // namespace

bool MayShareKeys(const SolveArguments& arguments, const KernelRequest& request) {
  if (!request.graph || arguments.threads > 1 || !arguments.tune.empty() || arguments.tuned) return false;
  const std::vector<VaryingSize> sizes = request.sizes();
  if (sizes.size() != 1) return false;
  const std::vector<uint32_t>& values = sizes[0].values;
  return values.size() > kFewMembers && values.back() - values.front() + 1 == values.size() &&
         DifferInKeys(MembersOf(request));
}

absl::StatusOr<bool> ShareKeys(const SolveArguments& arguments, const Target& target,
                               const std::shared_ptr<Memo>& memo, SearchBudget& budget,
                               const std::function<absl::StatusOr<Member>(int64_t member)>& solve,
                               FamilySynthesis* synthesis) {
  const InterruptGuard guard(arguments.console);
  const CostModel model(target);
  const DbOptions none{"", true};
  SolveArguments own = arguments;
  own.db = &none;
  PlanOptions options = PlanOptionsOf(arguments, synthesis->request.graph->member(0));
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
  absl::StatusOr<KeyFamily> found =
      FindKeyRegions(MembersOf(synthesis->request), synthesis->regions.sizes[0].values.front(),
                     synthesis->request.source, model, options);
  if (absl::IsInvalidArgument(found.status())) return false;
  if (!found.ok()) return found.status();
  for (KeyRegion& region : found->regions) AddRegion(std::move(region), found->cycles, target, synthesis);
  if (absl::Status status = FindLosses(solve, synthesis); !status.ok()) return status;
  return true;
}

}  // namespace kirsch
