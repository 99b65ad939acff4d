// SPDX-License-Identifier: Apache-2.0
// Copies only the fields of a LoopNest that its predicted time depends on, so that two nests can be compared
// cheaply.
#ifndef KIRSCH_SEARCH_FAMILIES_NEST_TIMES_H_
#define KIRSCH_SEARCH_FAMILIES_NEST_TIMES_H_

#include "spec/program/plan.h"

namespace kirsch {

// The nest with stages that have their cycles, and nothing else.
inline LoopNest TimesOf(const LoopNest& nest) {
  LoopNest times;
  times.batch = nest.batch;
  times.rows = nest.rows;
  times.tile = nest.tile;
  for (auto list : {&LoopNest::before, &LoopNest::once, &LoopNest::stages, &LoopNest::rest})
    for (const Stage& stage : nest.*list) (times.*list).emplace_back().cycles = stage.cycles;
  return times;
}

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_FAMILIES_NEST_TIMES_H_
