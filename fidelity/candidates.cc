// SPDX-License-Identifier: Apache-2.0
#include "fidelity/candidates.h"

#include <algorithm>
#include <utility>

#include "codegen/verify/engines.h"
#include "fidelity/terms.h"
#include "search/graph/group_levels.h"
#include "search/sampling/draw_plans.h"
#include "search/sampling/draw_programs.h"
#include "search/solver/limits.h"
#include "spec/language/contraction_graph.h"
#include "spec/language/plan_schedule.h"
#include "spec/language/schedule.h"

namespace kirsch {
namespace {

constexpr char kName[] = "drawn";  // of functions

absl::Status Compile(const Subject& subject, Candidates* candidates) {
  absl::StatusOr<Kernel> kernel = CompileForThisCpu(subject);
  if (!kernel.ok()) return kernel.status();
  candidates->kernels.push_back(*std::move(kernel));
  return absl::OkStatus();
}

bool Stopped(const DrawOptions& options) { return options.stop && options.stop(); }

absl::Status DrawFor(const ParsedSpec& parsed, const CostModel& model, Memo& memo, const DrawOptions& options,
                     Candidates* candidates) {
  const absl::StatusOr<Spec> placed = PlacedRoot(parsed, model, options.threads, options.residency);
  if (!placed.ok()) return placed.status();
  candidates->spec.level = placed->out().level;
  for (const DrawnProgram& program : DrawPrograms(*placed, model, memo, options.programs, options.seed)) {
    if (Stopped(options)) break;
    if (absl::Status made = Compile(Subject(program.impl, model.target(), kName), candidates); !made.ok())
      return made;
    candidates->spec.programs.push_back(PredictedProgram(program.impl, program.cost, model));
  }
  return absl::OkStatus();
}

absl::Status DrawFor(const Graph& graph, const CostModel& model, Memo& memo, const DrawOptions& options,
                     Candidates* candidates) {
  absl::StatusOr<CompiledLoops> loops = CompiledLoops::Compile(graph, LoopsKind::kReference, false);
  if (!loops.ok()) return loops.status();
  candidates->loops = *std::move(loops);
  candidates->spec.level = PlacementOf(graph, options.residency, model.target());
  PlanOptions plans;
  plans.threads = options.threads;
  plans.residency = options.residency;
  const absl::StatusOr<std::vector<Plan>> drawn =
      DrawPlans(graph, "spec", model, memo, plans, options.programs, options.seed);
  if (!drawn.ok()) return drawn.status();
  for (const Plan& plan : *drawn) {
    if (Stopped(options)) break;
    if (absl::Status made = Compile(Subject(plan, model.target(), kName), candidates); !made.ok())
      return made;
    candidates->spec.programs.push_back(PredictedProgram(plan, model));
  }
  return absl::OkStatus();
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
  absl::StatusOr<Workload> workload = MakeWorkload(kernel, options.threads);
  if (!workload.ok()) return workload.status();
  candidates.workload = *std::move(workload);
  const absl::Status drawn =
      std::visit([&](const auto& of) { return DrawFor(of, model, memo, options, &candidates); }, kernel);
  return drawn.ok() ? absl::StatusOr<Candidates>(std::move(candidates)) : drawn;
}

}  // namespace kirsch
