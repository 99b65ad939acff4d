// The regions of a family on the command line, whatever its members are.
#ifndef KIRSCH_TOOLS_REGIONS_H_
#define KIRSCH_TOOLS_REGIONS_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "search/regions.h"
#include "spec/text/varying_size.h"

namespace kirsch {

struct Regions {
  std::vector<VaryingSize> sizes;
  std::vector<double> gflops;  // predicted, of each member
  // Of each member that shares its region's decisions, the share of its own optimum that this is predicted to
  // cost, where that is known. Empty: each has its own.
  std::vector<std::optional<double>> losses;
  std::vector<Region> list;
};

// Regions for people, a line each under a line of titles: sizes, kernels, predicted GFLOP/s, mean and largest
// loss in percent if there are losses, decision.
std::string RegionTable(const Regions& regions);

// "m 1..14, n 8: 14 kernels, 20.1 to 98.7 GFLOP/s predicted"
std::string RegionText(const Regions& regions, const Region& region);

// {<size>: [low, high] for each that varies, kernels, decision, predicted_gflops: [least, most]};
// if there are losses, loss: {known: of so many members, mean, largest}
nlohmann::ordered_json RegionJson(const Regions& regions, const Region& region);

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_REGIONS_H_
