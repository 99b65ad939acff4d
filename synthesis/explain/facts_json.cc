// SPDX-License-Identifier: Apache-2.0
#include "synthesis/explain/facts_json.h"

#include <nlohmann/json.hpp>
#include <string>

namespace kirsch {

using nlohmann::ordered_json;

ordered_json TrafficJson(const Traffic& traffic) {
  ordered_json json = ordered_json::object();
  for (Level level : {Level::kL2, Level::kL3, Level::kRam})
    if (traffic.at(level) > 0)
      json[std::string(Name(level))] = {{"read", traffic.read[static_cast<size_t>(level)]},
                                        {"written", traffic.written[static_cast<size_t>(level)]}};
  return json;
}

ordered_json TileJson(const TileFacts& facts) {
  const RegisterTile& tile = facts.tile;
  return {{"rows", tile.rows},
          {"columns", tile.columns},
          {"lanes", tile.lanes},
          {"instruction", tile.instruction().name},
          {"registers", facts.registers},
          {"spills", facts.spills},
          {"steps_per_trip", facts.steps},
          {"multiply_adds_per_trip", facts.multiply_adds},
          {"instructions_per_trip", facts.instructions},
          {"cycles_per_trip", facts.cycles},
          {"bottleneck", facts.bottleneck},
          {"peak_share", facts.peak_share}};
}

}  // namespace kirsch
