// SPDX-License-Identifier: Apache-2.0
#include "spec/target.h"

#include <algorithm>

namespace kirsch {

bool Target::HasFeature(std::string_view feature) const {
  return std::ranges::find(features, feature) != features.end();
}

std::vector<std::string> FeaturesOf(const VectorUnit& unit) {
  std::vector<std::string> features = {"avx2", "fma"};
  // Masks and registers from 16 on exist in AVX-512's encoding only; for vectors below 64 bytes it needs
  // avx512vl.
  const bool evex = unit.masks || unit.registers > 16 || unit.bytes == 64;
  if (evex) features.push_back("avx512f");
  if (evex && unit.bytes < 64) features.push_back("avx512vl");
  return features;
}

ArithmeticRate VectorUnit::rate(Arithmetic arithmetic) const {
  const Instruction& row = Info(arithmetic);
  // The keys of FMA are members of the unit, as every other operation on vectors goes at its rate.
  const ArithmeticRate part = row.timed == Arithmetic::kFma
                                  ? ArithmeticRate{fma_per_cycle, fma_latency, fma_chains}
                                  : rates[static_cast<size_t>(row.timed)];
  return {part.per_cycle / row.parts(), part.latency * row.parts(), part.chains};
}

const Encoding* EncodingOf(Arithmetic arithmetic, const VectorUnit& unit, const Target& target) {
  return FindEncoding(Info(arithmetic), unit.bytes,
                      [&](std::string_view feature) { return target.HasFeature(feature); });
}

}  // namespace kirsch
