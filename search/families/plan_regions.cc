// SPDX-License-Identifier: Apache-2.0
#include "search/families/plan_regions.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "rewrites/graph/canonical_graph.h"
#include "search/families/plan_rules.h"
#include "search/families/rule_costs.h"
#include "search/graph/group_levels.h"
#include "spec/check.h"

namespace kirsch {
namespace {

// A region must have at least one in so many of all members for other plans to be searched for it.
constexpr size_t kWorthASearch = 256;

std::vector<std::vector<double>> ValuesOf(absl::Span<const SharedSize> sizes) {
  std::vector<std::vector<double>> values;
  for (const SharedSize& shared : sizes)
    values.emplace_back(shared.size.values.begin(), shared.size.values.end());
  return values;
}

class PlanRegionFinder {
 public:
  explicit PlanRegionFinder(const PlanMembers& members)
      : members_(members), finder_(members), costs_(ValuesOf(members.sizes), /*in_boxes=*/false) {
    for (const Graph& graph : members.graphs)
      placements_.push_back(PlacementOf(graph, members.options.residency, members.model.target()));
  }

  // In four steps: plans at the ladders' members, plans where nothing serves a member yet, plans between the
  // ladders' members, and the choice of regions.
  absl::StatusOr<std::optional<PlanFamily>> Find() && {
    std::vector<std::vector<size_t>> ladders;
    for (size_t dim = 0; dim < grid().dims(); ++dim) ladders.push_back(Ladder(dim));
    if (absl::Status status = SolveAt(ladders); !status.ok()) return status;
    const absl::StatusOr<bool> served = ServeAll();
    if (!served.ok()) return served.status();
    if (!*served || !SharesAnywhere()) return std::nullopt;
    if (absl::Status status = RefineBetween(ladders); !status.ok()) return status;
    if (absl::Status status = AddRegions(); !status.ok()) return status;
    return std::move(family_);
  }

 private:
  // A plan for any size, and the corners of the box of members that it serves.
  struct Rule {
    std::unique_ptr<SymbolicPlan> plan;
    size_t first, last;  // corners of what it serves; there is code for all between them
  };

  const SizeGrid& grid() const { return costs_.grid(); }

  // The point whose sizes are `value(size, index)` for each dim.
  template <typename Value>
  PlanPoint PointOf(size_t member, const Value& value) const {
    const SizeGrid::Place place = grid().At(member);
    PlanPoint point;
    for (size_t dim = 0; dim < grid().dims(); ++dim) {
      const SharedSize& shared = members_.sizes[dim];
      point.at(shared.kind) = value(shared.size, place[dim]);
    }
    return point;
  }
  PlanPoint SizesOf(size_t member) const {
    return PointOf(member, [](const VaryingSize& size, size_t i) { return size.values[i]; });
  }
  // The smallest sizes that a member's plan must serve: samples stand for the values below them, too.
  PlanPoint LeastServed(size_t member) const {
    return PointOf(member, [](const VaryingSize& size, size_t i) { return size.LeastServed(i); });
  }

  // The values of one size that are searched first, descending; the other sizes are at their most. For each
  // placement these are the last value and representatives, each with about a fourth of the value before it.
  //
  // Example: 1 .. 256 with one placement gives about 256, 64, 16, 4, 1.
  std::vector<size_t> Ladder(size_t dim) const {
    const SharedSize& shared = members_.sizes[dim];
    SizeGrid::Place place = grid().At(grid().members() - 1);
    const auto placement = [&](size_t i) {
      place[dim] = i;
      return placements_[grid().Index(place)];
    };
    std::vector<size_t> ladder;
    for (size_t end = grid().count(dim); end > 0;) {
      size_t first = end - 1;
      while (first > 0 && placement(first - 1) == placement(end - 1)) --first;
      ladder.push_back(end - 1);
      for (int64_t size = shared.size.values[end - 1]; ladder.back() > first; size /= 4) {
        size = finder_.Representative(shared.kind, size);
        size_t i = ladder.back();
        while (i > first && shared.size.values[i] > size) --i;
        if (i < ladder.back()) ladder.push_back(i);
      }
      end = first;
    }
    return ladder;
  }

  // The members at all combinations of these values, the largest first.
  std::vector<size_t> MembersAt(const std::vector<std::vector<size_t>>& ladders) const {
    std::vector<SizeGrid::Place> places = {SizeGrid::Place(grid().dims())};
    for (size_t dim = 0; dim < grid().dims(); ++dim) {
      std::vector<SizeGrid::Place> longer;
      for (const SizeGrid::Place& place : places)
        for (size_t i : ladders[dim]) {
          longer.push_back(place);
          longer.back()[dim] = i;
        }
      places = std::move(longer);
    }
    std::vector<size_t> members;
    for (const SizeGrid::Place& place : places) members.push_back(grid().Index(place));
    return members;
  }

  // Solves the members of the ladders. If there is one size, each of them gets a rule of its own. Of two
  // sizes there are too many members for that, so a search is cut off by the best rule so far.
  absl::Status SolveAt(const std::vector<std::vector<size_t>>& ladders) {
    for (size_t member : MembersAt(ladders))
      if (absl::Status status = SearchBelow(grid().dims() == 1 ? RuleCosts::kNone : Cutoff(member), member);
          !status.ok())
        return status;
    return absl::OkStatus();
  }

  // Refines each box between neighbouring values of the ladders.
  absl::Status RefineBetween(const std::vector<std::vector<size_t>>& ladders) {
    // Of two sizes, there is next to nothing to find between members where nothing is found.
    const auto improve = [&](size_t member) -> absl::StatusOr<bool> {
      const size_t known = rules_.size();
      if (absl::Status status = Improve(member); !status.ok()) return status;
      return grid().dims() == 1 || rules_.size() > known;
    };
    std::vector<std::vector<size_t>> lows = ladders;
    for (std::vector<size_t>& low : lows)
      if (low.size() > 1) low.erase(low.begin());
    for (size_t member : MembersAt(lows)) {
      SizeGrid::Place high = grid().At(member);
      for (size_t dim = 0; dim < grid().dims(); ++dim) {
        const auto at = std::find(ladders[dim].begin(), ladders[dim].end(), high[dim]);
        if (at != ladders[dim].begin()) high[dim] = *std::prev(at);
      }
      if (absl::Status status = costs_.Refine(member, grid().Index(high), RuleCosts::kNone, improve);
          !status.ok())
        return status;
    }
    return absl::OkStatus();
  }

  // Finds a rule for every member. Returns false if no rule serves some member.
  absl::StatusOr<bool> ServeAll() {
    for (size_t member = grid().members(); member-- > 0;)
      if (absl::StatusOr<bool> served = Serve(member); !served.ok() || !*served) return served;
    return true;
  }

  // Searches for the member only if no rule serves it yet: first as usual, then among plans of other forms.
  absl::StatusOr<bool> Serve(size_t member) {
    if (costs_.Least(member) < RuleCosts::kNone) return true;
    if (absl::Status status = Improve(member); !status.ok()) return status;
    if (costs_.Least(member) < RuleCosts::kNone) return true;
    if (absl::Status status = Add(member, finder_.FindOthers(SizesOf(member))); !status.ok()) return status;
    return costs_.Least(member) < RuleCosts::kNone;
  }

  // Searches for a plan of the member that is better than all known ones by more than kLossNotSearched. No
  // member is searched for twice.
  absl::Status Improve(size_t member) { return SearchBelow(Cutoff(member), member); }
  absl::Status SearchBelow(double cutoff, size_t member) {
    if (!searched_.insert(member).second) return absl::OkStatus();
    return Add(member, finder_.Find(SizesOf(member), cutoff));
  }
  double Cutoff(size_t member) const { return costs_.Least(member) / (1 + kLossNotSearched); }

  // Adds the rules of the member's plans. They are for members with its placement only.
  absl::Status Add(size_t member, absl::StatusOr<PlanRuleFinder::Rules> rules) {
    if (!rules.ok()) return rules.status();
    for (std::unique_ptr<SymbolicPlan>& plan : *rules) {
      std::vector<double> cycles(grid().members(), RuleCosts::kNone);
      std::vector<size_t> placed, served;
      for (size_t i = 0; i < cycles.size(); ++i) {
        // A plan for some number of rows may have no code for fewer.
        const PlanPoint least = LeastServed(i);
        if (placements_[i] != placements_[member] || least.rows < plan->least().rows ||
            least.columns < plan->least().columns)
          continue;
        placed.push_back(i);
        cycles[i] = plan->CyclesFor(SizesOf(i));
        if (cycles[i] < RuleCosts::kNone) served.push_back(i);
      }
      if (served.empty()) continue;
      const auto [low, last] = grid().Around(served);
      const std::optional<size_t> first = FirstWithCode(*plan, grid().Around(placed).first, low, last);
      if (!first) continue;
      // Members outside of the corners have no code by this rule.
      for (size_t i : served)
        if (!grid().IsBetween(*first, i)) cycles[i] = RuleCosts::kNone;
      rules_.push_back({std::move(plan), *first, last});
      costs_.Add(std::move(cycles));
    }
    return absl::OkStatus();
  }

  // Finds the first corner of the members that a rule has code for, up to `last`. It tries `placed`, then
  // `low`, and then members that are further and further up: some decisions have no code for few rows and
  // keys.
  std::optional<size_t> FirstWithCode(SymbolicPlan& plan, size_t placed, size_t low, size_t last) const {
    const auto has_code = [&](size_t first) {
      return plan.ApplyToRange(LeastServed(first), SizesOf(last)).has_value();
    };
    if (has_code(placed)) return placed;
    const SizeGrid::Place end = grid().At(last);
    SizeGrid::Place place = grid().At(low);
    for (size_t step = 1; !has_code(grid().Index(place)); step *= 2) {
      if (place == end) return std::nullopt;
      for (size_t dim = 0; dim < place.size(); ++dim) place[dim] = std::min(place[dim] + step, end[dim]);
    }
    return grid().Index(place);
  }

  // True if some rule serves several members of one placement; a family has no use otherwise.
  bool SharesAnywhere() const {
    if (grid().members() == 1) return true;
    return std::any_of(rules_.begin(), rules_.end(), [](const Rule& rule) { return rule.first < rule.last; });
  }

  // Chooses the regions. If the first, a middle or the last member of a region then gets a better plan than
  // any that was known, regions are chosen anew, a few times at most.
  absl::Status AddRegions() {
    constexpr int kMostTimes = 3;
    const auto loss = [&](double cycles, size_t member) { return cycles / costs_.Least(member) - 1; };
    family_.cycles.resize(grid().members());
    std::vector<RuleCosts::Share> shares;
    size_t known = 0;
    for (int time = 0; time <= kMostTimes && known < rules_.size(); ++time) {
      known = rules_.size();
      shares = costs_.Cover(loss);
      if (time == kMostTimes) break;
      for (const RuleCosts::Share& share : shares) {
        if (share.members.size() < grid().members() / kWorthASearch) continue;
        for (size_t member : {share.members.front(), Middle(share), share.members.back()})
          if (absl::Status status = Improve(member); !status.ok()) return status;
      }
    }
    for (const RuleCosts::Share& share : shares) AddRegion(share);
    return absl::OkStatus();
  }

  // A member of the share near the middle of its box.
  size_t Middle(const RuleCosts::Share& share) const {
    const size_t between = costs_.Between(share.first, share.last);
    const auto at = std::lower_bound(share.members.begin(), share.members.end(), between);
    return at == share.members.end() ? share.members.back() : *at;
  }

  // The region gets the plan with the family's graph for the largest member, and with its sizes.
  void AddRegion(const RuleCosts::Share& share) {
    PlanRegion region{share.members, BuildPlan(rules_[share.rule], share)};
    region.plan.graph = CanonicalGraph(members_.graphs[share.last]);
    SetSizes(LeastServed(share.first), SizesOf(share.last), &region.plan);
    for (size_t member : share.members) family_.cycles[member] = costs_.cost(share.rule, member);
    region.plan.cycles = family_.cycles[share.members.back()];
    family_.regions.push_back(std::move(region));
  }

  // Builds the plan of a share. There is code for all sizes of a rule together (Add), but perhaps not for a
  // part of them, since what is left of these may be of another form. Then the plan is for all sizes of the
  // rule.
  Plan BuildPlan(const Rule& rule, const RuleCosts::Share& share) const {
    std::optional<Plan> plan = rule.plan->ApplyToRange(LeastServed(share.first), SizesOf(share.last));
    if (!plan) plan = rule.plan->ApplyToRange(LeastServed(rule.first), SizesOf(rule.last));
    return *std::move(plan);
  }

  // Names the plan's sizes, in the order of the members' sizes.
  void SetSizes(const PlanPoint& least, const PlanPoint& most, Plan* plan) const {
    std::vector<PlanSize> sizes;
    for (const SharedSize& shared : members_.sizes) {
      const PlanSize* const size = plan->size(shared.kind);
      if (size == nullptr) continue;
      const char* const name = shared.kind == PlanSizeKind::kRows   ? "n_rows"
                               : shared.kind == PlanSizeKind::kKeys ? "n_keys"
                                                                    : "n_columns";
      sizes.push_back(
          {shared.kind, FreeName(name), least.at(shared.kind), most.at(shared.kind), size->planned});
    }
    plan->sizes = std::move(sizes);
  }

  // Returns a name that no parameter has.
  std::string FreeName(std::string name) const {
    const auto taken = [&](const GraphNode& node) {
      return node.op == Operation::kInput && node.text == name;
    };
    const std::vector<GraphNode>& nodes = members_.graphs[0].nodes;
    while (std::any_of(nodes.begin(), nodes.end(), taken)) name += "_";
    return name;
  }

  const PlanMembers& members_;
  const PlanRuleFinder finder_;
  std::vector<Level> placements_;  // of each member's operands
  RuleCosts costs_;                // of the rules, in cycles
  std::vector<Rule> rules_;
  std::set<size_t> searched_;  // members
  PlanFamily family_;
};

}  // namespace

absl::StatusOr<std::optional<PlanFamily>> FindPlanRegions(const PlanMembers& members) {
  return PlanRegionFinder(members).Find();
}

}  // namespace kirsch
