// SPDX-License-Identifier: Apache-2.0
#include "search/families/spec_regions.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "search/families/little_code.h"
#include "search/families/region_finder.h"
#include "search/families/size_rule.h"
#include "spec/check.h"
#include "spec/language/printer.h"
#include "spec/text/cat.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

// Where the reduction varies: how many times as long the one of two solved neighbours may be as the other. A
// copy may fit a cache for some lengths only, and whatever suits the ends of a line may suit nothing between
// them.
constexpr double kMostApart = 16;

// The decisions of a solved member, as a schedule for any size.
struct Rule {
  size_t member;  // of the family
  std::shared_ptr<SizeRule> decisions;
};

// The different sizes of the roots along each dim, ascending.
std::vector<std::vector<double>> SizesAlong(absl::Span<const Spec> roots, const std::vector<size_t>& dims) {
  std::vector<std::vector<double>> sizes;
  for (size_t dim : dims) {
    std::set<double> values;
    for (const Spec& root : roots) values.insert(root.size[dim]);
    sizes.emplace_back(values.begin(), values.end());
  }
  return sizes;
}

// Finds the regions of members that differ in their sizes along the dims; of two dims, also in where operands
// are placed. `first` is the family's number
// of the first of them. Rules are shared: a rule of an earlier group may serve members of this one.
class SpecRegionFinder : private RegionFinder {
 public:
  SpecRegionFinder(absl::Span<const Spec> roots, const std::vector<size_t>& dims, size_t first,
                   const CostModel& model, const SolveSize& solve, const LeastServed& least,
                   std::vector<Rule>* rules, SizeFamily* family)
      : RegionFinder(SizesAlong(roots, dims), {.most_apart = MostApart(dims), .patience = 3}),
        roots_(roots),
        dims_(dims),
        first_(first),
        model_(model),
        solve_(solve),
        least_(least),
        rules_(*rules),
        family_(*family) {
    KIRSCH_CHECK(grid().members() == roots.size());
  }

  absl::Status Find() {
    // Rules of earlier groups come first, since they may make searches needless.
    const size_t known = family_.regions.size();
    for (const Rule& rule : rules_) AddCandidate(rule);
    KIRSCH_RETURN_IF_ERROR(RegionFinder::Find().status());
    // Regions were found largest first; the family has them by their first members.
    std::sort(family_.regions.begin() + static_cast<std::ptrdiff_t>(known), family_.regions.end(),
              [](const SpecRegion& a, const SpecRegion& b) { return a.members < b.members; });
    return absl::OkStatus();
  }

 private:
  static bool Has(const std::vector<size_t>& dims, size_t dim) {
    return std::find(dims.begin(), dims.end(), dim) != dims.end();
  }
  static double MostApart(const std::vector<size_t>& dims) {
    return Has(dims, MatmulDims::kK) ? kMostApart : RuleCosts::kNone;
  }
  bool Varies(size_t dim) const { return Has(dims_, dim); }
  SizeMember& Member(size_t member) { return family_.members[first_ + member]; }

  // Adds a rule with its costs. A rule of another group may have no program for any member here, and is left
  // out.
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

  // True if one program by the rule serves some neighbours. It looks at the first neighbours that all have
  // programs. Without such code the rule could serve single members only.
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

  absl::Status Search(size_t member, double cutoff_cycles) override {
    const Cost cutoff =
        cutoff_cycles < RuleCosts::kNone ? static_cast<Cost>(cutoff_cycles) + 1 : kInfiniteCost;
    KIRSCH_ASSIGN_OR_RETURN(SolvedSize solved, solve_(first_ + member, cutoff));
    SizeMember& known = Member(member);
    if (solved.cost >= cutoff) {  // the same whether it came out of a table or there is none
      known.bound = std::min(cutoff, solved.bound);
      costs_.SetBound(member, static_cast<double>(known.bound));
      return absl::OkStatus();
    }
    known.best = known.bound = solved.cost;
    known.program = solved.program;
    costs_.SetOwn(member, static_cast<double>(solved.cost));
    costs_.SetBound(member, static_cast<double>(solved.cost));
    AddRule(member, {});
    // If the member's program leaves a remainder, a second rule treats remainders as this program does.
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

  // Solves more members of a long reduction. Register tiles do not depend on its length, so costs should rise
  // evenly. Where the cost of the best rule jumps by more than a member may lose, and that rule comes to its
  // end, there may be another rule.
  absl::Status SolveJumps() override {
    if (dims_.size() > 1 || !Varies(MatmulDims::kK)) return absl::OkStatus();
    const auto size = [&](size_t member) { return static_cast<double>(roots_[member].size[MatmulDims::kK]); };
    for (size_t i = 0; i + 2 < roots_.size(); ++i) {
      const double even = size(i + 1) / size(i) * costs_.Least(i);
      if (costs_.Least(i + 1) <= (1 + kMostLoss) * even || !Ends(i)) continue;
      KIRSCH_RETURN_IF_ERROR(Improve(i + 1));
    }
    return absl::OkStatus();
  }

  // True if the best program known of the member is by a rule that has no program for the next member.
  bool Ends(size_t member) const {
    for (size_t rule = 0; rule < candidates_.size(); ++rule)
      if (costs_.cost(rule, member) == costs_.Least(member) &&
          costs_.cost(rule, member + 1) == RuleCosts::kNone)
        return true;
    return false;
  }

  bool AddRegion(const RuleCosts::Share& share) override {
    const std::unique_ptr<SizeRule> decisions = WithLittleCode(share);
    std::optional<Impl> range = RangeOf(*decisions, share.first, share.last);
    if (!range) return false;
    AddRegionOf(share.members, *decisions, candidates_[share.rule].member, *std::move(range));
    return true;
  }

  // Gives the members their programs and costs by these decisions.
  void AddRegionOf(const std::vector<size_t>& members, SizeRule& decisions, size_t representative,
                   Impl range) {
    SpecRegion region{{}, std::move(range), representative};
    for (size_t member : members) {
      Member(member).program = decisions.Apply(roots_[member]);
      Member(member).cost = decisions.Price(roots_[member]);
      region.members.push_back(first_ + member);
    }
    family_.regions.push_back(std::move(region));
  }

  // The same decisions with as little code as the members allow.
  std::unique_ptr<SizeRule> WithLittleCode(const RuleCosts::Share& share) const {
    const SizeRule& decisions = *candidates_[share.rule].decisions;
    const std::vector<size_t> members = ByLoss(share);
    const auto make = [&](const SymbolicScheduleOptions& some) {
      return std::make_unique<SizeRule>(decisions.program(), dims_, model_, some);
    };
    std::unique_ptr<SizeRule> least = make(decisions.options());
    const bool rows = Varies(MatmulDims::kM);
    if (!rows && Varies(MatmulDims::kK)) return least;  // nothing is left of register tiles
    const auto keep = [&](const SymbolicScheduleOptions& less) {
      std::unique_ptr<SizeRule> tried = make(less);
      // What is left of other sizes may have no code.
      if (!Serves(*tried, members) || !RangeOf(*tried, share.first, share.last)) return false;
      least = std::move(tried);
      return true;
    };
    LeaveOutCode({.rows = rows, .columns = Varies(MatmulDims::kN)}, decisions.options(), keep,
                 [&] { return Heights(*least, members); });
    return least;
  }

  // The heights of register tiles that the members' programs have.
  TileHeights Heights(SizeRule& decisions, const std::vector<size_t>& members) const {
    TileHeights heights = 0;
    for (size_t member : members) heights |= decisions.HeightsOf(roots_[member]);
    return heights;
  }

  // True if no member loses more than kMostLoss.
  bool Serves(SizeRule& decisions, const std::vector<size_t>& members) const {
    return std::all_of(members.begin(), members.end(), [&](size_t member) {
      return costs_.Loss(static_cast<double>(decisions.Price(roots_[member])), member) <= kMostLoss;
    });
  }

  // The root of a member, or the smallest sizes that its program must also serve.
  Spec LeastRoot(size_t member) const {
    Spec least = roots_[member];
    for (size_t dim : dims_) least = Resized(least, dim, least_(dim, least.size[dim]));
    return least;
  }

  // One program for all members of a box, and for the sizes between them. Nothing if the rule has none.
  std::optional<Impl> RangeOf(SizeRule& decisions, size_t first, size_t last) const {
    return decisions.ApplyToRange(LeastRoot(first), roots_[last]);
  }

  // The region of a member that nothing serves as well as its own program, once that is known. If sizes below
  // the member need a program, too, its own may not serve them; the region then gets the cheapest rule that
  // does.
  absl::StatusOr<bool> AddOwnRegion(size_t member) override {
    SizeMember& own = Member(member);
    if (!own.best) {
      KIRSCH_RETURN_IF_ERROR(Search(member, RuleCosts::kNone));
      return false;
    }
    if (LeastRoot(member) != roots_[member]) return AddCheapestRegion(member);
    own.cost = *own.best;
    family_.regions.push_back({{first_ + member}, own.program, first_ + member});
    return true;
  }

  // Tries all rules by their cost for the member: some are no candidates, as they serve single members only.
  absl::StatusOr<bool> AddCheapestRegion(size_t member) {
    std::vector<Cost> costs;
    for (const Rule& rule : rules_) costs.push_back(rule.decisions->Price(roots_[member]));
    std::vector<size_t> order(rules_.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return costs[a] < costs[b]; });
    for (size_t i : order) {
      if (costs[i] >= kInfiniteCost) break;
      std::optional<Impl> range = RangeOf(*rules_[i].decisions, member, member);
      if (!range) continue;
      AddRegionOf({member}, *rules_[i].decisions, rules_[i].member, *std::move(range));
      return true;
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
  std::vector<Rule> candidates_;  // those with programs for any size: the rules of `costs_`
};

}  // namespace

// Cuts the roots into groups that differ in nothing but sizes, and finds the regions of each group.
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
    SpecRegionFinder finder(placed_roots.subspan(first, end - first), dims, first, model, solve, least,
                            &rules, &family);
    KIRSCH_RETURN_IF_ERROR(finder.Find());
  }
  return family;
}

}  // namespace kirsch
