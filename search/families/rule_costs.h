// SPDX-License-Identifier: Apache-2.0
// What the members of a family cost by each rule that is known, and the fewest intervals of them that rules
// serve. Rules are made of solved members; this says which members to solve.
#ifndef KIRSCH_SEARCH_FAMILIES_RULE_COSTS_H_
#define KIRSCH_SEARCH_FAMILIES_RULE_COSTS_H_

#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "absl/status/status.h"

namespace kirsch {

// The share of its own optimum that a member may lose, as far as it is predicted.
inline constexpr double kMostLoss = 0.03;

// The share of its own optimum that a member may lose by a rule for its own program not to be searched for.
// What this leaves of kMostLoss may be lost by having less code, and by being served by its neighbours' rule.
inline constexpr double kLossNotSearched = 0.02;

// Of members that are neighbours and differ in one size, which ascends. Costs are in any unit. Not
// thread-safe.
class RuleCosts {
 public:
  static constexpr double kNone = std::numeric_limits<double>::infinity();  // the rule makes no program

  // Members first to last, both included.
  RuleCosts(size_t first, size_t last, std::function<double(size_t member)> size);

  // Of one more rule: what each member costs, from the first on.
  void Add(std::vector<double> costs) { rules_.push_back(std::move(costs)); }
  // Of a member's own program.
  void SetOwn(size_t member, double cost) { own_[member] = cost; }

  size_t count() const { return rules_.size(); }  // of rules
  double cost(size_t rule, size_t member) const { return rules_[rule][member - first_]; }

  // Of the best program that is known; kNone if there is none.
  double Least(size_t member) const;

  // About as many times more than `low` as `high` has more than it; neither of the two, if there is another.
  size_t Between(size_t low, size_t high) const;

  // Solves more between two that are solved, as long as the best program known of some member there costs
  // more than kMostLoss above the line through what these two cost, or one size is more than `most_apart`
  // times the other.
  absl::Status Refine(size_t low, size_t high, double most_apart,
                      const std::function<absl::Status(size_t member)>& solve) const;

  struct Interval {
    size_t rule, last;
  };
  // From `next` on, the rule that loses at most kMostLoss at each member for as long as any does; of several,
  // the one that loses least in all. `loss`: of a cost, at a member. Nothing: no rule serves `next`.
  std::optional<Interval> Furthest(size_t next,
                                   const std::function<double(double cost, size_t member)>& loss) const;

 private:
  const size_t first_, last_;
  const std::function<double(size_t)> size_;
  std::vector<std::vector<double>> rules_;
  std::map<size_t, double> own_;
};

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_FAMILIES_RULE_COSTS_H_
