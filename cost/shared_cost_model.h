// SPDX-License-Identifier: Apache-2.0
// Shares cost models between questions. A model fills tables when it is first asked, which takes longer than
// to answer a question from a table of solved specs.
#ifndef KIRSCH_COST_SHARED_COST_MODEL_H_
#define KIRSCH_COST_SHARED_COST_MODEL_H_

#include <memory>

#include "cost/cost_model.h"
#include "spec/target.h"

namespace kirsch {

// Returns a model of the target: that of an earlier call, as long as few others came between. One of an
// extension is never kept. Thread-safe.
std::shared_ptr<const CostModel> SharedCostModel(const Target& target);

}  // namespace kirsch

#endif  // KIRSCH_COST_SHARED_COST_MODEL_H_
