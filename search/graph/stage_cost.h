// SPDX-License-Identifier: Apache-2.0
// What the stages of plans cost that no search is needed for.
#ifndef KIRSCH_SEARCH_GRAPH_STAGE_COST_H_
#define KIRSCH_SEARCH_GRAPH_STAGE_COST_H_

#include <vector>

#include "spec/level.h"
#include "spec/program/plan.h"
#include "spec/target.h"

namespace kirsch {

// Fills in the cycles of a stage that is no contraction and no pack, and the schedule of a row program: the
// cheapest, or `pinned`, if it isn't null. False: that one is not in the space. `levels`: where the stage's
// operands are.
bool PriceStage(const std::vector<Level>& levels, const Target& target, const RowSchedule* pinned,
                Stage* stage);

// What a run of a row program that was priced takes of so many rows and columns.
double RowCyclesFor(const Stage& stage, int64_t rows, int64_t columns, const Target& target);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_GRAPH_STAGE_COST_H_
