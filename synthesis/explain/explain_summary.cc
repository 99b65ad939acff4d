// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "absl/strings/str_format.h"
#include "cost/tile_facts.h"
#include "spec/language/plan_schedule.h"
#include "spec/language/schedule.h"
#include "spec/text/cat.h"
#include "spec/text/quantity.h"
#include "synthesis/explain/cycle_kinds.h"
#include "synthesis/explain/explained.h"

namespace kirsch {
namespace {

// "register tiles 97.1%, loops 2.9%": the largest first. A kind that rounds to nothing is left out.
std::string KindsText(const ExplainedMember& member) {
  constexpr double kLeastShown = 0.0005;
  const std::vector<double>& by_kind = member.by_kind;
  std::vector<size_t> order;
  for (size_t kind = 0; kind < by_kind.size(); ++kind)
    if (by_kind[kind] >= kLeastShown * member.cycles) order.push_back(kind);
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return by_kind[a] > by_kind[b]; });
  return Join(order, ", ", [&](size_t kind) {
    return absl::StrFormat("%s %.1f%%", CycleKinds()[kind], 100 * by_kind[kind] / member.cycles);
  });
}

// The slowest level that `traffic` comes from; empty: nothing comes from beyond L1.
std::string SlowestLevel(const Traffic& traffic) {
  for (Level level : {Level::kRam, Level::kL3, Level::kL2})
    if (traffic.at(level) > 0) return std::string(Name(level));
  return "";
}

// Says what bounds a microkernel: its loop, or what is transferred beside the loop.
std::string TileBoundText(const ExplainedNode& node) {
  const TileFacts& facts = *node.tile;
  const std::string from = SlowestLevel(node.traffic);
  // If the loop takes less than half of the tile's cycles, transfers take the rest.
  if (!from.empty() && facts.trips * facts.cycles < ToCycles(node.own) / 2)
    return Cat("transfers from ", from, " in register tiles");
  return absl::StrFormat("%s in register tiles: %dx%d of %d lanes by %s, %.1f%% of the peak rate in the loop",
                         facts.bottleneck, facts.tile.rows, facts.tile.columns, facts.tile.lanes,
                         facts.tile.instruction().name, 100 * facts.peak_share);
}

}  // namespace

// Says what bounds a program: the bottleneck of one node. It is the costliest node of the kind that most
// cycles go to.
std::string BoundText(const std::vector<ExplainedNode>& nodes) {
  const std::vector<double> by_kind = CyclesByKind(nodes);
  const auto kind = static_cast<CycleKind>(std::ranges::max_element(by_kind) - by_kind.begin());
  const auto cycles = [&](const ExplainedNode& node) {
    return CycleKindOf(node.impl->decision) == kind ? node.weight * ToCycles(node.own) : -1;
  };
  const ExplainedNode& node = *std::ranges::max_element(
      nodes, [&](const ExplainedNode& a, const ExplainedNode& b) { return cycles(a) < cycles(b); });
  if (node.tile) return TileBoundText(node);
  const std::string from = SlowestLevel(node.traffic);
  const std::string decision = PrintDecision(node.impl->spec.op, node.impl->decision);
  return from.empty() ? Cat(CycleKinds()[kind], ": ", decision)
                      : Cat("transfers from ", from, ": ", decision);
}

namespace {

// Says what bounds a stage of a plan: a contraction by its program, rows by their slowest pass.
std::string BoundText(const Plan& plan, const ExplainedStage& stage) {
  std::string what = "copies";
  if (!stage.nodes.empty()) {
    what = BoundText(stage.nodes);
  } else if (!stage.passes.empty()) {
    what = std::ranges::max_element(stage.passes, {}, &RowVectorCycles::total)->bottleneck();
  }
  return Cat(what, ", in ", PrintStage(plan, *stage.stage));
}

// The overloads below say the same of a contraction's program and of a plan.
Dtype ResultType(const Explanation& program) { return program.nodes.front().impl->spec.operand[0].dtype; }
Dtype ResultType(const ExplainedPlan& explained) {
  const Graph& graph = explained.plan->graph;
  return graph.TypeOf(graph.results.front()).dtype;
}

std::string BoundText(const Explanation& program) { return BoundText(program.nodes); }
}  // namespace

std::string BoundText(const ExplainedPlan& explained) {
  const auto cycles = [](const ExplainedStage& stage) { return stage.weight * stage.stage->cycles; };
  const auto costliest = std::ranges::max_element(
      explained.stages,
      [&](const ExplainedStage& a, const ExplainedStage& b) { return cycles(a) < cycles(b); });
  return costliest == explained.stages.end() ? "nothing" : BoundText(*explained.plan, *costliest);
}

namespace {

// The cheapest program that begins with another decision at the root.
std::string OtherChoiceText(const Explanation& program) {
  const ExplainedNode& root = program.nodes.front();
  if (root.runner_up.kind == RewriteKind::kNone) return "none that costs little more";
  const OpKind op = root.impl->spec.op;
  return RunnerUpText(Cat("to begin with ", PrintDecision(op, root.runner_up), ", not ",
                          PrintDecision(op, root.impl->decision)),
                      ToCycles(root.cost), ToCycles(root.runner_up_cost));
}

// The cheapest plan that differs in one group: by another candidate for it, or by doing without the group.
// Both are compared as whole plans, so a candidate's cycles take the place of the group's.
std::string OtherChoiceText(const ExplainedPlan& explained) {
  const Plan& plan = *explained.plan;
  std::string text = "none";
  double least = 0;
  const auto consider = [&](const std::string& what, double cycles) {
    if (text != "none" && cycles >= least) return;
    least = cycles;
    text = RunnerUpText(what, plan.cycles, cycles);
  };
  for (size_t i = 0; i < plan.groups.size(); ++i) {
    const GroupDecision& group = plan.groups[i];
    if (const auto other = OtherCandidate(group))
      consider(Cat(other->text, " for ", PrintCandidate(group.candidate)),
               plan.cycles - plan.GroupCycles(i) + other->cycles);
    if (const auto other = OtherSplit(plan.graph, group))
      consider(Cat("groups ", other->text), other->cycles);
  }
  return text;
}

// The rate if parameters and results are each moved once. It stands for the peak where a plan has no
// products.
double GigabytesPerSecond(const Plan& plan, const Target& target) {
  return CallersBytes(plan.graph) / plan.cycles * target.ghz;
}

// The share of the target's peak rate that the program reaches.
std::string PeakText(const Explanation& program, const Target& target) {
  return absl::StrFormat("%.1f%% of the peak rate of %s",
                         100 * program.peak_cycles / ToCycles(program.nodes.front().cost), target.name);
}
std::string PeakText(const ExplainedPlan& explained, const Target& target) {
  const Plan& plan = *explained.plan;
  // The cycles that all contractions would take at the peak rate.
  double peak_cycles = 0;
  for (const ExplainedStage& stage : explained.stages) {
    if (stage.nodes.empty()) continue;
    peak_cycles +=
        stage.weight * static_cast<double>(stage.stage->repeats) * PeakCycles(stage.stage->spec, target);
  }
  if (peak_cycles == 0)
    return absl::StrFormat("no products of matrices: %.1f GB/s of parameters and result",
                           GigabytesPerSecond(plan, target));
  return absl::StrFormat("%.1f%% of the peak rate of %s's multiply-adds", 100 * peak_cycles / plan.cycles,
                         target.name);
}

}  // namespace

std::string SummaryText(const ExplainedMember& member) {
  const Synthesis& synthesis = *member.synthesis;
  return std::visit(
      [&](const auto& explained) {
        return absl::StrFormat(
            "time       %s: %.0f cycles at %g GHz, %.1f %s\n"
            "peak       %s\n"
            "bound by   %s\n"
            "cycles     %s\n"
            "runner-up  %s\n",
            SecondsText(1e-9 * member.cycles / synthesis.target.ghz), member.cycles, synthesis.target.ghz,
            synthesis.gflops(), RateUnit(!IsFloating(ResultType(explained))),
            PeakText(explained, synthesis.target), BoundText(explained), KindsText(member),
            OtherChoiceText(explained));
      },
      member.explanation);
}

}  // namespace kirsch
