// The regions of a family on the command line, whatever its members are.
#ifndef KIRSCH_TOOLS_REGIONS_H_
#define KIRSCH_TOOLS_REGIONS_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
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
  std::vector<Region> list;
};

// The region of members that differ in one size only, of which these are neighbours; without its decision.
Region RegionOf(const std::vector<VaryingSize>& sizes, absl::Span<const int64_t> members);

// Regions for people, a line each under a line of titles: sizes, kernels, predicted rates from the least to
// the most, mean and largest loss if there are losses ("-" where no member's is known, "<" before what is but
// a bound), decision.
std::string RegionTable(const Regions& regions);

// "m 1..14, n 8: 14 kernels, 20.1 to 98.7 GFLOP/s predicted"
std::string RegionText(const Regions& regions, const Region& region);

// {<size>: [low, high] for each that varies, kernels, decision, predicted_gflops: [least, most]};
// if there are losses, loss: {known: of so many members, exactly: of these, mean, largest (null where none is
// known)}
nlohmann::ordered_json RegionJson(const Regions& regions, const Region& region);

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_REGIONS_H_
