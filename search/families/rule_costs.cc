// SPDX-License-Identifier: Apache-2.0
#include "search/families/rule_costs.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

#include "spec/check.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

// If there are several sizes, boxes no larger than this along any of them are not refined: they might gain
// less than it takes to solve all their corners.
constexpr size_t kSmallBox = 4;

std::vector<size_t> Counts(const std::vector<std::vector<double>>& sizes) {
  std::vector<size_t> counts;
  for (const std::vector<double>& values : sizes) counts.push_back(values.size());
  return counts;
}

}  // namespace

RuleCosts::RuleCosts(std::vector<std::vector<double>> sizes, bool in_boxes)
    : sizes_(std::move(sizes)),
      grid_(Counts(sizes_)),
      in_boxes_(in_boxes),
      least_(grid_.members(), kNone),
      bounds_(grid_.members()) {}

void RuleCosts::Add(std::vector<double> costs) {
  for (size_t member = 0; member < costs.size(); ++member)
    least_[member] = std::min(least_[member], costs[member]);
  rules_.push_back(std::move(costs));
  // A new rule may serve all members, for all that is known.
  most_.push_back(grid_.members());
}

void RuleCosts::SetOwn(size_t member, double cost) {
  own_[member] = cost;
  least_[member] = std::min(least_[member], cost);
}

// The least cost of the member may have been this one, so it is found anew.
void RuleCosts::Forget(size_t rule, size_t member) {
  rules_[rule][member] = kNone;
  const auto own = own_.find(member);
  least_[member] = own == own_.end() ? kNone : own->second;
  for (const std::vector<double>& costs : rules_) least_[member] = std::min(least_[member], costs[member]);
  std::fill(most_.begin(), most_.end(), grid_.members());  // what seemed to lose may not
}

size_t RuleCosts::Between(size_t low, size_t high) const {
  SizeGrid::Place place = grid_.At(low);
  const SizeGrid::Place end = grid_.At(high);
  // The geometric mean, since sizes matter by their ratios.
  for (size_t dim = 0; dim < grid_.dims(); ++dim) {
    const std::vector<double>& values = sizes_[dim];
    const double middle = std::sqrt(values[place[dim]] * values[end[dim]]);
    // At least one step from `low`, and one from `high` if there is room.
    place[dim] = std::min(place[dim] + 1, end[dim]);
    while (place[dim] + 1 < end[dim] && values[place[dim]] < middle) ++place[dim];
  }
  return grid_.Index(place);
}

// The members that have, in each size, a value that one of the places has.
std::set<size_t> RuleCosts::Corners(const std::vector<SizeGrid::Place>& of) const {
  std::vector<SizeGrid::Place> corners = {of.front()};
  for (size_t dim = 0; dim < grid_.dims(); ++dim)
    for (size_t i = corners.size(); i-- > 0;)
      for (const SizeGrid::Place& place : of) {
        corners.push_back(corners[i]);
        corners.back()[dim] = place[dim];
      }
  std::set<size_t> members;
  for (const SizeGrid::Place& corner : corners) members.insert(grid_.Index(corner));
  return members;
}

// The order in which members are solved. The largest come first where programs are plans, which serve smaller
// members only.
std::vector<size_t> RuleCosts::InOrder(const std::set<size_t>& members) const {
  std::vector<size_t> ordered(members.begin(), members.end());
  if (!in_boxes_) std::reverse(ordered.begin(), ordered.end());
  return ordered;
}

// Interpolates the costs of the box's corners, linearly in each size.
double RuleCosts::Expected(size_t member, const SizeGrid::Place& low, const SizeGrid::Place& high) const {
  const SizeGrid::Place place = grid_.At(member);
  const std::function<double(SizeGrid::Place, size_t)> expect = [&](SizeGrid::Place corner, size_t dim) {
    if (dim == grid_.dims()) return Least(grid_.Index(corner));
    corner[dim] = low[dim];
    const double from = expect(corner, dim + 1);
    if (low[dim] == high[dim]) return from;
    corner[dim] = high[dim];
    const std::vector<double>& values = sizes_[dim];
    const double share = (values[place[dim]] - values[low[dim]]) / (values[high[dim]] - values[low[dim]]);
    return from + share * (expect(corner, dim + 1) - from);
  };
  return expect(low, 0);
}

// The member to divide a box at. Plans serve smaller members only. So of one size it is the last member that
// is not served, if it costs more than the next larger one: a known rule ends there. Its own rule serves
// those below it, where rules of middle members would be found one after the other, up to that jump.
template <typename IsServed>
size_t RuleCosts::SplitOf(size_t low, size_t high, const IsServed& is_served) const {
  if (grid_.dims() == 1 && !in_boxes_)
    for (size_t member = high - 1; member > low; --member)
      if (!is_served(member)) {
        if (Least(member) > Least(member + 1)) return member;
        break;
      }
  return Between(low, high);
}

// Refines a box recursively. Small boxes are left as they are.
absl::Status RuleCosts::Refine(size_t low, size_t high, double most_apart, const Solve& solve, int patience,
                               int left) const {
  const SizeGrid::Place first = grid_.At(low), last = grid_.At(high);
  const size_t least_extent = grid_.dims() > 1 ? kSmallBox : 2;
  bool small = true, served = true;
  for (size_t dim = 0; dim < grid_.dims(); ++dim) {
    small &= last[dim] - first[dim] < least_extent;
    // (Not <=: sizes may begin at 0, and be any number of times apart.)
    served &= !(sizes_[dim][last[dim]] > most_apart * sizes_[dim][first[dim]]);
  }
  if (small) return absl::OkStatus();
  // A box whose members all cost about what the corners let expect needs no more rules.
  const auto is_served = [&](size_t member) {
    return Least(member) <= (1 + kMostLoss) * Expected(member, first, last);
  };
  served = served && grid_.Every(first, last, is_served);
  if (served) return absl::OkStatus();
  // Solves the corners of the boxes around the middle, then refines each of these boxes.
  const SizeGrid::Place middle = grid_.At(SplitOf(low, high, is_served));
  const std::set<size_t> solved = Corners({first, last});
  bool any = false;
  for (size_t corner : InOrder(Corners({first, middle, last}))) {
    if (solved.contains(corner)) continue;
    KIRSCH_ASSIGN_OR_RETURN(const bool is_new, solve(corner));
    any |= is_new;
  }
  left = any ? patience : left - 1;
  if (left == 0) return absl::OkStatus();
  for (size_t corner : InOrder(Corners({first, middle}))) {
    SizeGrid::Place from = grid_.At(corner), to = from;
    bool empty = false;
    // The box begins at `corner`; it ends at the middle, or at the end if it begins at the middle.
    for (size_t dim = 0; dim < grid_.dims(); ++dim) {
      const bool lower = from[dim] == first[dim];
      to[dim] = lower && middle[dim] != first[dim] ? middle[dim] : last[dim];
      empty |= from[dim] == to[dim] && first[dim] != last[dim];
    }
    if (empty) continue;
    KIRSCH_RETURN_IF_ERROR(Refine(corner, grid_.Index(to), most_apart, solve, patience, left));
  }
  return absl::OkStatus();
}

// Rules by the most members that they may still serve. Since members are only taken, an old count is a bound,
// and the search for the largest box can stop early.
std::optional<RuleCosts::Share> RuleCosts::Largest(const std::vector<bool>& taken) {
  std::vector<size_t> rules(count());
  std::iota(rules.begin(), rules.end(), 0);
  std::stable_sort(rules.begin(), rules.end(), [&](size_t a, size_t b) { return most_[a] > most_[b]; });
  std::optional<Share> largest;
  double least = 0;
  for (const size_t rule : rules) {
    const size_t most = largest ? largest->members.size() : 1;
    if (most_[rule] < most) break;
    const auto serves = [&](size_t member) {
      return !taken[member] && Loss(cost(rule, member), member) <= kMostLoss;
    };
    const SizeGrid::Box box =
        grid_.FullestBox([&](size_t member) { return !in_boxes_ || cost(rule, member) < kNone; }, serves);
    most_[rule] = box.wanted;
    if (box.wanted < most) continue;
    Share share{rule, 0, 0, {}};
    double lost = 0;
    grid_.Every(grid_.At(box.first), grid_.At(box.last), [&](size_t member) {
      if (!serves(member)) return true;
      share.members.push_back(member);
      lost += Loss(cost(rule, member), member);
      return true;
    });
    if (largest && box.wanted == most && lost >= least) continue;
    std::tie(share.first, share.last) = grid_.Around(share.members);
    largest = std::move(share);
    least = lost;
  }
  return largest;
}

// Greedy: the largest share, then the largest of what is left. This does not always give the fewest shares.
std::vector<RuleCosts::Share> RuleCosts::Cover() {
  std::vector<Share> shares;
  std::vector<bool> taken(grid_.members());
  while (std::find(taken.begin(), taken.end(), false) != taken.end()) {
    std::optional<Share> share = Largest(taken);
    KIRSCH_CHECK(share.has_value());
    for (size_t member : share->members) taken[member] = true;
    shares.push_back(*std::move(share));
  }
  std::fill(most_.begin(), most_.end(), grid_.members());  // members are free again
  std::sort(shares.begin(), shares.end(),
            [](const Share& a, const Share& b) { return a.members < b.members; });
  return shares;
}

}  // namespace kirsch
