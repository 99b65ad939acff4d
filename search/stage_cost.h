// What the stages of plans cost that no search is needed for.
#ifndef KIRSCH_SEARCH_STAGE_COST_H_
#define KIRSCH_SEARCH_STAGE_COST_H_

#include <vector>

#include "spec/level.h"
#include "spec/plan.h"
#include "spec/target.h"

namespace kirsch {

// Fills in the cycles of a stage that is no contraction and no pack, and the schedule of a row program.
// `levels`: where its operands are.
void PriceStage(const std::vector<Level>& levels, const Target& target, Stage* stage);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_STAGE_COST_H_
