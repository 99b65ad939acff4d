// SPDX-License-Identifier: Apache-2.0
// Reports what was predicted without running anything beside what was found, for people and for scripts.
#ifndef KIRSCH_FIDELITY_STATIC_REPORT_H_
#define KIRSCH_FIDELITY_STATIC_REPORT_H_

#include <optional>
#include <string>
#include <vector>

#include "fidelity/tile_check.h"
#include "fidelity/traffic_check.h"
#include "nlohmann/json_fwd.hpp"

namespace kirsch {

// The checks of `kirsch fidelity --static`: register tiles, and traffic of whole programs.
struct StaticReport {
  std::vector<TileCheck> tiles;
  std::vector<TrafficCheck> traffics;
};

// Predicted instructions and bytes that are off by no more than this share count as right.
inline constexpr double kInstructionsTolerance = 0.02, kBytesTolerance = 0.15;

// Shares of checks that are right, 0 to 1, and mean errors. Nothing where nothing was checked.
struct StaticSummary {
  std::optional<double> registers, spills, instructions, bytes;  // that are right
  std::optional<double> cycles_mape, analyser_mape;              // against the machine, where both are known
};
// Both mean errors are over the same tiles, so that they can be compared: those measured and analysed.
StaticSummary Summarise(const StaticReport& report);

// The summary, then the tiles that differ most, then the traffic of each program.
std::string FormatTable(const StaticReport& report);

// {"summary": {...}, "tiles": [...], "traffic": [...]}
nlohmann::ordered_json ToJson(const StaticReport& report);

}  // namespace kirsch

#endif  // KIRSCH_FIDELITY_STATIC_REPORT_H_
