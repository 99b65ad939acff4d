// SPDX-License-Identifier: Apache-2.0
// Draws and prices kernels that are a single stage: row programs and convolutions. A calibration measures
// them beside contractions.
//
// A plan of one stage is priced without its graph, many thousand times in a fit, when only cost keys change.
#ifndef KIRSCH_CALIBRATE_ONE_STAGE_H_
#define KIRSCH_CALIBRATE_ONE_STAGE_H_

#include <functional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "cost/cost_model.h"
#include "memo/memo.h"
#include "search/solver/search.h"
#include "spec/graph/graph.h"
#include "spec/impl.h"
#include "spec/level.h"
#include "spec/program/plan.h"

namespace kirsch {

// Returns a function that prices a contraction's program. It copies what it needs, so `impl` need not outlive
// it. Models may differ from `target` in cost keys only.
std::function<double(const CostModel&)> PricerFor(const Impl& impl, const Target& target);

// A plan that is one stage, and other plans that differ from it in nothing but how the stage is done.
class OneStage {
 public:
  // Returns the cheapest plan, or the one with the schedule if that is not empty. InvalidArgument if there is
  // none, or if the graph's plan is more than one stage.
  static absl::StatusOr<OneStage> Of(const Graph& graph, Residency residency, std::string_view schedule,
                                     const CostModel& model, Memo& memo);

  const Plan& plan() const { return plan_; }
  Level level() const { return level_; }  // where the operands are at first

  // Returns about `count` plans with this stage done in other ways, this one first. Of contractions they are
  // drawn by `seed`; of row programs they are spread evenly over all schedules.
  std::vector<OneStage> Others(int count, uint64_t seed, const CostModel& model, Memo& memo) const;

  // Returns a function that prices the plan for models that differ in cost keys only. `model` is the one it
  // was made for.
  std::function<double(const CostModel&)> Price(const CostModel& model) const;

 private:
  // The only stage; null if the plan is not of that kind.
  const Stage* stage() const { return const_cast<OneStage*>(this)->stage(); }
  Stage* stage();
  double FetchCycles(const CostModel& model) const;
  std::vector<OneStage> OtherSchedules(int count, const Target& target) const;
  std::vector<OneStage> OtherPrograms(int count, uint64_t seed, const CostModel& model, Memo& memo) const;

  Plan plan_;
  Level level_ = Level::kRam;
};

}  // namespace kirsch

#endif  // KIRSCH_CALIBRATE_ONE_STAGE_H_
