// SPDX-License-Identifier: Apache-2.0
// The kernels that peers choose among, by the names that they have for them, and what the CPU must have to
// run them. A peer takes those that its setting names even where it can't run them.
#ifndef KIRSCH_BENCH_MACHINE_CORE_TYPES_H_
#define KIRSCH_BENCH_MACHINE_CORE_TYPES_H_

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace kirsch {

// Those of the CPU's features that `isa` has, one of kPeersIsas: what peers are held to.
inline constexpr std::array<std::string_view, 1> kPeersIsas = {"avx2"};
std::vector<std::string> FeaturesOf(std::string_view isa, std::vector<std::string> features);

// The core type of a library that takes what the CPU has and does not say which.
inline constexpr std::string_view kCoreTypeOfTheCpu = "of the CPU";

// May kernels for `core` (ContenderInfo::core) run on a CPU with these features (Host::features)? Of a name
// that isn't known, yes.
bool RunsCoreType(std::string_view core, const std::vector<std::string>& features);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_MACHINE_CORE_TYPES_H_
