// SPDX-License-Identifier: Apache-2.0
#include "search/ranking/stage_k_best.h"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

#include "cost/cost.h"
#include "rewrites/graph/row_schedules.h"
#include "search/graph/stage_cost.h"
#include "search/graph/stage_solver.h"

namespace kirsch {

bool StageKBest::Program(size_t rank, Stage* stage) {
  Programs& programs = programs_[stage->spec];
  const auto& list = programs.list;
  // The list is sure only as far as nothing beyond it may be cheaper.
  while (programs.least_beyond < kInfiniteCycles &&
         (list.size() <= rank || list[rank].cycles > programs.least_beyond))
    FindMore(stage->spec, &programs);
  if (list.size() <= rank) return false;
  stage->impl = std::get<Impl>(list[rank].tree);
  stage->cycles = static_cast<double>(stage->repeats) * list[rank].cycles;
  return true;
}

// Lists twice as many programs as before. KBest ranks by a cost that includes the start of threads. A program
// that shares nothing does not pay it, so the order must be made anew.
void StageKBest::FindMore(const Spec& placed, Programs* programs) {
  const size_t count = std::max(size_t{2}, 2 * programs->list.size());
  KBestResult found = KBest(placed, {static_cast<int>(count), rank_.distinct}, model_, memo_, options_);
  stopped_ |= !found.complete;
  // Programs that are not in the list cost at least as much as its last, of which `fork` may be taken off.
  const double fork = placed.threads > 1 ? model_.target().fork_join_cycles : 0;
  programs->least_beyond = found.programs.size() < count ? std::numeric_limits<double>::infinity()
                                                         : found.programs.back().cycles - fork;
  programs->list = std::move(found.programs);
  for (RankedProgram& program : programs->list)
    if (Forks(std::get<Impl>(program.tree))) program.cycles -= fork;
  std::ranges::stable_sort(programs->list, {}, &RankedProgram::cycles);
}

std::vector<Stage> StageKBest::Schedules(const std::vector<Level>& levels, const Stage& stage) const {
  std::vector<Stage> all;
  for (const RowSchedule& schedule : EnumerateRowSchedules(stage.program, stage.columns, model_.target()))
    if (Stage with = stage; PriceStage(levels, model_.target(), &schedule, &with))
      all.push_back(std::move(with));
  std::ranges::stable_sort(all, {}, &Stage::cycles);
  if (rank_.distinct == Distinct::kCode) return all;
  // Of each outer choice, only the cheapest schedule stays.
  std::set<std::tuple<int, bool, std::vector<int>>> choices;
  std::erase_if(all, [&](const Stage& stage) {
    const RowSchedule& schedule = stage.schedule;
    return !choices.emplace(schedule.lanes, schedule.online, schedule.kept).second;
  });
  return all;
}

}  // namespace kirsch
