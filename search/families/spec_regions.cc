// SPDX-License-Identifier: Apache-2.0
#include "search/families/spec_regions.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "search/families/size_rule.h"
#include "spec/check.h"
#include "spec/language/printer.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

// Of reductions, those of solved neighbours are at most so many times as long. What is copied into a cache
// fits for some lengths only, and what suits the ends of a line may suit nothing between them.
constexpr double kMostApart = 16;

// A solved member's decisions, for any size.
struct Rule {
  size_t member;  // of the family
  std::shared_ptr<SizeRule> decisions;
};

// The sizes along the dims.
std::vector<std::vector<double>> SizesAlong(absl::Span<const Spec> roots, const std::vector<size_t>& dims) {
  std::vector<std::vector<double>> sizes;
  for (size_t dim : dims) {
    std::set<double> values;
    for (const Spec& root : roots) values.insert(root.size[dim]);
    sizes.emplace_back(values.begin(), values.end());
  }
  return sizes;
}

// Members that differ in their sizes along the dims. `first`: the family's number of the first one. `rules`
// are those of all groups so far.
class SizeGroup {
 public:
  SizeGroup(absl::Span<const Spec> roots, const std::vector<size_t>& dims, size_t first,
            const CostModel& model, const SolveSize& solve, const LeastServed& least,
            std::vector<Rule>* rules, SizeFamily* family)
      : roots_(roots),
        dims_(dims),
        first_(first),
        model_(model),
        solve_(solve),
        least_(least),
        rules_(*rules),
        family_(*family),
        costs_(SizesAlong(roots, dims), /*in_boxes=*/true),
        taken_(roots.size()) {
    KIRSCH_CHECK(costs_.grid().members() == roots.size());
  }

  absl::Status Find() {
    const size_t known = family_.regions.size();
    for (const Rule& rule : rules_) AddCandidate(rule);
    const auto solve = [&](size_t member) -> absl::StatusOr<bool> {
      if (absl::Status solved = Solve(member); !solved.ok()) return solved;
      return true;
    };
    if (absl::Status solved = costs_.SolveCorners(solve); !solved.ok()) return solved;
    const double most_apart = Varies(MatmulDims::kK) ? kMostApart : RuleCosts::kNone;
    if (absl::Status refined = costs_.Refine(0, roots_.size() - 1, most_apart, solve); !refined.ok())
      return refined;
    if (absl::Status solved = SolveJumps(); !solved.ok()) return solved;
    for (size_t next = 0; next < roots_.size(); ++next)
      while (!taken_[next])
        if (absl::Status added = AddRegion(next); !added.ok()) return added;
    std::sort(family_.regions.begin() + static_cast<std::ptrdiff_t>(known), family_.regions.end(),
              [](const SpecRegion& a, const SpecRegion& b) { return a.members < b.members; });
    return absl::OkStatus();
  }

 private:
  bool Varies(size_t dim) const { return std::find(dims_.begin(), dims_.end(), dim) != dims_.end(); }
  SizeMember& Member(size_t member) { return family_.members[first_ + member]; }
  const SizeMember& Member(size_t member) const { return family_.members[first_ + member]; }

  // A rule of another group may have no program for any member, and so none to apply.
  void AddCandidate(const Rule& rule) {
    std::vector<double> costs;
    for (const Spec& root : roots_) {
      const Cost cost = rule.decisions->Price(root);
      costs.push_back(cost < kInfiniteCost ? static_cast<double>(cost) : RuleCosts::kNone);
    }
    const auto serves = [](double cost) { return cost < RuleCosts::kNone; };
    if (std::none_of(costs.begin(), costs.end(), serves)) return;
    if (!HasCode(*rule.decisions, costs)) return;
    candidates_.push_back(rule);
    costs_.Add(std::move(costs));
  }

  // For some neighbours among those that it makes programs of.
  bool HasCode(SizeRule& decisions, const std::vector<double>& costs) const {
    const SizeGrid& grid = costs_.grid();
    const auto has_price = [&](size_t member) { return costs[member] < RuleCosts::kNone; };
    for (size_t first = 0; first < roots_.size(); ++first) {
      const SizeGrid::Place low = grid.At(first);
      SizeGrid::Place high = low;
      for (size_t dim = 0; dim < grid.dims(); ++dim) high[dim] = std::min(low[dim] + 1, grid.count(dim) - 1);
      if (grid.Every(low, high, has_price)) return RangeOf(decisions, first, grid.Index(high)).has_value();
    }
    return false;
  }

  // Finds out the member's own program, unless it is proven to be little better than the best one known.
  absl::Status Solve(size_t member) {
    const double least = costs_.Least(member);
    const Cost cutoff =
        least < RuleCosts::kNone ? static_cast<Cost>(least / (1 + kLossNotSearched)) + 1 : kInfiniteCost;
    absl::StatusOr<SolvedSize> solved = solve_(first_ + member, cutoff);
    if (!solved.ok()) return solved.status();
    SizeMember& known = Member(member);
    if (solved->cost >= cutoff) {  // the same whether it came out of a table or there is none
      known.bound = std::min(cutoff, solved->bound);
      return absl::OkStatus();
    }
    known.best = known.bound = solved->cost;
    known.program = solved->program;
    costs_.SetOwn(member, static_cast<double>(solved->cost));
    AddRule(member, {});
    const bool leaves_rest = std::any_of(dims_.begin(), dims_.end(), [&](size_t dim) {
      return dim != MatmulDims::kK && LeavesRest(known.program, dim);
    });
    if (leaves_rest) AddRule(member, {.own_rest = true});
    return absl::OkStatus();
  }

  void AddRule(size_t member, const SymbolicScheduleOptions& options) {
    rules_.push_back(
        {first_ + member, std::make_shared<SizeRule>(Member(member).program, dims_, model_, options)});
    AddCandidate(rules_.back());
  }

  // The costs of longer reductions rise evenly, as no register tiles are filled: where those of the best
  // rules jump as one comes to its end, by more than a member may lose, there may be another one.
  absl::Status SolveJumps() {
    if (dims_.size() > 1 || !Varies(MatmulDims::kK)) return absl::OkStatus();
    const auto size = [&](size_t member) { return static_cast<double>(roots_[member].size[MatmulDims::kK]); };
    for (size_t i = 0; i + 2 < roots_.size(); ++i) {
      const double even = size(i + 1) / size(i) * costs_.Least(i);
      if (costs_.Least(i + 1) <= (1 + kMostLoss) * even || !Ends(i)) continue;
      if (absl::Status solved = Solve(i + 1); !solved.ok()) return solved;
    }
    return absl::OkStatus();
  }

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
    const double least = costs_.Least(member), bound = static_cast<double>(Member(member).bound);
    return cost / (least > (1 + kMostLoss) * bound ? least : bound) - 1;
  }

  // Adds a region, of `next` where no other is left; or learns what makes one possible.
  absl::Status AddRegion(size_t next) {
    const auto loss = [&](double cost, size_t member) { return Loss(cost, member); };
    if (const auto share = costs_.Largest(taken_, loss)) return AddShare(*share), absl::OkStatus();
    return Member(next).best ? AddOwnRegion(next) : Solve(next);
  }

  // Halves the share until there is a program for its box.
  void AddShare(RuleCosts::Share share) {
    for (;;) {
      const std::unique_ptr<SizeRule> decisions = WithLittleCode(share);
      if (std::optional<Impl> range = RangeOf(*decisions, share.first, share.last))
        return AddRegionOf(share.members, *decisions, candidates_[share.rule].member, *std::move(range));
      if (share.members.size() == 1) return costs_.Forget(share.rule, share.first);
      share.members.resize(share.members.size() / 2);
      std::tie(share.first, share.last) = costs_.grid().Around(share.members);
    }
  }

  void AddRegionOf(const std::vector<size_t>& members, SizeRule& decisions, size_t representative,
                   Impl range) {
    SpecRegion region{{}, std::move(range), representative};
    for (size_t member : members) {
      Member(member).program = decisions.Apply(roots_[member]);
      Member(member).cost = decisions.Price(roots_[member]);
      taken_[member] = true;
      region.members.push_back(first_ + member);
    }
    family_.regions.push_back(std::move(region));
  }

  // The same decisions with as little code as may be. The tallest register tile stays; the taller of the
  // others go first, as they are the most code.
  std::unique_ptr<SizeRule> WithLittleCode(const RuleCosts::Share& share) const {
    const SizeRule& decisions = *candidates_[share.rule].decisions;
    const std::vector<size_t> members = ByLoss(share);
    SymbolicScheduleOptions options = decisions.options();
    const auto make = [&](const SymbolicScheduleOptions& some) {
      return std::make_unique<SizeRule>(decisions.program(), dims_, model_, some);
    };
    std::unique_ptr<SizeRule> least = make(options);
    const bool rows = Varies(MatmulDims::kM);
    if (!rows && Varies(MatmulDims::kK)) return least;  // nothing is left of register tiles
    const auto try_options = [&](const SymbolicScheduleOptions& less) {
      std::unique_ptr<SizeRule> tried = make(less);
      if (!Serves(*tried, members)) return;
      // What is left of other sizes may have no code.
      if (!RangeOf(*tried, share.first, share.last)) return;
      options = less;
      if (rows) options.heights = Heights(*tried, members);
      least = std::move(tried);
    };
    if (Varies(MatmulDims::kN)) {
      SymbolicScheduleOptions whole = options;
      whole.narrow_vectors = false;
      try_options(whole);
    }
    SymbolicScheduleOptions shared_out = options;
    shared_out.min_tail_tiles = 0;
    try_options(shared_out);
    if (!rows) return least;
    options.heights = Heights(*least, members);
    for (int height = std::bit_width(options.heights) - 2; height > 0; --height) {
      SymbolicScheduleOptions less = options;
      less.heights &= ~(TileHeights{1} << height);
      if (less.heights != options.heights) try_options(less);
    }
    return least;
  }

  // Those that lose most first, which other decisions serve least.
  std::vector<size_t> ByLoss(const RuleCosts::Share& share) const {
    std::vector<size_t> members = share.members;
    const auto loss = [&](size_t member) { return Loss(costs_.cost(share.rule, member), member); };
    std::stable_sort(members.begin(), members.end(), [&](size_t a, size_t b) { return loss(a) > loss(b); });
    return members;
  }

  TileHeights Heights(SizeRule& decisions, const std::vector<size_t>& members) const {
    TileHeights heights = 0;
    for (size_t member : members) heights |= decisions.HeightsOf(roots_[member]);
    return heights;
  }

  bool Serves(SizeRule& decisions, const std::vector<size_t>& members) const {
    return std::all_of(members.begin(), members.end(), [&](size_t member) {
      return Loss(static_cast<double>(decisions.Price(roots_[member])), member) <= kMostLoss;
    });
  }

  // The root, or what is the least of all that is served as it is.
  Spec LeastRoot(size_t member) const {
    Spec least = roots_[member];
    for (size_t dim : dims_) least = Resized(least, dim, least_(dim, least.size[dim]));
    return least;
  }

  // One program for the members of a box.
  std::optional<Impl> RangeOf(SizeRule& decisions, size_t first, size_t last) const {
    return decisions.ApplyToRange(LeastRoot(first), roots_[last]);
  }

  // Of a member that nothing serves as well as its own program. Sizes below it that nobody looks at need one
  // that serves them, too: the cheapest there is.
  absl::Status AddOwnRegion(size_t member) {
    SizeMember& own = Member(member);
    KIRSCH_CHECK(own.best.has_value());
    if (LeastRoot(member) != roots_[member]) return AddCheapestRegion(member);
    own.cost = *own.best;
    taken_[member] = true;
    family_.regions.push_back({{first_ + member}, own.program, first_ + member});
    return absl::OkStatus();
  }

  absl::Status AddCheapestRegion(size_t member) {
    std::vector<size_t> rules(candidates_.size());
    std::iota(rules.begin(), rules.end(), 0);
    std::stable_sort(rules.begin(), rules.end(),
                     [&](size_t a, size_t b) { return costs_.cost(a, member) < costs_.cost(b, member); });
    for (size_t rule : rules) {
      if (costs_.cost(rule, member) == RuleCosts::kNone) break;
      std::optional<Impl> range = RangeOf(*candidates_[rule].decisions, member, member);
      if (!range) continue;
      AddRegionOf({member}, *candidates_[rule].decisions, candidates_[rule].member, *std::move(range));
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(
        Cat("expected sizes that few programs serve, as there are too many for one each; none serves ",
            PrintSpec(LeastRoot(member)), " and ", PrintSpec(roots_[member])));
  }

  const absl::Span<const Spec> roots_;
  const std::vector<size_t>& dims_;
  const size_t first_;
  const CostModel& model_;
  const SolveSize& solve_;
  const LeastServed& least_;
  std::vector<Rule>& rules_;
  SizeFamily& family_;
  std::vector<Rule> candidates_;  // those with programs for any size
  RuleCosts costs_;               // of the candidates
  std::vector<bool> taken_;       // members that have a region
};

}  // namespace

absl::StatusOr<SizeFamily> FindSpecRegions(absl::Span<const Spec> placed_roots,
                                           const std::vector<size_t>& dims, const CostModel& model,
                                           const SolveSize& solve, const LeastServed& least) {
  SizeFamily family;
  std::vector<Rule> rules;
  family.members.resize(placed_roots.size());
  for (size_t first = 0, end = 0; first < placed_roots.size(); first = end) {
    while (end < placed_roots.size() &&
           (dims.size() > 1 || DifferInSizeOnly(placed_roots[end], placed_roots[first], dims.front())))
      ++end;
    SizeGroup group(placed_roots.subspan(first, end - first), dims, first, model, solve, least, &rules,
                    &family);
    if (absl::Status found = group.Find(); !found.ok()) return found;
  }
  return family;
}

}  // namespace kirsch
