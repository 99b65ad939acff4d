// SPDX-License-Identifier: Apache-2.0
// Keeps what the searches of one family work out again and again, beside what the memo holds.
#ifndef KIRSCH_SYNTHESIS_KEPT_WORK_H_
#define KIRSCH_SYNTHESIS_KEPT_WORK_H_

#include "cost/cost_model.h"
#include "search/graph/stage_cost.h"
#include "search/solver/ranked_decisions.h"

namespace kirsch {

// It is true of a target, whatever was asked. Not thread-safe. `model` must outlive this.
struct KeptWork {
  explicit KeptWork(const CostModel& model) : ranking(model), prices(model.target()) {}

  DecisionRanking ranking;
  StagePrices prices;
};

}  // namespace kirsch

#endif  // KIRSCH_SYNTHESIS_KEPT_WORK_H_
