// SPDX-License-Identifier: Apache-2.0
// A plan as a rule for other numbers of keys.
#ifndef KIRSCH_SEARCH_FAMILIES_KEY_COUNT_SCHEDULE_H_
#define KIRSCH_SEARCH_FAMILIES_KEY_COUNT_SCHEDULE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "cost/cost_model.h"
#include "search/families/plan_regions.h"
#include "search/families/symbolic_schedule.h"
#include "spec/program/plan.h"

namespace kirsch {

// Of a plan that was searched for any number of keys (PlanOptions::other_keys): stages for blocks are
// repeated as often as there are such blocks; those for keys at once do the same for fewer than
// the searched number, their contractions as SymbolicSchedule says. Their operands are where those of the
// searched number were. Not thread-safe.
class KeyCountSchedule : public PlanRule {
 public:
  // `model` outlives this. `choice`: of the contractions whose columns the keys are.
  KeyCountSchedule(Plan plan, const CostModel& model, const SymbolicScheduleOptions& choice = {});

  // Is there a contraction whose columns the keys are, that a division leaves some of?
  bool LeavesColumns() const;

  int64_t most() const override { return most_; }
  double CyclesFor(int64_t keys) override;
  std::optional<Plan> ApplyToRange(int64_t least, int64_t most) override;

 private:
  double StageCycles(const Stage& stage, int64_t block, int64_t keys);

  const Plan plan_;
  const CostModel& model_;
  int64_t most_;
  std::map<const Stage*, std::unique_ptr<SymbolicSchedule>> contractions_;  // for all keys at once
};

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_FAMILIES_KEY_COUNT_SCHEDULE_H_
