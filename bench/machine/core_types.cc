// SPDX-License-Identifier: Apache-2.0
#include "bench/machine/core_types.h"

#include <algorithm>
#include <iterator>

#include "spec/check.h"

namespace kirsch {
namespace {

// A core type, and the feature whose absence excludes it.
struct CoreType {
  std::string_view name;
  std::string_view feature = "avx512bw";  // which no CPU has without the others of Skylake's AVX-512
};

// Core types that need more than AVX2 and FMA.
constexpr CoreType kCoreTypes[] = {
    {"SkylakeX"},  // OpenBLAS
    {"Cooperlake", "avx512bf16"},
    {"SapphireRapids", "avx512bf16"},
    {"skx"},  // BLIS and libxsmm
    {"zen4", "avx512bf16"},
    {"zen5", "avx512bf16"},
    {"clx", "avx512vnni"},
    {"cpx", "avx512bf16"},
    {"skylake-avx512"},  // what Eigen was compiled for
    {"avx512_core"},     // oneDNN
    {"avx512_core_vnni", "avx512vnni"},
    {"avx512_core_bf16", "avx512bf16"},
    {"avx512_core_amx", "amx-bf16"},
    {"AVX512"},  // MKL
    {kCoreTypeOfTheCpu},
};

}  // namespace

std::vector<std::string> FeaturesOf(std::string_view isa, std::vector<std::string> features) {
  KIRSCH_CHECK(isa == kPeersIsas[0]);
  // "avx2" is what is left without AVX-512 and matrix tiles.
  std::erase_if(features, [](std::string_view feature) {
    return feature.starts_with("avx512") || feature.starts_with("amx");
  });
  return features;
}

bool RunsCoreType(std::string_view core, const std::vector<std::string>& features) {
  // A name that is not in the table excludes nothing.
  return std::none_of(std::begin(kCoreTypes), std::end(kCoreTypes), [&](const CoreType& type) {
    return type.name == core && std::find(features.begin(), features.end(), type.feature) == features.end();
  });
}

}  // namespace kirsch
