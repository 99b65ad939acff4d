// SPDX-License-Identifier: Apache-2.0
// Finds which members of a family share a program. It solves some members, makes rules of their programs, and
// gives each member to one rule, so that few programs serve all.
//
// What a program and a rule are, a derived class says: SpecRegionFinder of specs, PlanRegionFinder of graphs.
#ifndef KIRSCH_SEARCH_FAMILIES_REGION_FINDER_H_
#define KIRSCH_SEARCH_FAMILIES_REGION_FINDER_H_

#include <cstddef>
#include <set>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "search/families/rule_costs.h"

namespace kirsch {

// What differs between the two kinds of families.
struct RegionPolicy {
  bool in_boxes = true;                  // see RuleCosts
  double most_apart = RuleCosts::kNone;  // see RuleCosts::Refine
  // So many times at most, better rules are searched for at the ends and in the middle of large shares.
  int improvements = 0;
  // Of two sizes: stop after so many boxes in a row, each inside the one before, whose new corners gave
  // nothing better.
  int patience = 1;
};

// Not thread-safe.
class RegionFinder {
 public:
  RegionFinder(const RegionFinder&) = delete;
  virtual ~RegionFinder() = default;

 protected:
  RegionFinder(std::vector<std::vector<double>> sizes, const RegionPolicy& policy)
      : costs_(std::move(sizes), policy.in_boxes), policy_(policy), taken_(costs_.grid().members()) {}

  // The steps, in this order. Rules that are known beforehand may make searches needless:
  //   1. Members at all combinations of the ladders' values are solved.
  //   2. Members that no rule serves are solved. False, and nothing more, if some are not served then.
  //   3. Members between those of the ladders are solved (RuleCosts::Refine).
  //   4. Members where costs jump are solved.
  //   5. Better rules are searched for where large shares begin and end (RegionPolicy::improvements).
  //   6. Shares of members get their programs, the largest first, until each member is in one.
  absl::StatusOr<bool> Find();

  // Searches for a program of the member that is better by more than kLossNotSearched than what rules make of
  // it. Does nothing if it was searched for before.
  absl::Status Improve(size_t member);

  // The members of a share, those that lose most first: it is they for whom less code does least well, so
  // most attempts end early.
  std::vector<size_t> ByLoss(const RuleCosts::Share& share) const;

  // The members at all combinations of these values, the largest first.
  std::vector<size_t> MembersAt(const std::vector<std::vector<size_t>>& ladders) const;

  const SizeGrid& grid() const { return costs_.grid(); }
  size_t dims() const { return grid().dims(); }

  RuleCosts costs_;

 private:
  // Searches for the member's own program, and adds the rules that can be made of it to `costs_`. There may
  // be none that costs less than the cutoff.
  virtual absl::Status Search(size_t member, double cutoff) = 0;
  // The values of one size that are solved first, descending: at least the last one and the first.
  virtual std::vector<size_t> Ladder(size_t dim) const { return {grid().count(dim) - 1, 0}; }
  // Step 2. Some families can do without: a member that no rule serves has a region of its own in the end.
  virtual absl::StatusOr<bool> ServeAll() { return true; }
  // True once there is no time left: only members that no rule serves are searched for then.
  virtual bool Stopped() const { return false; }
  // Step 4.
  virtual absl::Status SolveJumps() { return absl::OkStatus(); }
  // Makes the program of a share, for all members of its box. False if there is none for so large a box.
  virtual bool AddRegion(const RuleCosts::Share& share) = 0;
  // Gives a member a region that no rule serves. False if it did not, but searched for rules: look again.
  virtual absl::StatusOr<bool> AddOwnRegion(size_t member) = 0;

  absl::Status RefineBetween(const std::vector<std::vector<size_t>>& ladders);
  absl::Status ImproveShares();
  absl::Status AddRegions();
  void AddShare(RuleCosts::Share share);

  const RegionPolicy policy_;
  std::vector<bool> taken_;    // members that have a region
  std::set<size_t> searched_;  // members
};

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_FAMILIES_REGION_FINDER_H_
