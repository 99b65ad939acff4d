// SPDX-License-Identifier: Apache-2.0
#include "calibrate/one_stage.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "cost/row_cost.h"
#include "rewrites/graph/row_schedules.h"
#include "search/graph/follow_plan.h"
#include "search/graph/group_levels.h"
#include "search/sampling/draw_programs.h"
#include "search/solver/program_cost.h"
#include "spec/text/status_macros.h"

namespace kirsch {

std::function<double(const CostModel&)> PricerFor(const Impl& impl, const Target& target) {
  // The cost of a program is made once, and evaluated for each model.
  return [cost = std::make_shared<const ProgramCost>(impl, target)](const CostModel& model) {
    return cost->Cycles(model);
  };
}

absl::StatusOr<OneStage> OneStage::Of(const Graph& graph, Residency residency, std::string_view schedule,
                                      const CostModel& model, Memo& memo) {
  PlanOptions options;
  options.residency = residency;
  PlanFollower follower(graph, "problem", model, memo, options);
  KIRSCH_ASSIGN_OR_RETURN(Plan plan,
                          schedule.empty() ? follower.Best() : follower.With(schedule, "schedule"));
  OneStage one;
  one.plan_ = std::move(plan);
  if (one.stage() == nullptr) return absl::InvalidArgumentError("expected a kernel that is a single stage");
  one.level_ = PlacementOf(one.plan_.graph, residency, model.target());
  return one;
}

// A row program has a list of schedules. A contraction has a space of programs, which can only be drawn from.
std::vector<OneStage> OneStage::Others(int count, uint64_t seed, const CostModel& model, Memo& memo) const {
  return stage()->kind == StageKind::kRows ? OtherSchedules(count, model.target())
                                           : OtherPrograms(count, seed, model, memo);
}

std::function<double(const CostModel&)> OneStage::Price(const CostModel& model) const {
  // The stage runs for each tile of each item of a batch, with all its repeats.
  const LoopNest& nest = plan_.nests[0];
  const double times = static_cast<double>(nest.batch * nest.trips() * stage()->repeats);
  if (stage()->kind == StageKind::kContraction)
    return [program = PricerFor(stage()->impl, model.target()), fetch = FetchCycles(model),
            times](const CostModel& other) { return times * (program(other) + fetch); };
  const size_t inputs = stage()->program.inputs.size();
  // All operands are at the plan's level: nothing is kept between stages where there is one.
  const RowLevels levels = {std::vector<Level>(inputs, level_),
                            std::vector<Level>(stage()->operands.size() - inputs, level_)};
  return [stage = *stage(), times, levels](const CostModel& other) {
    return times *
           RowCycles(stage.program, stage.schedule, stage.rows, stage.columns, levels, other.target());
  };
}

// One loop nest without a rest, with one stage, which is a row program or a contraction.
Stage* OneStage::stage() {
  if (plan_.nests.size() != 1 || !plan_.nests[0].rest.empty()) return nullptr;
  const std::vector<Stage*> stages = StagesOf(plan_.nests[0]);
  const bool one = stages.size() == 1 && plan_.nests[0].stages.size() == 1;
  return one && (stages[0]->kind == StageKind::kRows || stages[0]->kind == StageKind::kContraction)
             ? stages[0]
             : nullptr;
}

// Returns the cycles of one run that the plan has beside the contraction's program: fetching the input. They
// depend on the same keys, but little, so they are computed once and stay the same in a fit.
double OneStage::FetchCycles(const CostModel& model) const {
  return stage()->cycles / static_cast<double>(stage()->repeats) -
         PricerFor(stage()->impl, model.target())(model);
}

// Takes schedules evenly from the list of all, after this plan itself.
std::vector<OneStage> OneStage::OtherSchedules(int count, const Target& target) const {
  const std::vector<RowSchedule> schedules =
      EnumerateRowSchedules(stage()->program, stage()->columns, target);
  std::vector<OneStage> others = {*this};
  if (count <= 1) return others;
  const size_t step = std::max<size_t>(1, schedules.size() / static_cast<size_t>(count));
  for (size_t i = 0; i < schedules.size(); i += step) {
    if (schedules[i] == stage()->schedule) continue;
    others.push_back(*this);
    others.back().stage()->schedule = schedules[i];
  }
  return others;
}

// Draws programs for the contraction's spec; the first one drawn is its optimum, as this plan has it.
std::vector<OneStage> OneStage::OtherPrograms(int count, uint64_t seed, const CostModel& model,
                                              Memo& memo) const {
  const double fetch = FetchCycles(model);
  std::vector<OneStage> others;
  for (DrawnProgram& drawn : DrawPrograms(stage()->spec, model, memo, count, seed)) {
    others.push_back(*this);
    Stage& other = *others.back().stage();
    other.cycles = (fetch + ToCycles(drawn.cost)) * static_cast<double>(other.repeats);
    other.impl = std::move(drawn.impl);
  }
  return others;
}

}  // namespace kirsch
