// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "spec/language/printer.h"
#include "spec/language/schedule.h"
#include "spec/program/plan_program.h"
#include "spec/text/cat.h"
#include "synthesis/explain/best_programs.h"
#include "synthesis/explain/explained.h"
#include "synthesis/shared_packing.h"

namespace kirsch {
namespace {

// "L2 16 KiB, RAM 4 MiB" of amounts by level; nothing if all are zero.
template <typename Amounts>
std::string ByLevel(const Amounts& amounts) {
  std::string text;
  for (size_t level = 0; level < amounts.size(); ++level)
    if (amounts[level] > 0)
      Append(&text, text.empty() ? "" : ", ", kLevelNames[level], " ",
             Amount(static_cast<double>(amounts[level])));
  return text;
}

std::string TileText(const TileFacts& facts, const Target& target) {
  const RegisterTile& tile = facts.tile;
  return absl::StrFormat(
      "tile %dx%d of %d lanes by %s: %d of %d registers, %s; %.4g instructions and %.4g cycles a trip of %d "
      "step%s, bound by %s, %.1f%% of the peak rate",
      tile.rows, tile.columns, tile.lanes, tile.instruction().name, facts.registers,
      UnitOf(target, tile).registers, facts.spills == 0 ? "no spills" : Cat(facts.spills, " spilled"),
      facts.instructions, facts.cycles, facts.steps, facts.steps == 1 ? "" : "s", facts.bottleneck,
      100 * facts.peak_share);
}

// What stands below a node's line.
std::string Details(const ExplainedNode& node, const Target& target) {
  std::string text;
  const auto add = [&](const std::string& what, const std::string& detail) {
    if (!detail.empty()) Append(&text, text.empty() ? "" : "; ", what, detail);
  };
  add("", PrintSpec(node.impl->spec));
  add("in from ", ByLevel(node.traffic.read));
  add("back to ", ByLevel(node.traffic.written));
  add("holds ", ByLevel(node.bytes_held));
  if (node.tile) add("", TileText(*node.tile, target));
  if (node.runner_up.kind != RewriteKind::kNone)
    add("second best: ", absl::StrFormat("%s, %+.2f%%", PrintDecision(node.impl->spec.op, node.runner_up),
                                         Margin(ToCycles(node.cost), ToCycles(node.runner_up_cost))));
  return text;
}

// A line for each level that anything comes from.
std::string TrafficText(const Traffic& traffic) {
  std::string text;
  for (Level level : {Level::kL2, Level::kL3, Level::kRam})
    if (traffic.at(level) > 0)
      absl::StrAppendFormat(&text, "%-8s %12s %12s\n", Name(level),
                            Amount(traffic.read[static_cast<size_t>(level)]),
                            Amount(traffic.written[static_cast<size_t>(level)]));
  return text.empty() ? "nothing comes from beyond L1\n"
                      : absl::StrFormat("%-8s %12s %12s\n", "from", "in", "back") + text;
}

// A program, two lines a node. What is below a node is left out if it takes the same steps as what is below
// one before it, with the same decision: mostly because a reduction's later tiles accumulate, and its first
// doesn't.
class NodeLines {
 public:
  NodeLines(const std::vector<ExplainedNode>& nodes, const Target& target) : nodes_(nodes), target_(target) {
    for (const ExplainedNode& node : nodes) details_.push_back(Details(node, target));
  }

  std::string Text() {
    std::string text = absl::StrFormat("%12s %7s %7s %8s  program\n", "cycles", "share", "own", "trips");
    for (size_t i = 0; i < nodes_.size();) {
      const size_t end = EndOf(i);
      const bool folded = end > i + 1 && !printed_.insert(StepsOf(i, end)).second;
      Append(&text, NodeText(i), folded ? "; below it the same steps as above\n" : "\n");
      i = folded ? end : i + 1;
    }
    return text;
  }

 private:
  // The first node behind the subtree of node i.
  size_t EndOf(size_t i) const {
    size_t end = i + 1;
    while (end < nodes_.size() && nodes_[end].depth > nodes_[i].depth) ++end;
    return end;
  }

  // The nodes' decisions, how often those below the first run, and their register tiles.
  std::string StepsOf(size_t begin, size_t end) const {
    std::string text;
    for (size_t i = begin; i < end; ++i) {
      const ExplainedNode& node = nodes_[i];
      Append(&text, node.depth - nodes_[begin].depth, " ", i == begin ? 0 : node.trips, " ",
             DecisionText(node), node.tile ? TileText(*node.tile, target_) : "", "\n");
    }
    return text;
  }

  std::string NodeText(size_t i) const {
    const ExplainedNode& node = nodes_[i];
    const double total = ToCycles(nodes_.front().cost);
    const std::string indent(static_cast<size_t>(2 * node.depth), ' ');
    return absl::StrFormat("%12.0f %6.1f%% %6.1f%% %8d  %s%s\n%39s%s# %s", ToCycles(node.cost),
                           100 * node.weight * ToCycles(node.cost) / total,
                           100 * node.weight * ToCycles(node.own) / total, node.trips, indent,
                           DecisionText(node), "", indent, details_[i]);
  }

  static std::string DecisionText(const ExplainedNode& node) {
    return PrintDecision(node.impl->spec.op, node.impl->decision);
  }

  const std::vector<ExplainedNode>& nodes_;
  const Target& target_;
  std::vector<std::string> details_;
  std::set<std::string> printed_;  // the steps of subtrees
};

std::string Text(const ExplainedSpec& spec) {
  const Synthesis& synthesis = *spec.synthesis;
  const Explanation& explanation = spec.explanation;
  const double total = ToCycles(explanation.nodes[0].cost);
  std::string text = Cat(SummaryText(spec), "\n", NodeLines(explanation.nodes, synthesis.target).Text(),
                         TrafficText(explanation.traffic));
  absl::StrAppendFormat(
      &text,
      "%s on %s: %.0f cycles, %.1f GFLOP/s at %g GHz; %.1f%% of the peak rate; no program costs less "
      "than %.0f by the cost model's closed form, %.0f by the search (%s)\n",
      synthesis.name, synthesis.target.name, total, synthesis.gflops(), synthesis.target.ghz,
      100 * explanation.peak_cycles / total, ToCycles(explanation.bound), synthesis.bound_cycles,
      std::string(StopName(synthesis)));
  if (synthesis.tuned) Append(&text, synthesis.tuned->Summary(), "\n");
  return text;
}

// A line for each stage, with those for its register tiles, or its passes, below.
std::string StagesText(const ExplainedGraph& graph) {
  const Plan& plan = graph.plan();
  std::string text = absl::StrFormat("%12s %7s %8s  stage\n", "cycles", "share", "runs");
  for (const ExplainedStage& stage : graph.explanation.stages) {
    absl::StrAppendFormat(&text, "%12.0f %6.1f%% %8.0f  group %d, %s: %s\n", stage.stage->cycles,
                          100 * stage.weight * stage.stage->cycles / plan.cycles, stage.runs, stage.nest + 1,
                          Name(stage.time), PrintStage(plan, *stage.stage));
    const auto add = [&](const std::string& detail) {
      absl::StrAppendFormat(&text, "%31s# %s\n", "", detail);
    };
    const std::string in = ByLevel(stage.traffic.read), back = ByLevel(stage.traffic.written);
    if (!in.empty()) add("in from " + in);
    if (!back.empty()) add("back to " + back);
    for (const ExplainedNode& node : stage.nodes)
      if (node.tile) add(TileText(*node.tile, graph.synthesis->target));
    for (const RowVectorCycles& pass : stage.passes)
      add(absl::StrFormat("a pass of %.4g cycles a vector, bound by %s", pass.total(), pass.bottleneck()));
  }
  return text;
}

std::string RunnerUpText(const std::optional<RunnerUp>& other, double cycles) {
  if (!other) return "nothing else";
  return absl::StrFormat("%s, %+.2f%%", other->text, Margin(cycles, other->cycles));
}

// What would be second best, at every group.
std::string RunnersUpText(const Plan& plan) {
  std::string text;
  for (size_t i = 0; i < plan.groups.size(); ++i) {
    const GroupDecision& group = plan.groups[i];
    double cycles = 0;
    for (const LoopNest& nest : plan.nests) cycles += nest.group == static_cast<int>(i) ? nest.cycles : 0;
    absl::StrAppendFormat(
        &text, "group %s: %.0f cycles, %.1f%%, by %s\n  second best: %s\n  without this group: %s\n",
        NamesOfValues(plan.graph, group.operations), cycles, 100 * cycles / plan.cycles,
        PrintCandidate(group.candidate), RunnerUpText(OtherCandidate(group), cycles),
        RunnerUpText(OtherSplit(plan.graph, group), plan.cycles));
  }
  return text;
}

std::string Text(const ExplainedGraph& graph) {
  const Synthesis& synthesis = *graph.synthesis;
  const Plan& plan = graph.plan();
  return Cat(SummaryText(graph), "\n", PrintGraph(plan.graph), "\n", PrintPlan(plan),
             PrintMemory(WriteProgram(plan, synthesis.target)), "\n", RunnersUpText(plan), "\n",
             StagesText(graph), "\n", TrafficText(graph.explanation.traffic),
             absl::StrFormat("%s on %s: %.0f cycles, %.1f GFLOP/s at %g GHz", plan.graph.name,
                             synthesis.target.name, plan.cycles, synthesis.gflops(), synthesis.target.ghz),
             synthesis.unfused_cycles
                 ? absl::StrFormat("; with a group for each operation %.0f cycles", *synthesis.unfused_cycles)
                 : "",
             "\n", synthesis.tuned ? Cat(synthesis.tuned->Summary(), "\n") : "");
}

}  // namespace

std::string Amount(double bytes) {
  if (bytes < 10240) return absl::StrFormat("%.0f B", bytes);
  if (bytes < 10240.0 * 1024) return absl::StrFormat("%.0f KiB", bytes / 1024);
  return absl::StrFormat("%.1f MiB", bytes / (1024 * 1024));
}

std::string ExplainText(const ExplainedKernel& kernel) {
  const auto member_text = [](const ExplainedMember& member) {
    return std::visit([](const auto& explained) { return Text(explained); }, member);
  };
  if (kernel.best)
    return Cat(kernel.synthesis->request.text(), " on ", kernel.synthesis->target().name, "\n",
               BestText(*kernel.best));
  if (!kernel.is_family()) return member_text(kernel.members.front());
  const KernelRequest& request = kernel.synthesis->request;
  std::string text = request.family.graphs() != nullptr ? Cat(request.text(), "\n") : "";
  Append(&text, SharedPackingText(*kernel.synthesis), RegionTable(kernel.synthesis->regions));
  for (const ExplainedMember& member : kernel.members) Append(&text, "\n", member_text(member));
  return text;
}

}  // namespace kirsch
