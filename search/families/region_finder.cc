// SPDX-License-Identifier: Apache-2.0
#include "search/families/region_finder.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <tuple>
#include <utility>

#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

// A share must have at least one in so many of all members for other rules to be searched for it.
constexpr size_t kWorthASearch = 256;

}  // namespace

absl::StatusOr<bool> RegionFinder::Find() {
  std::vector<std::vector<size_t>> ladders;
  for (size_t dim = 0; dim < dims(); ++dim) ladders.push_back(Ladder(dim));
  for (size_t member : MembersAt(ladders)) KIRSCH_RETURN_IF_ERROR(Improve(member));
  if (absl::StatusOr<bool> served = ServeAll(); !served.ok() || !*served) return served;
  KIRSCH_RETURN_IF_ERROR(RefineBetween(ladders));
  KIRSCH_RETURN_IF_ERROR(SolveJumps());
  KIRSCH_RETURN_IF_ERROR(ImproveShares());
  KIRSCH_RETURN_IF_ERROR(AddRegions());
  return true;
}

absl::Status RegionFinder::Improve(size_t member) {
  if (costs_.Least(member) < RuleCosts::kNone && Stopped()) return absl::OkStatus();
  if (!searched_.insert(member).second) return absl::OkStatus();
  return Search(member, costs_.Least(member) / (1 + kLossNotSearched));
}

std::vector<size_t> RegionFinder::ByLoss(const RuleCosts::Share& share) const {
  std::vector<size_t> members = share.members;
  const auto loss = [&](size_t member) { return costs_.Loss(costs_.cost(share.rule, member), member); };
  std::stable_sort(members.begin(), members.end(), [&](size_t a, size_t b) { return loss(a) > loss(b); });
  return members;
}

std::vector<size_t> RegionFinder::MembersAt(const std::vector<std::vector<size_t>>& ladders) const {
  std::vector<SizeGrid::Place> places = {SizeGrid::Place(dims())};
  for (size_t dim = 0; dim < dims(); ++dim) {
    std::vector<SizeGrid::Place> longer;
    for (const SizeGrid::Place& place : places)
      for (size_t i : ladders[dim]) {
        longer.push_back(place);
        longer.back()[dim] = i;
      }
    places = std::move(longer);
  }
  std::vector<size_t> members;
  for (const SizeGrid::Place& place : places) members.push_back(grid().Index(place));
  return members;
}

// Refines each box between neighbouring values of the ladders.
absl::Status RegionFinder::RefineBetween(const std::vector<std::vector<size_t>>& ladders) {
  const auto improve = [&](size_t member) -> absl::StatusOr<bool> {
    const double known = costs_.Least(member);
    KIRSCH_RETURN_IF_ERROR(Improve(member));
    return dims() == 1 || costs_.Least(member) < known;
  };
  std::vector<std::vector<size_t>> lows = ladders;
  for (std::vector<size_t>& low : lows)
    if (low.size() > 1) low.erase(low.begin());
  for (size_t member : MembersAt(lows)) {
    SizeGrid::Place high = grid().At(member);
    for (size_t dim = 0; dim < dims(); ++dim) {
      const auto at = std::find(ladders[dim].begin(), ladders[dim].end(), high[dim]);
      if (at != ladders[dim].begin()) high[dim] = *std::prev(at);
    }
    if (absl::Status status =
            costs_.Refine(member, grid().Index(high), policy_.most_apart, improve, policy_.patience);
        !status.ok())
      return status;
  }
  return absl::OkStatus();
}

// Chooses shares, and improves the first, a middle and the last member of each; chooses anew if that gave
// better rules.
absl::Status RegionFinder::ImproveShares() {
  size_t known = 0;
  for (int time = 0; time < policy_.improvements && known < costs_.count(); ++time) {
    known = costs_.count();
    for (const RuleCosts::Share& share : costs_.Cover()) {
      if (share.members.size() < grid().members() / kWorthASearch) continue;
      const size_t between = costs_.Between(share.first, share.last);
      const auto middle = std::lower_bound(share.members.begin(), share.members.end(), between);
      for (size_t member :
           {share.members.front(), middle == share.members.end() ? share.members.back() : *middle,
            share.members.back()})
        KIRSCH_RETURN_IF_ERROR(Improve(member));
    }
  }
  return absl::OkStatus();
}

absl::Status RegionFinder::AddRegions() {
  for (size_t next = 0; next < taken_.size(); ++next)
    while (!taken_[next]) {
      if (std::optional<RuleCosts::Share> share = costs_.Largest(taken_)) {
        AddShare(*std::move(share));
        continue;
      }
      KIRSCH_ASSIGN_OR_RETURN(const bool added, AddOwnRegion(next));
      taken_[next] = added;
    }
  return absl::OkStatus();
}

// If there is no program for the whole box, the share is halved until there is one.
void RegionFinder::AddShare(RuleCosts::Share share) {
  while (!AddRegion(share)) {
    if (share.members.size() == 1) return costs_.Forget(share.rule, share.first);
    share.members.resize(share.members.size() / 2);
    std::tie(share.first, share.last) = grid().Around(share.members);
  }
  for (size_t member : share.members) taken_[member] = true;
}

}  // namespace kirsch
