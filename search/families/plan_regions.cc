// SPDX-License-Identifier: Apache-2.0
#include "search/families/plan_regions.h"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <utility>

#include "rewrites/graph/canonical_graph.h"
#include "search/families/little_code.h"
#include "search/families/plan_rules.h"
#include "search/families/region_finder.h"
#include "search/graph/group_levels.h"
#include "spec/check.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

std::vector<std::vector<double>> ValuesOf(absl::Span<const VaryingSize> sizes) {
  std::vector<std::vector<double>> values;
  for (const VaryingSize& size : sizes) values.emplace_back(size.values.begin(), size.values.end());
  return values;
}

class PlanRegionFinder : private RegionFinder {
 public:
  explicit PlanRegionFinder(const PlanMembers& members)
      : RegionFinder(ValuesOf(members.sizes), {.in_boxes = false, .improvements = 3}),
        members_(members),
        rule_finder_(members) {
    for (const Graph& graph : members.graphs)
      placements_.push_back(PlacementOf(graph, members.options.residency, members.model.target()));
    family_.cycles.resize(grid().members());
  }

  absl::StatusOr<std::optional<PlanFamily>> Find() && {
    KIRSCH_ASSIGN_OR_RETURN(const bool found, RegionFinder::Find());
    if (!found) return std::nullopt;
    std::sort(family_.regions.begin(), family_.regions.end(),
              [](const PlanRegion& a, const PlanRegion& b) { return a.members < b.members; });
    return std::move(family_);
  }

 private:
  // A plan for any size, and the corners of the box of members that it serves.
  struct Rule {
    std::unique_ptr<SymbolicPlan> plan;
    Level placement;
    size_t first, last;  // corners of what it serves; there is code for all between them
  };

  // The point for sizes that are `value(size, index)` for each dim.
  template <typename Value>
  SymbolValues PointOf(size_t member, const Value& value) const {
    const SizeGrid::Place place = grid().At(member);
    std::vector<uint32_t> values;
    for (size_t dim = 0; dim < grid().dims(); ++dim) values.push_back(value(members_.sizes[dim], place[dim]));
    return members_.PointOf(values);
  }
  SymbolValues SizesOf(size_t member) const {
    return PointOf(member, [](const VaryingSize& size, size_t i) { return size.values[i]; });
  }
  // The smallest sizes that a member's plan must serve: samples stand for the values below them, too.
  SymbolValues LeastServed(size_t member) const {
    return PointOf(member, [](const VaryingSize& size, size_t i) { return size.LeastServed(i); });
  }

  // The number that a size is part of, if possible of that one alone.
  const PlanNumber& NumberOf(size_t dim) const {
    const auto of = [&](const PlanNumber& number) { return number.sum.Has(dim); };
    const auto own = std::find_if(members_.numbers.begin(), members_.numbers.end(),
                                  [&](const auto& number) { return number.sum == SizeSum(dim); });
    return own != members_.numbers.end() ? *own : *std::find_if(members_.numbers.begin(), own, of);
  }

  // The numbers to search a plan for, so that its rules serve the member. Keys that are a sum of sizes are as
  // many as they are: blocks of keys may leave none, and such a plan would say nothing of what is left. So it
  // is searched for the next number of keys that suits rules, if strides leave room for so many.
  SymbolValues PlannedFor(size_t member) const {
    SymbolValues point = SizesOf(member);
    const PlanNumber* const keys = members_.number(SizeSymbol::kKeys);
    if (keys == nullptr || (keys->sum.sizes.size() <= 1 && keys->sum.plus == 0)) return point;
    SymbolValues next = point;
    next[SizeSymbol::kKeys] = rule_finder_.NextRepresentative(point[SizeSymbol::kKeys]);
    return members_.graph_of(next) ? next : point;
  }

  // The values of one size that are searched first, descending; the other sizes are at their most. For each
  // placement these are the last value and representatives, each with about a fourth of the value before it.
  //
  // Example: 1 .. 256 with one placement gives about 256, 64, 16, 4, 1.
  std::vector<size_t> Ladder(size_t dim) const override {
    const std::vector<uint32_t>& values = members_.sizes[dim].values;
    const SizeSymbol symbol = NumberOf(dim).symbol;
    // How much the number is above the size itself.
    const int64_t more = SizesOf(grid().members() - 1)[symbol] - values.back();
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
      for (int64_t size = values[end - 1]; ladder.back() > first; size /= 4) {
        size = rule_finder_.Representative(symbol, size + more) - more;
        size_t i = ladder.back();
        while (i > first && values[i] > size) --i;
        if (i < ladder.back()) ladder.push_back(i);
      }
      end = first;
    }
    return ladder;
  }

  // Returns false also if no rule serves several members.
  absl::StatusOr<bool> ServeAll() override {
    KIRSCH_RETURN_IF_ERROR(ServePlacements());
    for (size_t member = grid().members(); member-- > 0;)
      if (absl::StatusOr<bool> served = Serve(member); !served.ok() || !*served) return served;
    return SharesAnywhere();
  }

  // Members of one placement may be in no box: operands of an attention are in L2 where q + t <= 42. A plan
  // serves no more rows and keys than it was searched for, so no member's plan serves all of them. So plans
  // are searched for places in the box around them, too, as if operands were still there.
  absl::Status ServePlacements() {
    std::map<Level, std::vector<size_t>> placed;
    for (size_t member = 0; member < grid().members(); ++member)
      placed[placements_[member]].push_back(member);
    for (const auto& [level, members] : placed) {
      const auto [low, high] = grid().Around(members);
      if (placements_[high] == level) continue;
      for (const size_t place : MembersAt(LaddersOf(grid().At(low), grid().At(high))))
        KIRSCH_RETURN_IF_ERROR(placements_[place] == level ? Improve(place) : ImproveAs(level, place));
    }
    return absl::OkStatus();
  }

  // In each size the last place, that with a fourth of its number, and so on.
  static std::vector<std::vector<size_t>> LaddersOf(const SizeGrid::Place& low, const SizeGrid::Place& high) {
    std::vector<std::vector<size_t>> ladders(low.size());
    for (size_t dim = 0; dim < low.size(); ++dim) {
      for (size_t i = high[dim]; i > low[dim]; i /= 4) ladders[dim].push_back(i);
      ladders[dim].push_back(low[dim]);
    }
    return ladders;
  }

  // Searches for a plan of a member's sizes that is better than those of the placement, though the member has
  // another one.
  absl::Status ImproveAs(Level placement, size_t member) {
    if (Stopped()) return absl::OkStatus();
    const SymbolValues point = PlannedFor(member);
    double least = RuleCosts::kNone;
    for (const Rule& rule : rules_)
      if (rule.placement == placement) least = std::min(least, rule.plan->CyclesFor(point));
    return Add(member, placement, rule_finder_.Find(point, placement, least / (1 + kLossNotSearched)));
  }

  // Searches for the member only if no rule serves it yet: first as usual, then among plans of other forms.
  absl::StatusOr<bool> Serve(size_t member) {
    if (costs_.Least(member) < RuleCosts::kNone) return true;
    KIRSCH_RETURN_IF_ERROR(Improve(member));
    if (costs_.Least(member) < RuleCosts::kNone) return true;
    const Level placement = placements_[member];
    KIRSCH_RETURN_IF_ERROR(Add(member, placement, rule_finder_.FindOthers(PlannedFor(member), placement)));
    return costs_.Least(member) < RuleCosts::kNone;
  }

  bool Stopped() const override { return members_.stopped && members_.stopped(); }

  absl::Status Search(size_t member, double cutoff) override {
    const Level placement = placements_[member];
    return Add(member, placement, rule_finder_.Find(PlannedFor(member), placement, cutoff));
  }

  // Adds the rules of the member's plans. They are for members with its placement only.
  absl::Status Add(size_t member, Level placement, absl::StatusOr<PlanRuleFinder::Rules> rules) {
    if (!rules.ok()) return rules.status();
    for (std::unique_ptr<SymbolicPlan>& plan : *rules) {
      std::vector<double> cycles(grid().members(), RuleCosts::kNone);
      std::vector<size_t> placed, served;
      for (size_t i = 0; i < cycles.size(); ++i) {
        // A plan for some number of rows may have no code for fewer.
        if (placements_[i] != placement || !plan->FitsLeast(LeastServed(i))) continue;
        placed.push_back(i);
        cycles[i] = plan->CyclesFor(SizesOf(i));
        if (cycles[i] < RuleCosts::kNone) served.push_back(i);
      }
      if (served.empty()) continue;
      auto [low, last] = grid().Around(served);
      if (!plan->FitsMost(SizesOf(last))) last = LastThatFits(*plan, member);
      const std::optional<size_t> first = FirstWithCode(*plan, grid().Around(placed).first, low, last);
      if (!first) continue;
      // Members outside of the corners have no code by this rule.
      for (size_t i : served)
        if (!grid().IsBetween(*first, i) || !grid().IsBetween(i, last)) cycles[i] = RuleCosts::kNone;
      rules_.push_back({std::move(plan), placement, *first, last});
      costs_.Add(std::move(cycles));
    }
    return absl::OkStatus();
  }

  // Finds the last corner of a box of members that the rule serves, where those that it serves are in no box:
  // as where keys are a sum of sizes, and their number has a limit. It is the largest from the member on that
  // the plan was searched for, the last size growing first.
  size_t LastThatFits(const SymbolicPlan& plan, size_t member) const {
    std::vector<size_t> order(dims());
    std::iota(order.rbegin(), order.rend(), 0);
    return grid().Index(
        grid().Grow(grid().At(member), order, [&](size_t other) { return plan.FitsMost(SizesOf(other)); }));
  }

  // Finds the first corner of the members that a rule has code for, up to `last`. It tries `placed`, then
  // `low`, and then members that are further and further up: some decisions have no code for few rows and
  // keys.
  std::optional<size_t> FirstWithCode(SymbolicPlan& plan, size_t placed, size_t low, size_t last) const {
    const auto has_code = [&](size_t first) { return RangeOf(plan, first, last).has_value(); };
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
    const std::unique_ptr<SymbolicPlan> least = WithLittleCode(share);
    SymbolicPlan& rule = least != nullptr ? *least : *rules_[share.rule].plan;
    PlanRegion region{share.members, BuildPlan(rule, rules_[share.rule], share)};
    region.plan.graph = CanonicalGraph(members_.graphs[share.last]);
    SetSymbols(LeastServed(share.first), SizesOf(share.last), &region.plan);
    for (size_t member : share.members) family_.cycles[member] = rule.CyclesFor(SizesOf(member));
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
  Plan BuildPlan(SymbolicPlan& decisions, const Rule& rule, const RuleCosts::Share& share) const {
    std::optional<Plan> plan = RangeOf(decisions, share.first, share.last);
    if (!plan) plan = RangeOf(decisions, rule.first, rule.last);
    return *std::move(plan);
  }

  // One plan for all members of a box, and for the sizes between them. Nothing if the rule has none.
  std::optional<Plan> RangeOf(SymbolicPlan& plan, size_t first, size_t last) const {
    return plan.ApplyToRange(LeastServed(first), SizesOf(last));
  }

  // The same rule with as little code as the members allow; null: it has no code for just these members, see
  // BuildPlan.
  std::unique_ptr<SymbolicPlan> WithLittleCode(const RuleCosts::Share& share) const {
    const SymbolicPlan& plan = *rules_[share.rule].plan;
    const std::vector<size_t> members = ByLoss(share);
    std::unique_ptr<SymbolicPlan> least;
    const auto keep = [&](const SymbolicScheduleOptions& choice) {
      std::unique_ptr<SymbolicPlan> tried = plan.With(choice);
      if (!Serves(*tried, members) || !RangeOf(*tried, share.first, share.last)) return false;
      least = std::move(tried);
      return true;
    };
    if (!keep(plan.choice())) return nullptr;
    LeaveOutCode({.rows = members_.number(SizeSymbol::kRows) != nullptr,
                  .columns = members_.number(SizeSymbol::kKeys) != nullptr},
                 plan.choice(), keep, [&] { return least->heights(); });
    return least;
  }

  // True if no member loses more than kMostLoss.
  bool Serves(SymbolicPlan& plan, const std::vector<size_t>& members) const {
    return std::all_of(members.begin(), members.end(), [&](size_t member) {
      return costs_.Loss(plan.CyclesFor(SizesOf(member)), member) <= kMostLoss;
    });
  }

  // Names the plan's symbols, in the order of the members' numbers.
  void SetSymbols(const SymbolValues& least, const SymbolValues& most, Plan* plan) const {
    std::vector<SymbolRange> symbols;
    for (const PlanNumber& number : members_.numbers) {
      const SizeSymbol symbol = number.symbol;
      if (plan->Find(symbol) == nullptr) continue;
      const char* const name = symbol == SizeSymbol::kRows   ? "n_rows"
                               : symbol == SizeSymbol::kKeys ? "n_keys"
                                                             : "n_columns";
      symbols.push_back({FreeName(name), least[symbol], most[symbol], symbol});
    }
    plan->symbols = std::move(symbols);
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

const PlanNumber* PlanMembers::number(SizeSymbol symbol) const {
  const auto found = std::find_if(numbers.begin(), numbers.end(),
                                  [symbol](const PlanNumber& number) { return number.symbol == symbol; });
  return found == numbers.end() ? nullptr : &*found;
}

SymbolValues PlanMembers::PointOf(absl::Span<const uint32_t> values) const {
  SymbolValues point;
  for (const PlanNumber& number : numbers) point[number.symbol] = number.sum.Of(values);
  return point;
}

absl::StatusOr<std::optional<PlanFamily>> FindPlanRegions(const PlanMembers& members) {
  return PlanRegionFinder(members).Find();
}

}  // namespace kirsch
