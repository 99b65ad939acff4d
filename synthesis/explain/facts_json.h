// SPDX-License-Identifier: Apache-2.0
// Writes what is known of a program's parts as JSON, for all reports alike.
#ifndef KIRSCH_SYNTHESIS_EXPLAIN_FACTS_JSON_H_
#define KIRSCH_SYNTHESIS_EXPLAIN_FACTS_JSON_H_

#include <nlohmann/json_fwd.hpp>

#include "cost/tile_facts.h"
#include "spec/traffic.h"

namespace kirsch {

// {<level>: {read, written}} in bytes. Levels with nothing are left out.
nlohmann::ordered_json TrafficJson(const Traffic& traffic);

// What is predicted of a register tile: its shape, and a trip of its loop.
nlohmann::ordered_json TileJson(const TileFacts& facts);

}  // namespace kirsch

#endif  // KIRSCH_SYNTHESIS_EXPLAIN_FACTS_JSON_H_
