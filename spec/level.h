// SPDX-License-Identifier: Apache-2.0
// Names the memory levels, fastest first. A smaller value is a faster level.
#ifndef KIRSCH_SPEC_LEVEL_H_
#define KIRSCH_SPEC_LEVEL_H_

#include <array>
#include <cstdint>
#include <string_view>

namespace kirsch {

enum class Level : uint8_t { kVrf, kL1, kL2, kL3, kRam };

inline constexpr int kNumLevels = 5;
inline constexpr std::array<std::string_view, kNumLevels> kLevelNames = {"VRF", "L1", "L2", "L3", "RAM"};

constexpr int Index(Level level) { return static_cast<int>(level); }
constexpr std::string_view Name(Level level) { return kLevelNames[static_cast<size_t>(level)]; }

}  // namespace kirsch

#endif  // KIRSCH_SPEC_LEVEL_H_
