// SPDX-License-Identifier: Apache-2.0
#include "synthesis/graph_kernel.h"

#include <string>
#include <utility>

#include "cost/cost_model.h"
#include "cost/shared_cost_model.h"
#include "search/solver/replay.h"
#include "search/table/plan_recall.h"
#include "spec/language/plan_schedule.h"
#include "spec/text/file.h"
#include "spec/text/status_macros.h"
#include "synthesis/cold_operands.h"
#include "synthesis/kept_work.h"

namespace kirsch {
PlanOptions MakePlanOptions(const SolveArguments& arguments, const Graph& graph) {
  PlanOptions options;
  options.threads = arguments.threads;
  options.residency = ColdOperands(arguments.cold, graph);
  options.fuse = arguments.fuse;
  options.allow_winograd = arguments.allow_winograd;
  options.packing = arguments.pins.packing;
  options.folded = arguments.pins.folded;
  options.cutoff = arguments.pins.most_cycles;
  options.knowledge = arguments.pins.knowledge;
  if (arguments.kept != nullptr) options.prices = &arguments.kept->prices;
  return options;
}

absl::StatusOr<OrNoPlan<PlanResult>> SolveGraph(const SolveArguments& arguments, const Graph& graph,
                                                const std::string& source, const Target& target,
                                                const std::shared_ptr<Memo>& memo, SearchBudget& budget,
                                                bool* cancelled) {
  const std::shared_ptr<const CostModel> shared = SharedCostModel(target);
  const CostModel& model = *shared;
  PlanOptions options = MakePlanOptions(arguments, graph);
  options.explain = arguments.explain;
  // Read the schedule, if there is one. Texts of contractions within it are parsed later, so `text` must live
  // as long.
  std::string text;
  PlanSchedule schedule;
  if (!arguments.schedule.empty()) {
    KIRSCH_ASSIGN_OR_RETURN(std::string read, arguments.schedule.Read());
    text = std::move(read);
    KIRSCH_ASSIGN_OR_RETURN(PlanSchedule parsed, ParsePlanSchedule(text, arguments.schedule.source));
    schedule = std::move(parsed);
    options.schedule = &schedule;
  }
  // How the programs of contractions are found: replayed where the schedule has them, else asked of the table
  // that is open for the whole plan. Each takes what is left of the time.
  options.replay = [&](const Spec& placed, const Schedule& of_spec, std::string_view file) {
    return Replay(placed, of_spec, file, model, *memo, {});
  };
  std::shared_ptr<Table> table;
  const DbOptions none{"", true};  // no table: where this plan's is not open, no other is opened
  options.solve = [&](const Spec& placed, Cost cutoff) {
    SolveArguments own = arguments;
    own.schedule = {};
    if (table == nullptr) own.db = &none;
    own.time_budget = budget.Left();
    absl::StatusOr<SearchResult> result = SolvePlaced(own, placed, model, *memo, cutoff, table.get());
    if (result.ok() && result->stop == StopReason::kCancelled) {
      *cancelled = true;
      budget.End();
    }
    return result;
  };
  // A plan from the table has no second best candidates, so an explanation needs a search. A schedule is
  // followed without asking.
  if (options.schedule == nullptr && !options.explain) {
    KIRSCH_ASSIGN_OR_RETURN(std::shared_ptr<Table> opened, OpenTable(*arguments.db, target));
    table = std::move(opened);
  }
  absl::StatusOr<OrNoPlan<PlanResult>> answer = options.schedule != nullptr
                                                    ? SearchPlan(graph, source, model, options)
                                                    : AnswerPlan(graph, source, model, options, table.get());
  // An error may be the table's. Then search without it, unless the user named the table.
  if (table != nullptr && !answer.ok()) {
    KIRSCH_RETURN_IF_ERROR(WithoutTable(*arguments.db, answer.status()));
    table = nullptr;
    answer = SearchPlan(graph, source, model, options);
  }
  if (!answer.ok()) return answer.status();
  if (const auto* const none = std::get_if<NoPlan>(&*answer)) return *none;
  if (table != nullptr) KIRSCH_RETURN_IF_ERROR(CommitTable(*arguments.db, *table));
  return answer;
}

}  // namespace kirsch
