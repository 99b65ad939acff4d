// SPDX-License-Identifier: Apache-2.0
// Knows by their names the kernels that peers choose among, and what the CPU must have to run them.
//
// A peer takes the kernels that its setting names even where the CPU can't run them. It would crash, so the
// bench leaves such settings out.
#ifndef KIRSCH_BENCH_MACHINE_CORE_TYPES_H_
#define KIRSCH_BENCH_MACHINE_CORE_TYPES_H_

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace kirsch {

// Instruction sets that peers can be held to.
inline constexpr std::array<std::string_view, 1> kPeersIsas = {"avx2"};
// Returns those of the CPU's `features` that `isa` has, which is one of kPeersIsas.
std::vector<std::string> FeaturesOf(std::string_view isa, std::vector<std::string> features);

// The core type of a library that uses all that the CPU has, and does not say which kernels these are.
inline constexpr std::string_view kCoreTypeOfTheCpu = "of the CPU";

// True if kernels for `core` (ContenderInfo::core) can run on a CPU with these features (Host::features).
// Names that aren't known are taken to run anywhere.
bool RunsCoreType(std::string_view core, const std::vector<std::string>& features);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_MACHINE_CORE_TYPES_H_
