#include "spec/target.h"

#include <algorithm>

namespace kirsch {

bool Target::HasFeature(const std::string& feature) const {
  return std::find(features.begin(), features.end(), feature) != features.end();
}

std::vector<std::string> FeaturesOf(const VectorUnit& unit) {
  std::vector<std::string> features = {"avx2", "fma"};
  const bool evex = unit.masks || unit.registers > 16 || unit.bytes == 64;
  if (evex) features.push_back("avx512f");
  if (evex && unit.bytes < 64) features.push_back("avx512vl");
  return features;
}

}  // namespace kirsch
