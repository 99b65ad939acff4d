// SPDX-License-Identifier: Apache-2.0
#include "search/families/plan_regions.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "rewrites/graph/canonical_graph.h"
#include "search/families/rule_costs.h"
#include "search/graph/group_levels.h"
#include "spec/check.h"

namespace kirsch {
namespace {

class RegionSolver {
 public:
  RegionSolver(const PlanMembers& members, std::string_view name, RuleFinder& finder)
      : members_(members), name_(name), finder_(finder) {}

  absl::StatusOr<std::optional<PlanFamily>> Find() && {
    const size_t count = members_.graphs.size();
    family_.cycles.resize(count);
    for (size_t first = 0, end = 0; first < count; first = end) {
      while (end < count && PlacementAt(end) == PlacementAt(first)) ++end;
      const absl::StatusOr<bool> served = FindPart(first, end - 1);
      if (!served.ok()) return served.status();
      if (!*served) return std::nullopt;
    }
    return std::move(family_);
  }

 private:
  Level PlacementAt(size_t member) const {
    return PlacementOf(members_.graphs[member], members_.options.residency, members_.model.target());
  }
  int64_t SizeOf(size_t member) const { return members_.SizeOf(member); }

  // Members whose operands have the same placement. False: no rules serve some of them.
  absl::StatusOr<bool> FindPart(size_t first, size_t last) {
    first_ = first;
    last_ = last;
    rules_.clear();
    std::vector<double> sizes;
    for (size_t member = first; member <= last; ++member)
      sizes.push_back(static_cast<double>(SizeOf(member)));
    costs_.emplace(std::vector<std::vector<double>>{std::move(sizes)}, /*in_boxes=*/false);
    improved_.clear();
    const std::vector<size_t> ladder = Ladder();
    for (size_t member : ladder)
      if (absl::StatusOr<bool> solved = Solve(member); !solved.ok() || !*solved) return solved;
    const auto serves_more = [](const std::shared_ptr<PlanRule>& rule) {
      return rule->least() < rule->most();
    };
    if (first < last && std::none_of(rules_.begin(), rules_.end(), serves_more)) return false;
    for (size_t i = last - first + 1; i-- > 0;) {
      if (Least(first + i) < RuleCosts::kNone) continue;
      if (absl::StatusOr<bool> any = Add(finder_.FindOthers(first + i)); !any.ok()) return any;
      if (Least(first + i) == RuleCosts::kNone) return false;
    }
    const auto improve = [&](size_t of_part) { return Improve(first + of_part); };
    for (size_t i = 1; i < ladder.size(); ++i)
      if (absl::Status status =
              costs_->Refine(ladder[i] - first, ladder[i - 1] - first, RuleCosts::kNone, improve);
          !status.ok())
        return status;
    if (absl::Status status = AddRegions(); !status.ok()) return status;
    return true;
  }

  // The last of the part, and representatives, each with about a fourth of those before it.
  std::vector<size_t> Ladder() const {
    std::vector<size_t> members = {last_};
    for (int64_t size = SizeOf(last_); members.back() > first_; size /= 4) {
      size = finder_.Representative(size);
      size_t member = members.back();
      while (member > first_ && SizeOf(member) > size) --member;
      if (member < members.back()) members.push_back(member);
    }
    return members;
  }

  // False: there is no plan that is a rule.
  absl::StatusOr<bool> Solve(size_t member) {
    const size_t before = rules_.size();
    if (absl::StatusOr<bool> any = Add(finder_.Find(member, RuleCosts::kNone)); !any.ok()) return any;
    return rules_.size() > before ? absl::StatusOr<bool>(true) : Add(finder_.FindOthers(member));
  }

  // False: there are none.
  absl::StatusOr<bool> Add(absl::StatusOr<RuleFinder::Rules> rules) {
    if (!rules.ok()) return rules.status();
    for (std::shared_ptr<PlanRule>& rule : *rules) {
      if (!rule->ApplyToRange(LeastOf(*rule), MostOf(*rule))) continue;
      std::vector<double> cycles;
      for (size_t i = first_; i <= last_; ++i)
        cycles.push_back(members_.LeastServed(i) < rule->least() ? RuleCosts::kNone
                                                                 : rule->CyclesFor(SizeOf(i)));
      rules_.push_back(std::move(rule));
      costs_->Add(std::move(cycles));
    }
    return !rules->empty();
  }

  // Of the best plan that is known.
  double Least(size_t member) const { return costs_->Least(member - first_); }

  int64_t LeastOf(const PlanRule& rule) const { return std::max(members_.LeastServed(first_), rule.least()); }
  int64_t MostOf(const PlanRule& rule) const { return std::min(SizeOf(last_), rule.most()); }

  // Searches for a plan for the member that is more than kLossNotSearched better than those known.
  absl::Status Improve(size_t member) {
    if (!improved_.insert(member).second) return absl::OkStatus();
    return Add(finder_.Find(member, Least(member) / (1 + kLossNotSearched))).status();
  }

  // Where the first, a middle or the last member of a region has a better plan than any that is known,
  // regions are found anew, a few times.
  absl::Status AddRegions() {
    constexpr int kMostTimes = 3;
    const auto loss = [&](double cycles, size_t of_part) { return cycles / costs_->Least(of_part) - 1; };
    std::vector<RuleCosts::Share> shares;
    size_t known = 0;
    for (int time = 0; time <= kMostTimes && known < rules_.size(); ++time) {
      known = rules_.size();
      shares = costs_->Cover(loss);
      if (time == kMostTimes) break;
      for (const RuleCosts::Share& share : shares)
        for (size_t of_part : {share.members.front(), Middle(share), share.members.back()})
          if (absl::Status status = Improve(first_ + of_part); !status.ok()) return status;
    }
    for (const RuleCosts::Share& share : shares) AddRegion(share);
    return absl::OkStatus();
  }

  size_t Middle(const RuleCosts::Share& share) const {
    const size_t between = costs_->Between(share.first, share.last);
    return *std::lower_bound(share.members.begin(), share.members.end(), between);
  }

  void AddRegion(const RuleCosts::Share& share) {
    const size_t first = first_ + share.first, last = first_ + share.last;
    PlanRegion region{{}, BuildPlan(*rules_[share.rule], first, last)};
    region.plan.graph = CanonicalGraph(members_.graphs[last]);
    if (region.plan.size) {
      region.plan.size->name = FreeName();
      region.plan.size->least = members_.LeastServed(first);
      region.plan.size->most = SizeOf(last);
    }
    for (size_t of_part : share.members) {
      region.members.push_back(first_ + of_part);
      family_.cycles[first_ + of_part] = costs_->cost(share.rule, of_part);
    }
    region.plan.cycles = family_.cycles[last];
    family_.regions.push_back(std::move(region));
  }

  // There is code for all sizes of a rule (Add), and perhaps none for some of them: what is left of these may
  // be of another form.
  Plan BuildPlan(PlanRule& rule, size_t first, size_t last) const {
    std::optional<Plan> plan = rule.ApplyToRange(members_.LeastServed(first), SizeOf(last));
    if (!plan) plan = rule.ApplyToRange(LeastOf(rule), MostOf(rule));
    return *std::move(plan);
  }

  std::string FreeName() const {
    std::string name(name_);
    const auto taken = [&](const GraphNode& node) {
      return node.op == Operation::kInput && node.text == name;
    };
    const std::vector<GraphNode>& nodes = members_.graphs[0].nodes;
    while (std::any_of(nodes.begin(), nodes.end(), taken)) name += "_";
    return name;
  }

  const PlanMembers& members_;
  const std::string_view name_;
  RuleFinder& finder_;
  PlanFamily family_;
  // Of the part whose regions are being found.
  size_t first_ = 0, last_ = 0;
  RuleFinder::Rules rules_;
  std::optional<RuleCosts> costs_;  // of the rules and the part, in cycles
  std::set<size_t> improved_;       // members that Improve was asked about
};

}  // namespace

absl::StatusOr<std::optional<PlanFamily>> FindPlanRegions(const PlanMembers& members, std::string_view name,
                                                          RuleFinder& finder) {
  return RegionSolver(members, name, finder).Find();
}

}  // namespace kirsch
