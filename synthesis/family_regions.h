// SPDX-License-Identifier: Apache-2.0
// Describes the regions of a family for people: which sizes each has, how fast its kernels should be, and
// what its members lose by sharing. Works alike for specs and graphs.
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

// The share of its own optimum that a member is predicted to lose by sharing its region's decisions. 0.02: it
// takes 2 % longer than its own program would.
struct MemberLoss {
  double most = 0;    // at most so much, if it is not exact
  bool exact = true;  // false: its own optimum is not known, only a bound of it
};

// All regions of a family for one target.
struct Regions {
  std::vector<VaryingSize> sizes;
  std::vector<double> gflops;  // predicted, of each member
  bool integers = false;       // the operations are of integers: rates are GOP/s, not GFLOP/s
  // Of each member, what is known of its loss by sharing. Empty: members share nothing.
  std::vector<std::optional<MemberLoss>> losses;
  std::vector<Region> list;
};

// Makes the region of these members; its decision is left empty. Where a size is sampled, the box includes
// the sizes below the least member that its program serves.
Region RegionOf(const std::vector<VaryingSize>& sizes, absl::Span<const int64_t> members);

// Prints the regions, a line each under a line of titles. The losses are there only if regions.losses is: "-"
// where no member's loss is known, "<" before a loss that is only a bound.
//    m       kernels  GFLOP/s, from - to  mean loss  most loss  decision
//    1             1         81.9 - 81.9     0.00 %     0.00 %  move out VRF vectors8
//    33..64       32         94.7 - 96.7     1.39 %    <2.68 %  move rhs L1; tile m 6; ...
std::string RegionTable(const Regions& regions);

// One line for a region, as in "m 1..14, n 8: 14 kernels, 20.1 to 98.7 GFLOP/s predicted".
std::string RegionText(const Regions& regions, const Region& region);

// The least and the most predicted rate of the region's members.
std::pair<double, double> RatesOf(const Regions& regions, const Region& region);

// Sums up the losses of a region's members, as far as they are known.
struct RegionLoss {
  int64_t known = 0, exact = 0;  // members whose loss is known; and of them, those where it is exact
  double mean = 0, largest = 0;  // shares, over the members whose loss is known
};
RegionLoss LossOf(const Regions& regions, const Region& region);

}  // namespace kirsch

#endif  // KIRSCH_SYNTHESIS_FAMILY_REGIONS_H_
