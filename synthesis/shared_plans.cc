// SPDX-License-Identifier: Apache-2.0
#include "synthesis/shared_plans.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "cost/shared_cost_model.h"
#include "rewrites/graph/canonical_graph.h"
#include "search/families/differ_in_keys.h"
#include "search/families/plan_regions.h"
#include "spec/text/status_macros.h"
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

// The graph with these values of all names: sizes, and then ties.
absl::StatusOr<Graph> GraphOf(const GraphFamily& family, const std::vector<uint32_t>& values) {
  const auto ties = values.begin() + std::ssize(family.sizes());
  return family.MemberOf({values.data(), family.sizes().size()}, std::vector<uint32_t>(ties, values.end()));
}

// Graphs in which a name has three of its values, and all others have those of a member. None, if there is no
// graph for some of these.
std::vector<Graph> GraphsAlong(const GraphFamily& family, int64_t member, const CountedSize& size) {
  std::vector<uint32_t> values = ValuesOf(family.sizes(), member);
  const auto value_at = [&](bool last) {
    std::vector<uint32_t> ends;
    for (const VaryingSize& any : family.sizes())
      ends.push_back(last ? any.values.back() : any.values.front());
    return size.sum.Of(ends);
  };
  for (uint32_t tied : family.TiedValues(values)) values.push_back(tied);
  const uint32_t least = std::max(value_at(false), 1u), most = value_at(true);
  std::vector<Graph> graphs;
  for (const uint32_t value : {least, least + (most - least + 1) / 2, most}) {
    values[size.name] = value;
    absl::StatusOr<Graph> graph = GraphOf(family, values);
    if (!graph.ok()) return {};
    graphs.push_back(*std::move(graph));
  }
  return graphs;
}

bool HaveEqualTypes(const Graph& a, const Graph& b) {
  for (int input = 0; input < a.num_inputs(); ++input)
    if (a.at(input).type != b.at(input).type) return false;
  return true;
}

// The names that some parameter's type has, where sizes are tied. (Of what callers pass, some may be there
// for sums only.)
std::vector<CountedSize> FindNames(const GraphFamily& family) {
  std::vector<CountedSize> all, names;
  for (size_t i = 0; i < family.sizes().size(); ++i) all.push_back({i, SizeSum(i)});
  for (const TiedSize& tied : family.ties()) all.push_back({all.size(), tied.sum});
  for (CountedSize& name : all) {
    const std::vector<Graph> last = GraphsAlong(family, family.count() - 1, name);
    name.varies_alone = !last.empty();
    if (name.varies_alone && HaveEqualTypes(last.front(), last.back())) continue;
    if (name.varies_alone && DifferInKeys(last) && DifferInKeys(GraphsAlong(family, 0, name)))
      name.symbol = SizeSymbol::kKeys;
    names.push_back(name);
  }
  return names;
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
  // The plan has symbols; callers pass the request's sizes.
  std::vector<SizeSum>& taken = synthesis->sizes_of_shared.emplace_back();
  for (const SymbolRange& range : region.plan.symbols)
    for (const CountedSize& counted : shared.counted)
      if (counted.symbol == range.symbol) taken.push_back(counted.sum);
  synthesis->shared.emplace_back(std::move(region.plan));
}

// A sum as one of the sizes of a box, by their places in `numbers`. The other sizes have one value in it.
SizeSum InBox(const SizeSum& sum, const std::vector<size_t>& numbers, const std::vector<uint32_t>& of_box) {
  SizeSum in_box;
  in_box.plus = sum.plus;
  for (size_t size : sum.sizes) {
    const auto at = std::find(numbers.begin(), numbers.end(), size);
    if (at == numbers.end())
      in_box.plus += of_box[size];
    else
      in_box.sizes.push_back(static_cast<size_t>(at - numbers.begin()));
  }
  return in_box;
}

// A member about the middle of a region: its sizes multiply to about the geometric mean of the first and the
// last member's.
int64_t MiddleOf(const std::vector<VaryingSize>& sizes, const Region& region) {
  const auto product = [&](int64_t member) {
    double product = 1;
    for (uint32_t value : ValuesOf(sizes, member)) product *= std::max(value, 1u);
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
      KIRSCH_ASSIGN_OR_RETURN(const Synthesis own, solve(member));
      if (own.stop != StopReason::kOptimal) return absl::OkStatus();
      losses[i] = MemberLoss{synthesis->members[i].cycles / own.cycles - 1, true};
      synthesis->before.specs += own.stats.specs_solved;
      synthesis->before.seconds += own.seconds;
    }
  }
  return absl::OkStatus();
}

SharedPlanSizes Single(size_t size, SizeSymbol symbol) { return {{size}, {{size, SizeSum(size), symbol}}}; }

SharedPlanSizes Pair(size_t a, SizeSymbol of_a, size_t b, SizeSymbol of_b) {
  if (b < a) return Pair(b, of_b, a, of_a);
  return {{a, b}, {{a, SizeSum(a), of_a}, {b, SizeSum(b), of_b}}};
}

// The choice to count these names, where sizes are tied. Plans then take all sizes that the names are made of
// and that have many values. Nothing: these are none or too many, or other names vary with them.
std::optional<SharedPlanSizes> CountNames(const std::vector<VaryingSize>& sizes,
                                          const std::vector<CountedSize>& names,
                                          const std::vector<CountedSize>& counted) {
  SharedPlanSizes found;
  for (size_t size = 0; size < sizes.size(); ++size) {
    const auto has = [&](const CountedSize& name) { return name.sum.Has(size); };
    if (!AreMany(sizes[size]) || std::none_of(counted.begin(), counted.end(), has)) continue;
    if (std::count_if(names.begin(), names.end(), has) != std::count_if(counted.begin(), counted.end(), has))
      continue;
    found.numbers.push_back(size);
  }
  if (found.numbers.empty() || found.numbers.size() > 2) return std::nullopt;
  for (const CountedSize& name : counted) {
    const auto has = [&](size_t size) { return name.sum.Has(size); };
    if (std::none_of(found.numbers.begin(), found.numbers.end(), has)) return std::nullopt;
  }
  found.counted = counted;
  return found;
}

// Rows and keys come first, then keys, then rows.
std::vector<SharedPlanSizes> FindTiedPlanSizes(const GraphFamily& family) {
  const std::vector<CountedSize> names = FindNames(family);
  std::vector<SharedPlanSizes> found;
  const auto add = [&](const std::vector<CountedSize>& counted) {
    if (std::optional<SharedPlanSizes> shared = CountNames(family.sizes(), names, counted))
      found.push_back(*std::move(shared));
  };
  const auto counts = [](const CountedSize& name, SizeSymbol symbol) {
    return name.symbol == symbol && name.varies_alone;
  };
  for (const CountedSize& keys : names)
    for (const CountedSize& rows : names)
      if (counts(keys, SizeSymbol::kKeys) && counts(rows, SizeSymbol::kRows)) add({rows, keys});
  for (const SizeSymbol symbol : {SizeSymbol::kKeys, SizeSymbol::kRows})
    for (const CountedSize& name : names)
      if (counts(name, symbol)) add({name});
  return found;
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
  const GraphFamily& family = *request.family.graphs();
  if (!family.ties().empty()) return FindTiedPlanSizes(family);
  std::vector<size_t> keys, rows;
  for (size_t size = 0; size < sizes.size(); ++size)
    if (AreMany(sizes[size])) (AreKeys(request, sizes, size) ? keys : rows).push_back(size);
  // The size with the most values leaves the fewest boxes, of which each needs plans of its own.
  std::stable_sort(rows.begin(), rows.end(),
                   [&](size_t a, size_t b) { return sizes[a].values.size() > sizes[b].values.size(); });
  for (size_t key : keys)
    for (size_t row : rows) found.push_back(Pair(key, SizeSymbol::kKeys, row, SizeSymbol::kRows));
  if (MayBeColumns(request))
    for (size_t row : rows)
      for (size_t column : rows)
        if (row != column) found.push_back(Pair(row, SizeSymbol::kRows, column, SizeSymbol::kColumns));
  for (size_t key : keys) found.push_back(Single(key, SizeSymbol::kKeys));
  for (size_t row : rows) found.push_back(Single(row, SizeSymbol::kRows));
  return found;
}

absl::StatusOr<bool> SharePlans(const SolveArguments& arguments, const SharedPlanSizes& shared,
                                const Target& target, const std::shared_ptr<Memo>& memo, SearchBudget& budget,
                                const std::function<absl::StatusOr<Synthesis>(int64_t member)>& solve,
                                FamilySynthesis* synthesis) {
  // One step, so that an interrupt ends the searches for all boxes.
  const Step step(arguments.observer, StepKind::kSearch);
  const std::shared_ptr<const CostModel> kept = SharedCostModel(target);
  const CostModel& model = *kept;
  const DbOptions none{"", true};
  SolveArguments own = arguments;
  own.db = &none;
  PlanOptions options = MakePlanOptions(arguments, synthesis->request.family.graphs()->member(0));
  SearchEffort& effort = synthesis->before;
  // Programs of stages are searched with no table, within what is left of the time.
  options.solve = [&](const Spec& placed, Cost cutoff) -> absl::StatusOr<SearchResult> {
    own.time_budget = budget.Left();
    KIRSCH_ASSIGN_OR_RETURN(SearchResult result, SolvePlaced(own, placed, model, *memo, cutoff, nullptr));
    if (result.stop == StopReason::kCancelled) budget.End();
    effort.specs += result.stats.specs_solved;
    return result;
  };
  const auto stopped = [&] { return budget.IsOver(step.stop()); };
  const KernelRequest& request = synthesis->request;
  const std::vector<VaryingSize>& sizes = synthesis->regions.sizes;
  const GraphFamily& family = *request.family.graphs();
  std::vector<VaryingSize> shared_sizes;
  for (size_t number : shared.numbers) shared_sizes.push_back(sizes[number]);
  // Find plans for each box first. If one box has none, nothing has been filled in yet. The time is that of
  // the whole search, of which programs of stages are only a part.
  const auto start = std::chrono::steady_clock::now();
  std::vector<PlanBox> boxes;
  for (std::vector<int64_t>& members : BoxesAlong(sizes, shared.numbers)) {
    const std::vector<Graph> graphs = GraphsOf(request, members);
    const std::vector<uint32_t> of_box = ValuesOf(sizes, members.front());
    std::vector<PlanNumber> numbers;
    for (const CountedSize& counted : shared.counted)
      numbers.push_back({counted.symbol, InBox(counted.sum, shared.numbers, of_box)});
    // A graph with any values of the counted sizes, also with such as no member has.
    const auto graph_of = [&](const SymbolValues& point) -> std::optional<Graph> {
      std::vector<uint32_t> values = of_box;
      for (uint32_t tied : family.TiedValues(of_box)) values.push_back(tied);
      for (const CountedSize& counted : shared.counted)
        values[counted.name] = static_cast<uint32_t>(point[counted.symbol]);
      absl::StatusOr<Graph> graph = GraphOf(family, values);
      return graph.ok() ? std::optional(*std::move(graph)) : std::nullopt;
    };
    KIRSCH_ASSIGN_OR_RETURN(
        std::optional<PlanFamily> found,
        FindPlanRegions({graphs, shared_sizes, numbers, graph_of, request.source, model, options, stopped}));
    if (!found) return false;
    boxes.push_back({std::move(members), *std::move(found)});
  }
  effort.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  // All boxes have plans, so fill in the result.
  synthesis->members.resize(static_cast<size_t>(request.count()));
  for (PlanBox& box : boxes)
    for (PlanRegion& region : box.family.regions)
      AddRegion(std::move(region), box, shared, target, synthesis);
  for (const Synthesis& member : synthesis->members) synthesis->regions.gflops.push_back(member.gflops());
  if (stopped()) effort.stop = StopReason::kBudget;
  // Where a packing is given, losses are against plans without it (graph_packing.cc).
  if (arguments.pins.packing.empty() && !stopped()) KIRSCH_RETURN_IF_ERROR(FindLosses(solve, synthesis));
  return true;
}

}  // namespace kirsch
