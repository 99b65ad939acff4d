// SPDX-License-Identifier: Apache-2.0
// Kernels that are a single stage, a row program or a convolution: what a calibration measures beside
// contractions.
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

// Prices a contraction's program, which need not stay, for models whose targets differ in nothing but cost
// keys.
std::function<double(const CostModel&)> PricerFor(const Impl& impl, const Target& target);

class OneStage {
 public:
  // The cheapest, or the one with the schedule if that is not empty. InvalidArgument if there is none, or if
  // the graph's plan is more than a stage.
  static absl::StatusOr<OneStage> Of(const Graph& graph, Residency residency, std::string_view schedule,
                                     const CostModel& model, Memo& memo);

  const Plan& plan() const { return plan_; }
  Level level() const { return level_; }  // where the operands wait

  // `count` plans or so with this stage done in other ways, drawn by `seed`; the first is this one.
  std::vector<OneStage> Others(int count, uint64_t seed, const CostModel& model, Memo& memo) const;

  // Prices the plan, likewise; `model` is the one it was made for.
  std::function<double(const CostModel&)> Price(const CostModel& model) const;

 private:
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
