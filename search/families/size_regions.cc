// SPDX-License-Identifier: Apache-2.0
#include "search/families/size_regions.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "search/families/symbolic_schedule.h"
#include "spec/check.h"

namespace kirsch {
namespace {

// Of reductions, those of solved neighbours are at most so many times as long. What is copied into a cache
// fits for some lengths only, and what suits the ends of a line may suit nothing between them.
constexpr double kMostApart = 16;

// A solved member's decisions, for any size.
struct Rule {
  size_t member;
  std::shared_ptr<SymbolicSchedule> decisions;
};

// Members first .. last, which differ in their size along `dim` only. `rules` are those of all groups so far.
class SizeGroup {
 public:
  SizeGroup(absl::Span<const Spec> roots, size_t dim, size_t first, size_t last, const CostModel& model,
            const SolveSize& solve, std::vector<Rule>* rules, SizeFamily* family)
      : roots_(roots),
        dim_(dim),
        first_(first),
        last_(last),
        model_(model),
        solve_(solve),
        rules_(*rules),
        family_(*family),
        costs_(first, last, [roots, dim](size_t member) { return roots[member].size[dim]; }) {}

  absl::Status Find() {
    for (const Rule& rule : rules_) AddCandidate(rule);
    if (absl::Status solved = Solve(last_); !solved.ok()) return solved;
    if (first_ < last_)
      if (absl::Status solved = Solve(first_); !solved.ok()) return solved;
    const double most_apart = dim_ == MatmulDims::kK ? kMostApart : RuleCosts::kNone;
    const auto solve = [&](size_t member) { return Solve(member); };
    if (absl::Status refined = costs_.Refine(first_, last_, most_apart, solve); !refined.ok()) return refined;
    if (absl::Status solved = SolveJumps(); !solved.ok()) return solved;
    for (size_t next = first_; next <= last_; next = family_.regions.back().last + 1) AddRegion(next);
    return absl::OkStatus();
  }

 private:
  // A rule of another group may have no program for any member, and so none to apply.
  void AddCandidate(const Rule& rule) {
    std::vector<double> costs;
    for (size_t i = first_; i <= last_; ++i) {
      const Cost cost = rule.decisions->Price(roots_[i]);
      costs.push_back(cost < kInfiniteCost ? static_cast<double>(cost) : RuleCosts::kNone);
    }
    const auto serves = [](double cost) { return cost < RuleCosts::kNone; };
    if (std::none_of(costs.begin(), costs.end(), serves)) return;
    if (!rule.decisions->ApplyToRange(roots_[first_], roots_[last_])) return;
    candidates_.push_back(rule);
    costs_.Add(std::move(costs));
  }

  // Finds out the member's own program, unless it is proven to be little better than the best one known.
  absl::Status Solve(size_t member) {
    const double least = costs_.Least(member);
    const Cost cutoff =
        least < RuleCosts::kNone ? static_cast<Cost>(least / (1 + kLossNotSearched)) + 1 : kInfiniteCost;
    absl::StatusOr<SolvedSize> solved = solve_(member, cutoff);
    if (!solved.ok()) return solved.status();
    SizeMember& known = family_.members[member];
    if (solved->cost >= cutoff) {  // the same whether it came out of a table or there is none
      known.bound = std::min(cutoff, solved->bound);
      return absl::OkStatus();
    }
    known.best = known.bound = solved->cost;
    known.program = solved->program;
    costs_.SetOwn(member, static_cast<double>(solved->cost));
    AddRule(member, {});
    // Of rows, what is left has register tiles that are chosen for it.
    if (dim_ == MatmulDims::kN && LeavesRest(known.program, dim_)) AddRule(member, {.own_rest = true});
    return absl::OkStatus();
  }

  void AddRule(size_t member, const SymbolicScheduleOptions& choice) {
    rules_.push_back(
        {member, std::make_shared<SymbolicSchedule>(family_.members[member].program, dim_, model_, choice)});
    AddCandidate(rules_.back());
  }

  // The costs of longer reductions rise evenly, as no register tiles are filled: where those of the best
  // rules jump as one comes to its end, by more than a member may lose, there may be another one.
  absl::Status SolveJumps() {
    if (dim_ != MatmulDims::kK) return absl::OkStatus();
    for (size_t i = first_; i + 1 < last_; ++i) {
      const double even = Size(i + 1) / Size(i) * costs_.Least(i);
      if (costs_.Least(i + 1) <= (1 + kMostLoss) * even || !Ends(i)) continue;
      if (absl::Status solved = Solve(i + 1); !solved.ok()) return solved;
    }
    return absl::OkStatus();
  }

  double Size(size_t member) const { return roots_[member].size[dim_]; }

  // Is the best program known of the member that of a rule which makes none of the next one?
  bool Ends(size_t member) const {
    for (size_t rule = 0; rule < candidates_.size(); ++rule)
      if (costs_.cost(rule, member) == costs_.Least(member) &&
          costs_.cost(rule, member + 1) == RuleCosts::kNone)
        return true;
    return false;
  }

  // What a member's program loses against its own, as far as that is known. Of a search that was stopped the
  // bound may say less than the best program does.
  double Loss(double cost, size_t member) const {
    const double least = costs_.Least(member), bound = static_cast<double>(family_.members[member].bound);
    return cost / (least > (1 + kMostLoss) * bound ? least : bound) - 1;
  }

  void AddRegion(size_t next) {
    const auto reach = costs_.Furthest(next, [&](double cost, size_t member) { return Loss(cost, member); });
    if (!reach) return AddOwnRegion(next);
    const Rule& rule = candidates_[reach->rule];
    const size_t last = reach->last;
    const std::unique_ptr<SymbolicSchedule> decisions = WithLittleCode(*rule.decisions, next, last);
    family_.regions.push_back(
        {next, last, *decisions->ApplyToRange(roots_[next], roots_[last]), rule.member});
    for (size_t i = next; i <= last; ++i) {
      family_.members[i].program = decisions->Apply(roots_[i]);
      family_.members[i].cost = decisions->Price(roots_[i]);
    }
  }

  // The same decisions with as little code as may be. The tallest register tile stays; the taller of the
  // others go first, as they are the most code.
  std::unique_ptr<SymbolicSchedule> WithLittleCode(const SymbolicSchedule& decisions, size_t first,
                                                   size_t last) const {
    SymbolicScheduleOptions choice = decisions.choice();
    auto least = std::make_unique<SymbolicSchedule>(decisions.program(), dim_, model_, choice);
    if (dim_ == MatmulDims::kK) return least;  // nothing is left of register tiles
    const auto try_choice = [&](const SymbolicScheduleOptions& less) {
      auto tried = std::make_unique<SymbolicSchedule>(decisions.program(), dim_, model_, less);
      if (!Serves(*tried, first, last)) return;
      if (!tried->ApplyToRange(roots_[first], roots_[last])) return;  // what is left of other sizes
      choice = less;
      if (dim_ == MatmulDims::kM) choice.heights = Heights(*tried, first, last);
      least = std::move(tried);
    };
    if (dim_ == MatmulDims::kN) {
      SymbolicScheduleOptions whole = choice;
      whole.narrow_vectors = false;
      try_choice(whole);
    }
    SymbolicScheduleOptions shared_out = choice;
    shared_out.min_tail_tiles = 0;
    try_choice(shared_out);
    if (dim_ != MatmulDims::kM) return least;
    choice.heights = Heights(*least, first, last);
    for (int height = std::bit_width(choice.heights) - 2; height > 0; --height) {
      SymbolicScheduleOptions less = choice;
      less.heights &= ~(TileHeights{1} << height);
      if (less.heights != choice.heights) try_choice(less);
    }
    return least;
  }

  TileHeights Heights(SymbolicSchedule& decisions, size_t first, size_t last) const {
    TileHeights heights = 0;
    for (size_t i = first; i <= last; ++i) heights |= decisions.HeightsOf(roots_[i]);
    return heights;
  }

  bool Serves(SymbolicSchedule& decisions, size_t first, size_t last) const {
    for (size_t i = first; i <= last; ++i)
      if (Loss(static_cast<double>(decisions.Price(roots_[i])), i) > kMostLoss) return false;
    return true;
  }

  // Of a member that nothing serves as well as its own program.
  void AddOwnRegion(size_t number) {
    SizeMember& member = family_.members[number];
    KIRSCH_CHECK(member.best.has_value());
    member.cost = *member.best;
    family_.regions.push_back({number, number, member.program, number});
  }

  const absl::Span<const Spec> roots_;
  const size_t dim_;
  const size_t first_, last_;
  const CostModel& model_;
  const SolveSize& solve_;
  std::vector<Rule>& rules_;
  SizeFamily& family_;
  std::vector<Rule> candidates_;  // those with programs for any size
  RuleCosts costs_;               // of the candidates
};

}  // namespace

absl::StatusOr<SizeFamily> FindSizeRegions(absl::Span<const Spec> placed_roots, size_t dim,
                                           const CostModel& model, const SolveSize& solve) {
  SizeFamily family;
  std::vector<Rule> rules;
  family.members.resize(placed_roots.size());
  for (size_t first = 0; first < placed_roots.size();) {
    size_t last = first;
    while (last + 1 < placed_roots.size() &&
           DifferInSizeOnly(placed_roots[last + 1], placed_roots[first], dim))
      ++last;
    SizeGroup group(placed_roots, dim, first, last, model, solve, &rules, &family);
    if (absl::Status found = group.Find(); !found.ok()) return found;
    first = last + 1;
  }
  return family;
}

}  // namespace kirsch
