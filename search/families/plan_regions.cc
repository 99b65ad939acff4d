// SPDX-License-Identifier: Apache-2.0
#include "search/families/plan_regions.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "rewrites/graph/canonical_graph.h"
#include "search/families/plan_rules.h"
#include "search/families/region_finder.h"
#include "search/graph/group_levels.h"
#include "spec/check.h"

namespace kirsch {
namespace {

std::vector<std::vector<double>> ValuesOf(absl::Span<const SharedSize> sizes) {
  std::vector<std::vector<double>> values;
  for (const SharedSize& shared : sizes)
    values.emplace_back(shared.size.values.begin(), shared.size.values.end());
  return values;
}

class PlanRegionFinder : private RegionFinder {
 public:
  explicit PlanRegionFinder(const PlanMembers& members)
      : RegionFinder(ValuesOf(members.sizes), {.in_boxes = false, .improvements = 3, .stops_early = true}),
        members_(members),
        rule_finder_(members) {
    for (const Graph& graph : members.graphs)
      placements_.push_back(PlacementOf(graph, members.options.residency, members.model.target()));
    family_.cycles.resize(grid().members());
  }

  absl::StatusOr<std::optional<PlanFamily>> Find() && {
    const absl::StatusOr<bool> found = RegionFinder::Find();
    if (!found.ok()) return found.status();
    if (!*found) return std::nullopt;
    std::sort(family_.regions.begin(), family_.regions.end(),
              [](const PlanRegion& a, const PlanRegion& b) { return a.members < b.members; });
    return std::move(family_);
  }

 private:
  // A plan for any size, and the corners of the box of members that it serves.
  struct Rule {
    std::unique_ptr<SymbolicPlan> plan;
    size_t first, last;  // corners of what it serves; there is code for all between them
  };

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
  std::vector<size_t> Ladder(size_t dim) const override {
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
        size = rule_finder_.Representative(shared.kind, size);
        size_t i = ladder.back();
        while (i > first && shared.size.values[i] > size) --i;
        if (i < ladder.back()) ladder.push_back(i);
      }
      end = first;
    }
    return ladder;
  }

  // Returns false also if no rule serves several members.
  absl::StatusOr<bool> ServeAll() override {
    for (size_t member = grid().members(); member-- > 0;)
      if (absl::StatusOr<bool> served = Serve(member); !served.ok() || !*served) return served;
    return SharesAnywhere();
  }

  // Searches for the member only if no rule serves it yet: first as usual, then among plans of other forms.
  absl::StatusOr<bool> Serve(size_t member) {
    if (costs_.Least(member) < RuleCosts::kNone) return true;
    if (absl::Status status = Improve(member); !status.ok()) return status;
    if (costs_.Least(member) < RuleCosts::kNone) return true;
    if (absl::Status status = Add(member, rule_finder_.FindOthers(SizesOf(member))); !status.ok())
      return status;
    return costs_.Least(member) < RuleCosts::kNone;
  }

  absl::Status Search(size_t member, double cutoff) override {
    return Add(member, rule_finder_.Find(SizesOf(member), cutoff));
  }

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

  // The region gets the plan with the family's graph for the largest member, and with its sizes.
  bool AddRegion(const RuleCosts::Share& share) override {
    PlanRegion region{share.members, BuildPlan(rules_[share.rule], share)};
    region.plan.graph = CanonicalGraph(members_.graphs[share.last]);
    SetSizes(LeastServed(share.first), SizesOf(share.last), &region.plan);
    for (size_t member : share.members) family_.cycles[member] = costs_.cost(share.rule, member);
    region.plan.cycles = family_.cycles[share.members.back()];
    family_.regions.push_back(std::move(region));
    return true;
  }

  absl::StatusOr<bool> AddOwnRegion(size_t /*member*/) override {
    KIRSCH_CHECK(false);  // as ServeAll found a rule for each
    return false;
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
  const PlanRuleFinder rule_finder_;
  std::vector<Level> placements_;  // of each member's operands
  std::vector<Rule> rules_;        // those of `costs_`
  PlanFamily family_;
};

}  // namespace

absl::StatusOr<std::optional<PlanFamily>> FindPlanRegions(const PlanMembers& members) {
  return PlanRegionFinder(members).Find();
}

}  // namespace kirsch
