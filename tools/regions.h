// The regions of a family on the command line, whatever its members are.
#ifndef KIRSCH_TOOLS_REGIONS_H_
#define KIRSCH_TOOLS_REGIONS_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "search/regions.h"
#include "spec/text/varying_size.h"

namespace kirsch {

struct Regions {
  std::vector<VaryingSize> sizes;
  std::vector<double> gflops;  // predicted, of each member
  std::vector<Region> list;
};

// Regions for people, a line each under a line of titles: sizes, kernels, predicted GFLOP/s, decision.
std::string RegionTable(const Regions& regions);

// "m 1..14, n 8: 14 kernels, 20.1 to 98.7 GFLOP/s predicted"
std::string RegionText(const Regions& regions, const Region& region);

// {<size>: [low, high] for each that varies, kernels, decision, predicted_gflops: [least, most]}
nlohmann::ordered_json RegionJson(const Regions& regions, const Region& region);

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_REGIONS_H_
