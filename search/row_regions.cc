#include "search/row_regions.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "search/row_template.h"
#include "spec/check.h"

namespace kirsch {
namespace {

constexpr size_t kM = MatmulDims::kM;

// The share of its own optimum that a member may lose by a rule for its own program not to be searched for.
// What this leaves of kMostLoss may be lost by having less code, and by being served by its neighbours' rule.
constexpr double kLossNotSearched = 0.02;

// But for their rows.
bool SameButRows(Spec a, const Spec& b) {
  a.size[kM] = b.size[kM];
  return a == b;
}

// A solved member's decisions, for any number of rows.
struct Rule {
  size_t member;
  std::shared_ptr<RowTemplate> decisions;
};

// Members first .. last, which differ in their rows only. `rules` are those of all groups so far.
class RowGroup {
 public:
  RowGroup(absl::Span<const Spec> roots, size_t first, size_t last, const CostModel& model,
           const SolveRows& solve, std::vector<Rule>* rules, RowFamily* family)
      : roots_(roots),
        first_(first),
        last_(last),
        model_(model),
        solve_(solve),
        rules_(*rules),
        family_(*family) {}

  absl::Status Find() {
    for (const Rule& rule : rules_) AddCandidate(rule);
    if (absl::Status solved = Solve(last_); !solved.ok()) return solved;
    if (first_ < last_)
      if (absl::Status solved = Solve(first_); !solved.ok()) return solved;
    if (absl::Status refined = Refine(first_, last_); !refined.ok()) return refined;
    for (size_t next = first_; next <= last_; next = family_.regions.back().last + 1) AddRegion(next);
    return absl::OkStatus();
  }

 private:
  // A rule, if there are programs of it for any number of rows, and what these cost at all members from the
  // first on.
  struct Candidate {
    Rule rule;
    std::vector<Cost> costs;
  };

  double Rows(size_t member) const { return roots_[member].size[kM]; }
  // Of a member that was solved or is served.
  double Known(size_t member) const {
    return static_cast<double>(family_.members[member].best.value_or(Least(member)));
  }

  void AddCandidate(const Rule& rule) {
    Candidate candidate{rule, {}};
    if (!rule.decisions->ApplyToRange(roots_[last_], roots_[first_].size[kM])) return;
    for (size_t i = first_; i <= last_; ++i) candidate.costs.push_back(rule.decisions->Price(roots_[i]));
    candidates_.push_back(std::move(candidate));
  }

  // Finds out the member's own program, unless it is proven to be little better than the best one known.
  absl::Status Solve(size_t member) {
    const Cost least = Least(member);
    const Cost cutoff = least >= kInfiniteCost
                            ? kInfiniteCost
                            : static_cast<Cost>(static_cast<double>(least) / (1 + kLossNotSearched)) + 1;
    absl::StatusOr<SolvedRows> solved = solve_(member, cutoff);
    if (!solved.ok()) return solved.status();
    RowMember& known = family_.members[member];
    if (solved->cost >= cutoff) {  // the same whether it came out of a table or there is none
      known.bound = std::min(cutoff, solved->bound);
      return absl::OkStatus();
    }
    known.best = known.bound = solved->cost;
    known.program = solved->program;
    rules_.push_back({member, std::make_shared<RowTemplate>(std::move(solved->program), model_)});
    AddCandidate(rules_.back());
    return absl::OkStatus();
  }

  // Of the best program that is known.
  Cost Least(size_t member) const {
    Cost least = family_.members[member].best.value_or(kInfiniteCost);
    for (const Candidate& candidate : candidates_) least = std::min(least, candidate.costs[member - first_]);
    return least;
  }

  // Solves more between two that are solved, as long as something there is not served.
  absl::Status Refine(size_t low, size_t high) {
    const auto on_line = [&](size_t member) {
      const double share = (Rows(member) - Rows(low)) / (Rows(high) - Rows(low));
      return Known(low) + share * (Known(high) - Known(low));
    };
    bool served = true;
    for (size_t i = low + 1; i < high && served; ++i)
      served = static_cast<double>(Least(i)) <= (1 + kMostLoss) * on_line(i);
    if (served) return absl::OkStatus();
    // About as many times more rows than `low` as `high` has more than it.
    const double middle = std::sqrt(Rows(low) * Rows(high));
    size_t member = low + 1;
    while (member + 1 < high && Rows(member) < middle) ++member;
    if (absl::Status solved = Solve(member); !solved.ok()) return solved;
    if (absl::Status refined = Refine(low, member); !refined.ok()) return refined;
    return Refine(member, high);
  }

  // What a member's program loses against its own, as far as that is known. Of a search that was stopped the
  // bound may say less than the best program does.
  double Loss(Cost cost, size_t member) const {
    const auto least = static_cast<double>(Least(member)),
               bound = static_cast<double>(family_.members[member].bound);
    return static_cast<double>(cost) / (least > (1 + kMostLoss) * bound ? least : bound) - 1;
  }
  double Loss(const Candidate& candidate, size_t member) const {
    return Loss(candidate.costs[member - first_], member);
  }

  // From `next` on: the decisions that reach furthest; of these, those that lose least.
  void AddRegion(size_t next) {
    const Candidate* chosen = nullptr;
    size_t chosen_end = next;
    double chosen_loss = 0;
    for (const Candidate& candidate : candidates_) {
      size_t end = next;
      double loss = 0;
      for (; end <= last_ && Loss(candidate, end) <= kMostLoss; ++end) loss += Loss(candidate, end);
      if (end > chosen_end || (end == chosen_end && end > next && loss < chosen_loss)) {
        chosen = &candidate;
        chosen_end = end;
        chosen_loss = loss;
      }
    }
    if (chosen == nullptr) return AddOwnRegion(next);
    const size_t last = chosen_end - 1;
    const std::unique_ptr<RowTemplate> decisions = WithLittleCode(*chosen->rule.decisions, next, last);
    family_.regions.push_back(
        {next, last, *decisions->ApplyToRange(roots_[last], roots_[next].size[kM]), chosen->rule.member});
    for (size_t i = next; i <= last; ++i) {
      family_.members[i].program = decisions->Apply(roots_[i]);
      family_.members[i].cost = decisions->Price(roots_[i]);
    }
  }

  // The same decisions with as little code as may be. The tallest register tile stays; the taller of the
  // others go first, as they are the most code.
  std::unique_ptr<RowTemplate> WithLittleCode(const RowTemplate& decisions, size_t first, size_t last) const {
    RegisterRows choice;
    auto least = std::make_unique<RowTemplate>(decisions.program(), model_);
    const auto try_choice = [&](const RegisterRows& less) {
      auto tried = std::make_unique<RowTemplate>(decisions.program(), model_, less);
      if (!Serves(*tried, first, last)) return;
      if (!tried->ApplyToRange(roots_[last], roots_[first].size[kM])) return;  // what is left of other rows
      choice = {Heights(*tried, first, last), less.kept_tiles};
      least = std::move(tried);
    };
    choice.heights = Heights(*least, first, last);
    try_choice({RegisterRows().heights, 0});
    for (auto height = static_cast<uint32_t>(std::bit_width(choice.heights)) - 1; height-- > 1;)
      if (const TileHeights bit = TileHeights{1} << height; (choice.heights & bit) != 0)
        try_choice({choice.heights & ~bit, choice.kept_tiles});
    return least;
  }

  TileHeights Heights(RowTemplate& decisions, size_t first, size_t last) const {
    TileHeights heights = 0;
    for (size_t i = first; i <= last; ++i) heights |= decisions.HeightsOf(roots_[i]);
    return heights;
  }

  bool Serves(RowTemplate& decisions, size_t first, size_t last) const {
    for (size_t i = first; i <= last; ++i)
      if (Loss(decisions.Price(roots_[i]), i) > kMostLoss) return false;
    return true;
  }

  // Of a member that nothing serves as well as its own program.
  void AddOwnRegion(size_t number) {
    RowMember& member = family_.members[number];
    KIRSCH_CHECK(member.best.has_value());
    member.cost = *member.best;
    family_.regions.push_back({number, number, member.program, number});
  }

  const absl::Span<const Spec> roots_;
  const size_t first_, last_;
  const CostModel& model_;
  const SolveRows& solve_;
  std::vector<Rule>& rules_;
  RowFamily& family_;
  std::vector<Candidate> candidates_;
};

}  // namespace

absl::StatusOr<RowFamily> FindRowRegions(absl::Span<const Spec> placed_roots, const CostModel& model,
                                         const SolveRows& solve) {
  RowFamily family;
  std::vector<Rule> rules;
  family.members.resize(placed_roots.size());
  for (size_t first = 0; first < placed_roots.size();) {
    size_t last = first;
    while (last + 1 < placed_roots.size() && SameButRows(placed_roots[last + 1], placed_roots[first])) ++last;
    RowGroup group(placed_roots, first, last, model, solve, &rules, &family);
    if (absl::Status found = group.Find(); !found.ok()) return found;
    first = last + 1;
  }
  return family;
}

}  // namespace kirsch
