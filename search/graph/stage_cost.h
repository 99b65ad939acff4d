// SPDX-License-Identifier: Apache-2.0
// Prices the stages of plans that need no search: row programs, copies of images, transposes and transforms.
#ifndef KIRSCH_SEARCH_GRAPH_STAGE_COST_H_
#define KIRSCH_SEARCH_GRAPH_STAGE_COST_H_

#include <vector>

#include "spec/level.h"
#include "spec/program/plan.h"
#include "spec/target.h"

namespace kirsch {

// Fills in the cycles and the traffic of such a stage, and the cheapest schedule of a row program, or
// `pinned` if that isn't null. False: the pinned schedule is not in the space. `levels`: where the stage's
// operands are.
bool PriceStage(const std::vector<Level>& levels, const Target& target, const RowSchedule* pinned,
                Stage* stage);

// The cycles of one run of a priced row program, with other numbers of rows and columns but the same
// schedule.
double RowCyclesFor(const Stage& stage, int64_t rows, int64_t columns, const Target& target);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_GRAPH_STAGE_COST_H_
