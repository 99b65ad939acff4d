// SPDX-License-Identifier: Apache-2.0
// What the members of a family cost by each rule that is known, and few shares of them that rules serve.
// Rules are made of solved members; this says which members to solve.
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

// The share of its own optimum that a member may lose, as far as it is predicted.
inline constexpr double kMostLoss = 0.03;

// The share of its own optimum that a member may lose by a rule for its own program not to be searched for.
// What this leaves of kMostLoss may be lost by having less code, and by being served by its neighbours' rule.
inline constexpr double kLossNotSearched = 0.02;

// Of members that differ in one size, or in several: of each combination of their values. Costs are in any
// unit. Not thread-safe.
class RuleCosts {
 public:
  static constexpr double kNone = std::numeric_limits<double>::infinity();  // the rule makes no program

  // The values of each size, ascending. Members are numbered from 0, the last size varying fastest.
  // `in_boxes`: a rule has code for some members only if it makes a program of all that are between them.
  explicit RuleCosts(std::vector<std::vector<double>> sizes, bool in_boxes);

  const SizeGrid& grid() const { return grid_; }

  // Of one more rule: what each member costs.
  void Add(std::vector<double> costs);
  // There is no code by the rule that serves the member.
  void Forget(size_t rule, size_t member);
  // Of a member's own program.
  void SetOwn(size_t member, double cost);

  size_t count() const { return rules_.size(); }  // of rules
  double cost(size_t rule, size_t member) const { return rules_[rule][member]; }

  // Of the best program that is known; kNone if there is none.
  double Least(size_t member) const { return least_[member]; }

  // About as many times more than `low` as `high` has more than it, in each size; neither of the two, if
  // there is another.
  size_t Between(size_t low, size_t high) const;

  // False: nothing new came out, so that there is nothing to look for around the member.
  using Solve = std::function<absl::StatusOr<bool>(size_t member)>;

  // Solves the corners of all there are, the last one first.
  absl::Status SolveCorners(const Solve& solve) const;

  // Solves more in the box from `low` to `high`, whose corners are solved, as long as some member is not
  // served. It is if its best known program costs at most kMostLoss above what lies between the corners'
  // costs: on a line, of one size. Where a corner has more than `most_apart` times another's size, none is.
  absl::Status Refine(size_t low, size_t high, double most_apart, const Solve& solve) const;

  // Members that one rule may have one program for.
  struct Share {
    size_t rule = 0;
    size_t first = 0, last = 0;   // the corners of a box: see `in_boxes`
    std::vector<size_t> members;  // of the box, ascending: those that lose at most kMostLoss by it
  };
  using Loss = std::function<double(double cost, size_t member)>;  // of a cost, at a member

  // The most members that are not `taken`, wherever they are; of several shares, the one that loses least in
  // all. Nothing: no rule serves any that is left. Between calls more may be taken.
  std::optional<Share> Largest(const std::vector<bool>& taken, const Loss& loss);

  // Shares of all members, each of which some rule serves: the largest come first. In the order of their
  // first members.
  std::vector<Share> Cover(const Loss& loss);

 private:
  double Expected(size_t member, const SizeGrid::Place& low, const SizeGrid::Place& high) const;
  std::set<size_t> Corners(const std::vector<SizeGrid::Place>& of) const;

  const std::vector<std::vector<double>> sizes_;
  const SizeGrid grid_;
  const bool in_boxes_;
  std::vector<std::vector<double>> rules_;
  std::map<size_t, double> own_;
  std::vector<double> least_;  // of each member
  std::vector<size_t> most_;   // of each rule, members of a share: no more
};

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_FAMILIES_RULE_COSTS_H_
