// SPDX-License-Identifier: Apache-2.0
#include "search/families/rule_costs.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace kirsch {

RuleCosts::RuleCosts(size_t first, size_t last, std::function<double(size_t member)> size)
    : first_(first), last_(last), size_(std::move(size)) {}

double RuleCosts::Least(size_t member) const {
  const auto own = own_.find(member);
  double least = own == own_.end() ? kNone : own->second;
  for (size_t rule = 0; rule < count(); ++rule) least = std::min(least, cost(rule, member));
  return least;
}

size_t RuleCosts::Between(size_t low, size_t high) const {
  const double middle = std::sqrt(size_(low) * size_(high));
  size_t member = std::min(low + 1, high);
  while (member + 1 < high && size_(member) < middle) ++member;
  return member;
}

absl::Status RuleCosts::Refine(size_t low, size_t high, double most_apart,
                               const std::function<absl::Status(size_t member)>& solve) const {
  if (high - low < 2) return absl::OkStatus();
  const double from = Least(low), rise = (Least(high) - from) / (size_(high) - size_(low));
  bool served = size_(high) <= most_apart * size_(low);
  for (size_t i = low + 1; i < high && served; ++i)
    served = Least(i) <= (1 + kMostLoss) * (from + rise * (size_(i) - size_(low)));
  if (served) return absl::OkStatus();
  const size_t middle = Between(low, high);
  if (absl::Status solved = solve(middle); !solved.ok()) return solved;
  if (absl::Status refined = Refine(low, middle, most_apart, solve); !refined.ok()) return refined;
  return Refine(middle, high, most_apart, solve);
}

std::optional<RuleCosts::Interval> RuleCosts::Furthest(
    size_t next, const std::function<double(double cost, size_t member)>& loss) const {
  std::optional<Interval> furthest;
  double least = 0;
  for (size_t rule = 0; rule < count(); ++rule) {
    size_t end = next;
    double lost = 0;
    for (; end <= last_; ++end) {
      const double at_member = loss(cost(rule, end), end);
      if (!(at_member <= kMostLoss)) break;  // nor a share of nothing
      lost += at_member;
    }
    if (end == next) continue;
    const size_t last = end - 1;
    if (furthest && (last < furthest->last || (last == furthest->last && lost >= least))) continue;
    furthest = {rule, last};
    least = lost;
  }
  return furthest;
}

}  // namespace kirsch
