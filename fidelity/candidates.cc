// SPDX-License-Identifier: Apache-2.0
#include "fidelity/candidates.h"

#include <algorithm>
#include <utility>

#include "codegen/verify/engines.h"
#include "fidelity/terms.h"
#include "search/graph/group_levels.h"
#include "search/ranking/k_best.h"
#include "search/ranking/k_best_plans.h"
#include "search/sampling/draw_plans.h"
#include "search/sampling/draw_programs.h"
#include "search/solver/limits.h"
#include "spec/language/contraction_graph.h"
#include "spec/language/plan_schedule.h"
#include "spec/language/schedule.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

constexpr char kDrawnName[] = "drawn";  // of the compiled functions

bool Stopped(const DrawOptions& options) { return options.stop && options.stop(); }

// Ranks programs that differ in an outer choice. One that costs twice as much as the best is not promising.
RankOptions Promising(const DrawOptions& options) { return {options.promising, Distinct::kOuterChoice, 1}; }

// Compiles a program and adds it, unless one with the same schedule is there: a program may be both drawn and
// promising.
template <typename Program, typename... Cost>
absl::Status Add(const Program& program, const CostModel& model, Candidates* candidates, Cost... cost) {
  MeasuredProgram predicted = PredictedProgram(program, cost..., model);
  for (const MeasuredProgram& known : candidates->spec.programs)
    if (known.schedule == predicted.schedule) return absl::OkStatus();
  KIRSCH_ASSIGN_OR_RETURN(Kernel kernel, CompileForThisCpu(Subject(program, model.target(), kDrawnName)));
  candidates->kernels.push_back(std::move(kernel));
  candidates->spec.programs.push_back(std::move(predicted));
  return absl::OkStatus();
}

// Draws program trees of a contraction.
absl::Status DrawFor(const ParsedSpec& parsed, const CostModel& model, Memo& memo, const DrawOptions& options,
                     Candidates* candidates) {
  KIRSCH_ASSIGN_OR_RETURN(const Spec placed, PlacedRoot(parsed, model, options.threads, options.residency));
  // The optimum and drawn programs first, then the promising ones.
  candidates->spec.level = placed.out().level;
  std::vector<DrawnProgram> programs = DrawPrograms(placed, model, memo, options.programs, options.seed);
  if (options.promising > 0)
    for (RankedProgram& program : KBest(placed, Promising(options), model, memo, {}).programs)
      programs.push_back({std::get<Impl>(std::move(program.tree)), CostFromCycles(program.cycles)});
  absl::Status added;
  for (size_t i = 0; i < programs.size() && added.ok() && !Stopped(options); ++i)
    added = Add(programs[i].impl, model, candidates, programs[i].cost);
  return added;
}

// Draws plans of a graph. The reference is compiled first, since without it no result could be checked.
absl::Status DrawFor(const Graph& graph, const CostModel& model, Memo& memo, const DrawOptions& options,
                     Candidates* candidates) {
  KIRSCH_ASSIGN_OR_RETURN(candidates->loops, CompiledLoops::Compile(graph, LoopsKind::kReference, false));
  candidates->spec.level = PlacementOf(graph, options.residency, model.target());
  PlanOptions plans;
  plans.threads = options.threads;
  plans.residency = options.residency;
  KIRSCH_ASSIGN_OR_RETURN(std::vector<Plan> all,
                          DrawPlans(graph, "spec", model, memo, plans, options.programs, options.seed));
  // The promising ones come after the drawn ones, so the first plan stays the one that the search chooses.
  if (options.promising > 0) {
    KIRSCH_ASSIGN_OR_RETURN(KBestResult best,
                            KBestPlans(graph, "spec", Promising(options), model, memo, plans, {}));
    for (RankedProgram& plan : best.programs) all.push_back(std::get<Plan>(std::move(plan.tree)));
  }
  absl::Status added;
  for (size_t i = 0; i < all.size() && added.ok() && !Stopped(options); ++i)
    added = Add(all[i], model, candidates);
  return added;
}

}  // namespace

std::string OperationOf(const std::string& text) {
  if (text.find('\n') != std::string::npos) return "kernel";
  const size_t verb = text.find(' ');
  return verb == std::string::npos ? text : text.substr(0, text.find(' ', verb + 1));
}

absl::StatusOr<Spec> PlacedRoot(const ParsedSpec& parsed, const CostModel& model, int threads,
                                Residency residency) {
  Spec root = parsed.spec;
  root.threads = static_cast<uint8_t>(threads);
  const Spec placed = PlaceOperands(root, residency, model.target());
  if (!HasRoom(placed, model.target())) return absl::InvalidArgumentError("there is no room for a copy");
  return placed;
}

MeasuredProgram PredictedProgram(const Impl& impl, Cost cost, const CostModel& model) {
  return {PrintSchedule(impl), TermsOf(impl, model), GatherFacts(impl, model), ToCycles(cost)};
}

MeasuredProgram PredictedProgram(const Plan& plan, const CostModel& model) {
  return {PrintPlanSchedule(plan), TermsOf(plan, model), GatherFacts(plan, model), plan.cycles};
}

absl::StatusOr<Candidates> DrawCandidates(const BenchEntry& entry, const CostModel& model, Memo& memo,
                                          const DrawOptions& options) {
  Candidates candidates;
  candidates.spec.text = entry.text;
  candidates.spec.operation = OperationOf(entry.text);
  const KernelMember kernel = entry.kernel();
  KIRSCH_ASSIGN_OR_RETURN(candidates.workload, MakeWorkload(kernel, options.threads));
  // A contraction or a graph: DrawFor is overloaded.
  const absl::Status drawn =
      std::visit([&](const auto& of) { return DrawFor(of, model, memo, options, &candidates); }, kernel);
  return drawn.ok() ? absl::StatusOr<Candidates>(std::move(candidates)) : drawn;
}

}  // namespace kirsch
