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

// One line on a register tile, predicted from its shape before there is code.
std::string TileText(const TileFacts& facts, const Target& target) {
  const RegisterTile& tile = facts.tile;
  const bool of_matrix = tile.form == LayoutKind::kTiles;  // tiles of a matrix unit, not vectors
  return absl::StrFormat(
      "tile %dx%d of %d lanes by %s%s: %d of %d registers, %s; %.4g instructions and %.4g cycles a trip of "
      "%d "
      "step%s, bound by %s, %.1f%% of the peak rate",
      tile.rows, tile.columns, tile.lanes, of_matrix ? "tiles of " : "", tile.instruction().name,
      facts.registers, RegistersFor(tile, target),
      facts.spills == 0 ? "no spills" : Cat(facts.spills, " spilled"), facts.instructions, facts.cycles,
      facts.steps, facts.steps == 1 ? "" : "s", facts.bottleneck, 100 * facts.peak_share);
}

// The comment below a node's line: its spec, traffic, what it holds, its register tile, and the second best
// decision.
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
    add("second best: ", RunnerUpText(PrintDecision(node.impl->spec.op, node.runner_up), ToCycles(node.cost),
                                      ToCycles(node.runner_up_cost)));
  return text;
}

// The last table of an explanation: a line for each level beyond L1 that anything comes from.
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

// Prints a program, two lines a node. What is below a node is left out if it takes the same steps, with the
// same decision, as what is below an earlier node. Mostly it is so because a reduction's later tiles
// accumulate, and its first one does not.
//
//         31629   88.7%    0.0%        1        tile m 6
//                                              # matmul f32 96x300x16 lhs=row@L2 ...
class NodeLines {
 public:
  NodeLines(const std::vector<ExplainedNode>& nodes, const Target& target) : nodes_(nodes), target_(target) {
    for (const ExplainedNode& node : nodes) details_.push_back(Details(node, target));
  }

  std::string Text() {
    std::string text = absl::StrFormat("%12s %7s %7s %8s  program\n", "cycles", "share", "own", "trips");
    // A node with nothing below it is always printed whole: a reference to it would be as long.
    for (size_t i = 0; i < nodes_.size();) {
      const size_t end = EndOf(i);
      const bool folded = end > i + 1 && !printed_.insert(StepsOf(i, end)).second;
      Append(&text, NodeText(i), folded ? "; below it the same steps as above\n" : "\n");
      i = folded ? end : i + 1;
    }
    return text;
  }

 private:
  // The number of the first node after the subtree of node i. Nodes are in program order, parents first.
  size_t EndOf(size_t i) const {
    size_t end = i + 1;
    while (end < nodes_.size() && nodes_[end].depth > nodes_[i].depth) ++end;
    return end;
  }

  // What makes two subtrees the same to a reader: the decisions, the register tiles, and how often the nodes
  // below the first one run. How often the first one runs is on its own line.
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

// Prints the stages of a plan, a line each. Below a stage are its traffic, its register tiles, and its
// passes.
std::string StagesText(const ExplainedPlan& explained, const Target& target) {
  const Plan& plan = *explained.plan;
  std::string text = absl::StrFormat("%12s %7s %8s  stage\n", "cycles", "share", "runs");
  for (const ExplainedStage& stage : explained.stages) {
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
      if (node.tile) add(TileText(*node.tile, target));
    for (const RowVectorCycles& pass : stage.passes)
      add(absl::StrFormat("a pass of %.4g cycles a vector, bound by %s", pass.total(), pass.bottleneck()));
  }
  return text;
}

// "nothing else" where there is no second best, or where none was looked for.
std::string OtherText(const std::optional<RunnerUp>& other, double cycles) {
  if (!other) return "nothing else";
  return RunnerUpText(other->text, cycles, other->cycles);
}

// Prints each group with its cycles, the second best candidate, and the plan without the group.
// docs/explain.md has an example.
std::string RunnersUpText(const Plan& plan) {
  std::string text;
  for (size_t i = 0; i < plan.groups.size(); ++i) {
    const GroupDecision& group = plan.groups[i];
    const double cycles = plan.GroupCycles(i);
    absl::StrAppendFormat(
        &text, "group %s: %.0f cycles, %.1f%%, by %s\n  second best: %s\n  without this group: %s\n",
        NamesOfValues(plan.graph, group.operations), cycles, 100 * cycles / plan.cycles,
        PrintCandidate(group.candidate), OtherText(OtherCandidate(group), cycles),
        OtherText(OtherSplit(plan.graph, group), plan.cycles));
  }
  return text;
}

// Body is what the cycles go to. Closing stands behind the rates, and has what else is known of the whole.
std::string Body(const Explanation& program, const Synthesis& synthesis) {
  return NodeLines(program.nodes, synthesis.target).Text();
}
std::string Body(const ExplainedPlan& explained, const Synthesis& synthesis) {
  const Plan& plan = *explained.plan;
  return Cat(PrintGraph(plan.graph), "\n", PrintPlan(plan), PrintMemory(WriteProgram(plan, synthesis.target)),
             "\n", RunnersUpText(plan), "\n", StagesText(explained, synthesis.target), "\n");
}
std::string Closing(const Explanation& program, const Synthesis& synthesis) {
  return absl::StrFormat(
      "; %.1f%% of the peak rate; no program costs less than %.0f by the cost model's closed form, %.0f by "
      "the "
      "search (%s)",
      100 * program.peak_cycles / ToCycles(program.nodes.front().cost), ToCycles(program.bound),
      synthesis.bound_cycles, StopName(synthesis));
}
std::string Closing(const ExplainedPlan&, const Synthesis& synthesis) {
  if (!synthesis.unfused_cycles) return "";
  return absl::StrFormat("; with a group for each operation %.0f cycles", *synthesis.unfused_cycles);
}

std::string MemberText(const ExplainedMember& member) {
  const Synthesis& synthesis = *member.synthesis;
  const auto visit = [&](auto function) { return std::visit(function, member.explanation); };
  return Cat(SummaryText(member), "\n",
             visit([&](const auto& explained) { return Body(explained, synthesis); }),
             TrafficText(member.traffic),
             absl::StrFormat("%s on %s: %.0f cycles, %.1f GFLOP/s at %g GHz", synthesis.name,
                             synthesis.target.name, member.cycles, synthesis.gflops(), synthesis.target.ghz),
             visit([&](const auto& explained) { return Closing(explained, synthesis); }), "\n",
             synthesis.tuned ? Cat(synthesis.tuned->Summary(), "\n") : "");
}

}  // namespace

std::string ExplainText(const ExplainedKernel& kernel) {
  // A list of the cheapest programs takes the place of everything else.
  if (kernel.best)
    return Cat(kernel.synthesis->request.text(), " on ", kernel.synthesis->target().name, "\n",
               BestText(*kernel.best));
  if (!kernel.is_family()) return MemberText(kernel.members.front());
  // A family: its text if it is of graphs, the table of regions, and then each region's last member.
  const KernelRequest& request = kernel.synthesis->request;
  std::string text = request.family.graphs() != nullptr ? Cat(request.text(), "\n") : "";
  Append(&text, SharedPackingText(*kernel.synthesis), RegionTable(kernel.synthesis->regions));
  for (const ExplainedMember& member : kernel.members) Append(&text, "\n", MemberText(member));
  return text;
}

}  // namespace kirsch
