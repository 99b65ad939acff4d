// SPDX-License-Identifier: Apache-2.0
// Keeps what the members of a family cost by each rule that is known. It says which members to solve next,
// and the largest share of members that a rule serves. The rules are RegionFinder's.
#ifndef KIRSCH_SEARCH_FAMILIES_RULE_COSTS_H_
#define KIRSCH_SEARCH_FAMILIES_RULE_COSTS_H_

#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "search/families/size_grid.h"

namespace kirsch {

// The share of its optimum that a member may lose, as far as the cost is predicted.
inline constexpr double kMostLoss = 0.03;

// If a rule loses no more than this share of a member's optimum, the member's own program is not searched
// for. The rest of kMostLoss is left for having less code, and for being served by the rule of a neighbour.
inline constexpr double kLossNotSearched = 0.02;

// Is about members that differ in one size or in two: one member for each combination of the values.
// Costs may be in any unit. Not thread-safe.
class RuleCosts {
 public:
  static constexpr double kNone = std::numeric_limits<double>::infinity();  // the rule makes no program

  // The values of each size, ascending. Members are numbered from 0, the last size varying fastest.
  // `in_boxes`: a rule has code for some members only if it makes a program of all that are between them. It
  // is true of specs. Rules that are plans serve no larger members than they were made for.
  explicit RuleCosts(std::vector<std::vector<double>> sizes, bool in_boxes);

  const SizeGrid& grid() const { return grid_; }

  // Adds a rule, given what each member costs by it; kNone where it has no program.
  void Add(std::vector<double> costs);
  // Records that the rule has no code for the member after all.
  void Forget(size_t rule, size_t member);
  // Records the cost of a member's own program.
  void SetOwn(size_t member, double cost);
  // Records that no program of the member's own costs less.
  void SetBound(size_t member, double bound) { bounds_[member] = bound; }

  size_t count() const { return rules_.size(); }  // of rules
  double cost(size_t rule, size_t member) const { return rules_[rule][member]; }

  // The cost of the best program known for the member; kNone if there is none.
  double Least(size_t member) const { return least_[member]; }

  // The share of the member's optimum that a program of this cost loses, as far as that is known. If a search
  // was stopped, the bound may say less than the best program does; then that program counts.
  double Loss(double cost, size_t member) const {
    const double least = least_[member], bound = bounds_[member];
    return cost / (least > (1 + kMostLoss) * bound ? least : bound) - 1;
  }

  // A member between two: in each size near their geometric mean. It is neither of the two, if there is
  // another.
  size_t Between(size_t low, size_t high) const;

  // Solves a member. It returns false if nothing new came out.
  using Solve = std::function<absl::StatusOr<bool>(size_t member)>;

  // Solves more members in the box from `low` to `high`, whose corners are solved, as long as some member is
  // not served. A member is served if its best known program costs at most kMostLoss more than the corners'
  // costs let expect: a point on a line, if there is one size. If a corner has more than `most_apart` times
  // another's size, no member counts as served. Stops after `patience` boxes in a row, each inside the one
  // before, whose new corners gave nothing new.
  absl::Status Refine(size_t low, size_t high, double most_apart, const Solve& solve,
                      int patience = 1) const {
    return Refine(low, high, most_apart, solve, patience, patience);
  }

  // Members that one rule may have one program for.
  struct Share {
    size_t rule = 0;
    size_t first = 0, last = 0;   // the corners of a box: see `in_boxes`
    std::vector<size_t> members;  // of the box, ascending: those that lose at most kMostLoss by it
  };

  // Finds the share with the most members that are not `taken`, wherever they are. Of several such shares it
  // returns the one that loses least in all. Nothing if no rule serves any member that is left. Between two
  // calls members may become taken, but none may become free.
  std::optional<Share> Largest(const std::vector<bool>& taken);

  // Divides all members into shares, taking the largest first. Every member must be served by some rule. None
  // may be taken yet by calls of Largest. Returned in the order of their first members.
  std::vector<Share> Cover();

 private:
  // `left`: of the patience.
  absl::Status Refine(size_t low, size_t high, double most_apart, const Solve& solve, int patience,
                      int left) const;
  template <typename IsServed>
  size_t SplitOf(size_t low, size_t high, const IsServed& is_served) const;
  double Expected(size_t member, const SizeGrid::Place& low, const SizeGrid::Place& high) const;
  std::vector<size_t> InOrder(const std::set<size_t>& members) const;
  std::set<size_t> Corners(const std::vector<SizeGrid::Place>& of) const;

  const std::vector<std::vector<double>> sizes_;
  const SizeGrid grid_;
  const bool in_boxes_;
  std::vector<std::vector<double>> rules_;
  std::map<size_t, double> own_;
  std::vector<double> least_, bounds_;  // of each member; a bound of 0: nothing is known
  std::vector<size_t> most_;            // of each rule, members of a share: no more
};

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_FAMILIES_RULE_COSTS_H_
