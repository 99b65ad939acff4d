// SPDX-License-Identifier: Apache-2.0
// The regions of a family, whatever its members are, and how people are told of them.
#ifndef KIRSCH_SYNTHESIS_FAMILY_REGIONS_H_
#define KIRSCH_SYNTHESIS_FAMILY_REGIONS_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "search/families/regions.h"
#include "spec/language/varying_size.h"

namespace kirsch {

// The share of its own optimum that a member is predicted to lose by sharing its region's decisions.
struct MemberLoss {
  double most = 0;
  bool exact = true;  // else only a bound of its own optimum is known
};

struct Regions {
  std::vector<VaryingSize> sizes;
  std::vector<double> gflops;  // predicted, of each member
  bool integers = false;       // that these operations are of
  // Of each member that shares its region's decisions, what is known. Empty: each has its own.
  std::vector<std::optional<MemberLoss>> losses;
  std::vector<DispatchRange> list;
};

// The region of these members, and of the sizes beside theirs that are not looked at; without its decision.
DispatchRange RegionOf(const std::vector<VaryingSize>& sizes, absl::Span<const int64_t> members);

// Regions for people, a line each under a line of titles: sizes, kernels, predicted rates from the least to
// the most, mean and largest loss if there are losses ("-" where no member's is known, "<" before what is but
// a bound), decision.
std::string RegionTable(const Regions& regions);

// "m 1..14, n 8: 14 kernels, 20.1 to 98.7 GFLOP/s predicted"
std::string RegionText(const Regions& regions, const DispatchRange& region);

// Least and most GFLOP/s.
std::pair<double, double> RatesOf(const Regions& regions, const DispatchRange& region);

// What a region's members lose, as far as it is known.
struct RegionLoss {
  int64_t known = 0, exact = 0;  // of so many members, and of these other than as a bound
  double mean = 0, largest = 0;
};
RegionLoss LossOf(const Regions& regions, const DispatchRange& region);

}  // namespace kirsch

#endif  // KIRSCH_SYNTHESIS_FAMILY_REGIONS_H_
