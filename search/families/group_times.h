// Copies only the fields of a Group that its predicted time depends on, so that two groups can be compared
// cheaply.
#ifndef KIRSCH_SEARCH_FAMILIES_GROUP_TIMES_H_
#define KIRSCH_SEARCH_FAMILIES_GROUP_TIMES_H_

#include "spec/program/plan.h"

namespace kirsch {

// The group with stages that have their cycles, and nothing else.
inline Group TimesOf(const Group& group) {
  Group times;
  times.batch = group.batch;
  times.rows = group.rows;
  times.tile = group.tile;
  for (auto list : {&Group::before, &Group::once, &Group::stages, &Group::rest})
    for (const Stage& stage : group.*list) (times.*list).emplace_back().cycles = stage.cycles;
  return times;
}

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_FAMILIES_GROUP_TIMES_H_
