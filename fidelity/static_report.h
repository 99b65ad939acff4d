// SPDX-License-Identifier: Apache-2.0
// What was predicted without running anything, and what was found: for people and for scripts.
#ifndef KIRSCH_FIDELITY_STATIC_REPORT_H_
#define KIRSCH_FIDELITY_STATIC_REPORT_H_

#include <optional>
#include <string>
#include <vector>

#include "fidelity/tile_check.h"
#include "fidelity/traffic_check.h"
#include "nlohmann/json_fwd.hpp"

namespace kirsch {

struct StaticReport {
  std::vector<TileCheck> tiles;
  std::vector<TrafficCheck> traffics;
};

// Instructions and bytes that are off by no more than this count as right.
inline constexpr double kInstructionsTolerance = 0.02, kBytesTolerance = 0.15;

// Shares of 1; nothing where nothing was checked.
struct StaticSummary {
  std::optional<double> registers, spills, instructions, bytes;  // that are right
  std::optional<double> cycles_mape, analyser_mape;              // against the machine, where both are known
};
StaticSummary Summarise(const StaticReport& report);

std::string FormatTable(const StaticReport& report);

// {"summary": {...}, "tiles": [...], "traffic": [...]}
nlohmann::ordered_json ToJson(const StaticReport& report);

}  // namespace kirsch

#endif  // KIRSCH_FIDELITY_STATIC_REPORT_H_
