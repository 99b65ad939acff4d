#include "spec/target.h"

#include <algorithm>
#include <initializer_list>

#include "spec/check.h"

namespace kirsch {

bool Target::HasFeature(std::string_view feature) const {
  return std::find(features.begin(), features.end(), feature) != features.end();
}

std::vector<std::string> FeaturesOf(const VectorUnit& unit) {
  std::vector<std::string> features = {"avx2", "fma"};
  const bool evex = unit.masks || unit.registers > 16 || unit.bytes == 64;
  if (evex) features.push_back("avx512f");
  if (evex && unit.bytes < 64) features.push_back("avx512vl");
  return features;
}

ArithmeticRate VectorUnit::rate(Arithmetic arithmetic) const {
  switch (arithmetic) {
    case Arithmetic::kFma:
      return {fma_per_cycle, fma_latency};
    case Arithmetic::kMultiplyAdd:
      return {mul_per_cycle, mul_latency};
    case Arithmetic::kFmaPairs:
      return {fma_per_cycle / 2, 2 * fma_latency};
    case Arithmetic::kDotBf16:
      return {dot_bf16_per_cycle, dot_bf16_latency};
    case Arithmetic::kDotS16:
      return {dot_s16_per_cycle, dot_s16_latency};
    case Arithmetic::kDotU8S8:
    case Arithmetic::kDotO8S8:
      return {dot_u8s8_per_cycle, dot_u8s8_latency};
  }
  KIRSCH_CHECK(false && "no such arithmetic");
}

std::optional<std::vector<std::string_view>> FeaturesOf(Arithmetic arithmetic, const VectorUnit& unit,
                                                        const Target& target) {
  using Features = std::vector<std::string_view>;
  const auto one_of = [&](std::initializer_list<Features> ways) -> std::optional<Features> {
    for (const Features& way : ways)
      if (std::all_of(way.begin(), way.end(), [&](std::string_view f) { return target.HasFeature(f); }))
        return way;
    return std::nullopt;
  };
  const bool wide = unit.bytes == 64;
  switch (arithmetic) {
    case Arithmetic::kFma:
    case Arithmetic::kMultiplyAdd:
    case Arithmetic::kFmaPairs:
      return Features();
    case Arithmetic::kDotBf16:
      return wide ? one_of({{"avx512bf16"}}) : one_of({{"avx512bf16", "avx512vl"}});
    case Arithmetic::kDotS16:
      return wide ? one_of({{"avx512vnni", "avx512bw"}, {"avx512bw"}})
                  : one_of({{"avx512vnni", "avx512vl"}, {"avxvnni"}, {"avx2"}});
    case Arithmetic::kDotU8S8:
    case Arithmetic::kDotO8S8:
      return wide ? one_of({{"avx512vnni"}}) : one_of({{"avx512vnni", "avx512vl"}, {"avxvnni"}});
  }
  KIRSCH_CHECK(false && "no such arithmetic");
}

}  // namespace kirsch
