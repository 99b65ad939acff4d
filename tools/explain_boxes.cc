// SPDX-License-Identifier: Apache-2.0
#include "tools/explain_boxes.h"

#include <utility>

#include "absl/strings/str_format.h"
#include "spec/language/printer.h"
#include "spec/language/schedule.h"
#include "spec/text/cat.h"
#include "synthesis/explain/cycle_kinds.h"

namespace kirsch {
namespace {

// Names and values, for the panel that describes the box that a reader points at.
using BoxFacts = std::vector<std::pair<std::string, std::string>>;

// Adds bytes by level, unless all are 0.
template <typename Amounts>
void AddAmounts(const std::string& name, const Amounts& amounts, BoxFacts* facts) {
  if (std::string text = ByLevel(amounts); !text.empty()) facts->emplace_back(name, std::move(text));
}

std::string Cycles(double cycles) { return absl::StrFormat("%.0f cycles", cycles); }

// Adds what is predicted of a register tile.
void AddTile(const TileFacts& facts, BoxFacts* out) {
  const RegisterTile& tile = facts.tile;
  out->emplace_back("register tile", absl::StrFormat("%d × %d vectors of %d lanes, %s", tile.rows,
                                                     tile.columns, tile.lanes, tile.instruction().name));
  out->emplace_back(tile.form == LayoutKind::kTiles ? "tiles" : "vector registers",
                    absl::StrFormat("%d, %d spilled", facts.registers, facts.spills));
  out->emplace_back("a trip",
                    absl::StrFormat("%d steps, %.4g instructions, %.4g cycles, bound by %s", facts.steps,
                                    facts.instructions, facts.cycles, facts.bottleneck));
  out->emplace_back("of the peak rate", absl::StrFormat("%.1f %%", 100 * facts.peak_share));
}

// What the panel says of a node. `total`: the cycles that shares are of.
BoxFacts GatherFacts(const ExplainedNode& node, double total) {
  const double cycles = ToCycles(node.cost);
  BoxFacts facts = {{"spec", PrintSpec(node.impl->spec)}};
  facts.emplace_back("time", absl::StrFormat("%.2f %% of the whole, %.2f %% without what is below",
                                             100 * node.weight * cycles / total,
                                             100 * node.weight * ToCycles(node.own) / total));
  facts.emplace_back("one run", absl::StrFormat("%s; %.0f runs", Cycles(cycles), node.runs));
  AddAmounts("in from", node.traffic.read, &facts);
  AddAmounts("back to", node.traffic.written, &facts);
  AddAmounts("held", node.bytes_held, &facts);
  if (node.tile) AddTile(*node.tile, &facts);
  if (node.runner_up.kind != RewriteKind::kNone)
    facts.emplace_back("second best",
                       absl::StrFormat("%s: %+.2f %%", PrintDecision(node.impl->spec.op, node.runner_up),
                                       Margin(cycles, ToCycles(node.runner_up_cost))));
  return facts;
}

// Adds the boxes of a program, from `start` on, at `depth`. `scale` is the share of the whole that one cycle
// of the program stands for. The time that a node takes for itself comes after its children, and stays
// uncovered.
//   a program of 60 cycles, alone on the page: scale 1/60
//     move out VRF vectors8   share 60/60, of which 8/60 stay uncovered
//     microkernel             share 52/60
class NodeBoxes {
 public:
  NodeBoxes(const std::vector<ExplainedNode>& nodes, double scale, double total, int depth,
            std::vector<IcicleBox>* boxes)
      : nodes_(nodes), scale_(scale), total_(total), depth_(depth), boxes_(boxes) {}

  void Add(double start) {
    size_t next = 0;
    Visit(&next, start);
  }

 private:
  // Adds the node at `next` and those below it, and moves `next` behind them. Returns where its box ends.
  double Visit(size_t* next, double start) {
    const ExplainedNode& node = nodes_[(*next)++];
    const double share = node.weight * ToCycles(node.cost) * scale_;
    boxes_->push_back({depth_ + node.depth, start, share, CycleKindOf(node.impl->decision),
                       PrintDecision(node.impl->spec.op, node.impl->decision), GatherFacts(node, total_)});
    double at = start;
    // Children stand side by side.
    while (*next < nodes_.size() && nodes_[*next].depth > node.depth) at = Visit(next, at);
    return start + share;
  }

  const std::vector<ExplainedNode>& nodes_;
  const double scale_, total_;
  const int depth_;
  std::vector<IcicleBox>* const boxes_;
};

// What the panel says of a stage of a plan.
BoxFacts GatherFacts(const ExplainedStage& stage, double total) {
  BoxFacts facts;
  facts.emplace_back(
      "time", absl::StrFormat("%.2f %% of the whole", 100 * stage.weight * stage.stage->cycles / total));
  facts.emplace_back("one run", absl::StrFormat("%s; %s, %.0f runs", Cycles(stage.stage->cycles),
                                                Name(stage.time), stage.runs));
  AddAmounts("in from", stage.traffic.read, &facts);
  AddAmounts("back to", stage.traffic.written, &facts);
  for (const RowVectorCycles& pass : stage.passes)
    facts.emplace_back("a pass",
                       absl::StrFormat("%.4g cycles a vector, bound by %s", pass.total(), pass.bottleneck()));
  return facts;
}

// Adds a second best choice and how much more it costs, if there is one.
void AddRunnerUp(const std::string& name, const std::optional<RunnerUp>& other, double cycles,
                 BoxFacts* facts) {
  if (other)
    facts->emplace_back(name, absl::StrFormat("%s: %+.2f %%", other->text, Margin(cycles, other->cycles)));
}

// The box of a loop nest. Its panel also says what would be second best for the group that it belongs to.
IcicleBox NestBox(const Plan& plan, const LoopNest& nest, double start) {
  const GroupDecision& group = plan.groups[static_cast<size_t>(nest.group)];
  IcicleBox box{1, start, nest.cycles / plan.cycles, kWholePlan, "group: " + PrintCandidate(group.candidate),
                {}};
  box.facts = {
      {"cycles", Cycles(nest.cycles)},
      {"rows", absl::StrFormat("%d by %d, batch %d", nest.rows.most(), nest.tile.most(), nest.batch.most())}};
  AddRunnerUp("second best", OtherCandidate(group), plan.GroupCycles(static_cast<size_t>(nest.group)),
              &box.facts);
  AddRunnerUp("without this group", OtherSplit(plan.graph, group), plan.cycles, &box.facts);
  return box;
}

}  // namespace

std::vector<IcicleBox> BoxesOf(const Explanation& program) {
  std::vector<IcicleBox> boxes;
  const std::vector<ExplainedNode>& nodes = program.nodes;
  const double total = ToCycles(nodes.front().cost);
  NodeBoxes(nodes, 1 / total, total, 0, &boxes).Add(0);
  return boxes;
}

std::vector<IcicleBox> BoxesOf(const ExplainedPlan& explained) {
  const Plan& plan = *explained.plan;
  // Depth 0 is the whole plan, 1 a loop nest, 2 a stage, from 3 on the program of a contraction.
  std::vector<IcicleBox> boxes = {{0, 0, 1, kWholePlan, plan.graph.name, {{"cycles", Cycles(plan.cycles)}}}};
  double at = 0;
  int nest = -1;
  double stage_at = 0;
  for (const ExplainedStage& stage : explained.stages) {
    // Stages are in the order in which they run, so those of a nest stand together.
    if (stage.nest != nest) {
      nest = stage.nest;
      stage_at = at;
      boxes.push_back(NestBox(plan, plan.nests[static_cast<size_t>(nest)], at));
      at += boxes.back().share;
    }
    // Shares are of the whole plan. Runs that take no time of their own, beside other threads, have no width.
    const double share = stage.weight * stage.stage->cycles / plan.cycles;
    boxes.push_back({2, stage_at, share, CycleKindOf(stage.stage->kind), PrintStage(plan, *stage.stage),
                     GatherFacts(stage, plan.cycles)});
    if (!stage.nodes.empty()) {
      // A contraction's nodes are those of one repeat; `scale` lets them fill the box of the stage: the
      // root's cycles times `scale` are the stage's share.
      const double of_nodes = ToCycles(stage.nodes.front().cost) * static_cast<double>(stage.stage->repeats);
      const double scale = of_nodes > 0 ? share / of_nodes * static_cast<double>(stage.stage->repeats) : 0;
      NodeBoxes(stage.nodes, scale, ToCycles(stage.nodes.front().cost), 3, &boxes).Add(stage_at);
    }
    stage_at += share;
  }
  return boxes;
}

}  // namespace kirsch
