#include "search/row_regions.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "search/row_template.h"
#include "spec/check.h"

namespace kirsch {
namespace {

constexpr size_t kM = MatmulDims::kM;

// But for their rows.
bool SameButRows(Spec a, const Spec& b) {
  a.size[kM] = b.size[kM];
  return a == b;
}

// Members first .. last, which differ in their rows only.
class RowGroup {
 public:
  RowGroup(absl::Span<const Spec> roots, size_t first, size_t last, const CostModel& model,
           const SolveRows& solve, RowFamily* family)
      : roots_(roots), first_(first), last_(last), model_(model), solve_(solve), family_(*family) {}

  absl::Status Find() {
    if (absl::Status solved = Solve(last_); !solved.ok()) return solved;
    if (first_ < last_)
      if (absl::Status solved = Solve(first_); !solved.ok()) return solved;
    if (absl::Status refined = Refine(first_, last_); !refined.ok()) return refined;
    for (size_t next = first_; next <= last_; next = family_.regions.back().last + 1) AddRegion(next);
    return absl::OkStatus();
  }

 private:
  // A solved member's decisions, if there are programs of them for any number of rows, and what these cost at
  // all members from the first on.
  struct Candidate {
    size_t member;
    std::unique_ptr<RowTemplate> decisions;
    std::vector<Cost> costs;
  };

  double Rows(size_t member) const { return roots_[member].size[kM]; }
  double Best(size_t member) const { return static_cast<double>(*family_.members[member].best); }

  absl::Status Solve(size_t member) {
    absl::StatusOr<SolvedRows> solved = solve_(member);
    if (!solved.ok()) return solved.status();
    family_.members[member].best = solved->cost;
    family_.members[member].program = solved->program;
    Candidate candidate{member, std::make_unique<RowTemplate>(std::move(solved->program), model_), {}};
    if (!candidate.decisions->ApplyToRange(roots_[last_], roots_[first_].size[kM])) return absl::OkStatus();
    for (size_t i = first_; i <= last_; ++i) candidate.costs.push_back(candidate.decisions->Price(roots_[i]));
    candidates_.push_back(std::move(candidate));
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
      return Best(low) + share * (Best(high) - Best(low));
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

  // What a member's program loses against the best that is known of it.
  double Loss(const Candidate& candidate, size_t member) const {
    const Cost best = family_.members[member].best.value_or(Least(member));
    return static_cast<double>(candidate.costs[member - first_]) / static_cast<double>(best) - 1;
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
    const RowTemplate& decisions = *chosen->decisions;
    const size_t last = chosen_end - 1;
    family_.regions.push_back(
        {next, last, *decisions.ApplyToRange(roots_[last], roots_[next].size[kM]), chosen->member});
    for (size_t i = next; i <= last; ++i) {
      family_.members[i].program = decisions.Apply(roots_[i]);
      family_.members[i].cost = chosen->costs[i - first_];
    }
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
  RowFamily& family_;
  std::vector<Candidate> candidates_;
};

}  // namespace

absl::StatusOr<RowFamily> FindRowRegions(absl::Span<const Spec> placed_roots, const CostModel& model,
                                         const SolveRows& solve) {
  RowFamily family;
  family.members.resize(placed_roots.size());
  for (size_t first = 0; first < placed_roots.size();) {
    size_t last = first;
    while (last + 1 < placed_roots.size() && SameButRows(placed_roots[last + 1], placed_roots[first])) ++last;
    RowGroup group(placed_roots, first, last, model, solve, &family);
    if (absl::Status found = group.Find(); !found.ok()) return found;
    first = last + 1;
  }
  return family;
}

}  // namespace kirsch
