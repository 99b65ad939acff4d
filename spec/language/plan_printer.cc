// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string>
#include <vector>

#include "spec/language/printer.h"
#include "spec/language/schedule.h"
#include "spec/program/plan.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

// Prints a plan for people: a line for each nest and stage, below a contraction its schedule. Nothing reads
// it back (PrintPlanSchedule has the text that is read).
//
//   nest: batch 1, 32 rows by 8, threads share tiles  # 5120 cycles
//     each tile: contraction(x, w, copy70) matmul f32 8x64x64 ...  # 900 cycles
//       tile m 8 ...
class PlanPrinter {
 public:
  explicit PlanPrinter(const Plan& plan) : plan_(plan) {}

  std::string Print() && {
    // Convolutions that are less exact than usual come first: nobody should miss them.
    for (const auto& [node, tile] : WinogradConvolutions(plan_))
      Append(&text_, NameOf(node), ": by Winograd's algorithm, ", WinogradName(tile),
             ", less exact than the sums of a convolution (docs/exactness.md)\n");
    // Then the work that is done once, and then each call's.
    if (!plan_.prepacks.empty() || !plan_.folded.empty()) Append(&text_, "once, ahead of all calls\n");
    for (const LoopNest& nest : plan_.folded)
      for (const Stage* stage : StagesOf(nest)) Print("made", {*stage});
    Print("ahead", plan_.prepacks);
    for (const LoopNest& nest : plan_.nests) {
      if (plan_.phases() > 1) Append(&text_, "phase ", nest.phase, ", ");
      Print(nest);
    }
    return std::move(text_);
  }

  // A stage on one line, without its cycles.
  std::string Describe(const Stage& stage) const {
    const std::string operands =
        Join(stage.operands, ", ", [&](const StageOperand& operand) { return NameOf(operand.value); });
    constexpr const char* kKinds[] = {"contraction", "pack", "rows", "pad", "transpose", "winograd"};
    std::string text = Cat(kKinds[static_cast<size_t>(stage.kind)], "(", operands, ") ");
    switch (stage.kind) {
      case StageKind::kContraction:
      case StageKind::kPack:
        return Cat(text, stage.repeats > 1 && stage.loop == 0 ? Cat(stage.repeats, " x ") : "",
                   PrintSpec(stage.spec));
      case StageKind::kRows:
        Append(&text, stage.rows.most(), "x", stage.columns.most(), ":");
        // Loads and numbers are no operations.
        for (const RowValue& value : stage.program.values)
          if (value.op != Operation::kLoad && value.op != Operation::kNumber)
            Append(&text, " ", Info(value.op).name);
        if (stage.program.reduces_rows) text += ", down the columns";
        if (stage.schedule.online) text += ", online";
        if (stage.schedule.streamed != RowSchedule::kNone) text += ", past the caches";
        return text;
      case StageKind::kPad:
      case StageKind::kTranspose:
        return Cat(text, stage.copy.images * stage.copy.planes, " of ", stage.copy.height, "x",
                   stage.copy.width);
      case StageKind::kTransform:
        return text + Describe(stage.transform);
    }
    return text;
  }

 private:
  static int64_t Whole(double cycles) { return static_cast<int64_t>(std::llround(cycles)); }

  // A nest, and its stages in the order in which they run. `kSharing` is indexed by Sharing.
  void Print(const LoopNest& nest) {
    constexpr const char* kSharing[] = {"", ", threads share items", ", threads share tiles",
                                        ", threads share it"};
    Append(&text_, "nest: batch ", nest.batch.most(), ", ", nest.rows.most(), " rows by ", nest.tile.most(),
           Symbols(nest), kSharing[static_cast<size_t>(nest.sharing)], "  # ", Whole(nest.cycles),
           " cycles\n");
    Print("first", nest.before);
    Print("each item", nest.once);
    Print("each tile", nest.stages);
    Print("the last tile", nest.rest);
  }

  // Says which sizes have a symbol, and for which value of it the line's numbers are.
  std::string Symbols(const LoopNest& nest) const {
    const bool items = !nest.batch.IsConstant();
    const Size& size = items ? nest.batch : nest.rows;
    if (size.IsConstant()) return "";
    return Cat(items ? ", items" : ", rows", " for ", plan_.Find(size.symbol())->name, " = ",
               size.most_of_symbol());
  }

  void Print(const char* when, const std::vector<Stage>& stages) {
    for (const Stage& stage : stages) {
      // How often the stage runs, where it is not once: for keys that are known at run time, or in turn with
      // its neighbours.
      const int64_t keys = stage.keys;
      const std::string turns = !stage.keys.IsConstant() ? Cat(", up to ", keys, " keys at once")
                                : keys != 0       ? Cat(", blocks of ", keys, keys > 1 ? " keys" : " key")
                                : stage.loop != 0 ? Cat(", ", stage.repeats, " in turn")
                                                  : "";
      Append(&text_, "  ", when, turns, ": ", Describe(stage), "  # ", Whole(stage.cycles), " cycles\n");
      if (stage.kind != StageKind::kContraction) continue;
      AppendIndented(PrintSchedule(stage.impl), "    ", &text_);
    }
  }

  static std::string Describe(const TransformShape& shape) {
    constexpr const char* kSteps[] = {"filters", "input", "output"};
    const std::string step = kSteps[static_cast<size_t>(shape.step)];
    const std::string text = Cat(WinogradName(shape.tile), " ", step, ", ", shape.axes[0].squares, "x",
                                 shape.axes[1].squares, " squares of ", shape.rows * shape.columns);
    return shape.epilogue.empty() ? text
                                  : Cat(text, " epilogue=", PrintEpilogue(shape.epilogue, Dtype::kF32));
  }

  // The name of a value: a parameter's own, "out", "v3" for a node, "copy70" for a buffer that is no node.
  std::string NameOf(int value) const {
    const Graph& graph = plan_.graph;
    if (value < graph.num_inputs()) return graph.at(value).text;
    if (const std::optional<size_t> result = graph.FindResult(value)) return graph.results[*result].name;
    return Cat(value < static_cast<int>(graph.nodes.size()) ? "v" : "copy", value);
  }

  const Plan& plan_;
  std::string text_;
};

// "matmul epilogue=relu", "max+sub+exp+sum+mul"
std::string Outline(const Stage& stage) {
  switch (stage.kind) {
    case StageKind::kContraction: {
      const OpInfo& op = stage.spec.op_info();
      return op.epilogue.empty()
                 ? std::string(op.name)
                 : Cat(op.name, " epilogue=", PrintEpilogue(op.epilogue, AccumulatorOf(stage.spec)));
    }
    case StageKind::kPack:
      return "pack";
    case StageKind::kRows: {
      std::string text;
      for (const RowValue& value : stage.program.values)
        if (value.op != Operation::kLoad && value.op != Operation::kNumber)
          Append(&text, text.empty() ? "" : "+", Info(value.op).name);
      return text.empty() ? "copy" : text;
    }
    case StageKind::kPad:
      return "pad";
    case StageKind::kTranspose:
      return "transpose";
    case StageKind::kTransform:
      return WinogradName(stage.transform.tile);
  }
  return "";
}

}  // namespace

std::string PlanOutline(const Plan& plan) {
  std::string text;
  for (const LoopNest& nest : plan.nests) {
    if (!text.empty()) text += " | ";
    bool first = true;
    // The rest of the rows has the same stages, for fewer rows: it is left out.
    for (const std::vector<Stage>* stages : {&nest.before, &nest.once, &nest.stages})
      for (const Stage& stage : *stages) {
        // Stages for the keys that larger blocks leave do the same as the first.
        if (stage.keys != 0 && stage.loop > 1) continue;  // as the first, for fewer keys
        Append(&text, first ? "" : ", ", Outline(stage));
        first = false;
      }
  }
  return text;
}

std::map<int, int> WinogradConvolutions(const Plan& plan) {
  std::map<int, int> tiles;
  for (const LoopNest& nest : plan.nests)
    for (const std::vector<Stage>* stages : {&nest.before, &nest.once, &nest.stages, &nest.rest})
      for (const Stage& stage : *stages)
        if (stage.kind == StageKind::kTransform) tiles[stage.transform.node] = stage.transform.tile;
  return tiles;
}

std::string PrintPlan(const Plan& plan) { return PlanPrinter(plan).Print(); }

std::string PrintStage(const Plan& plan, const Stage& stage) { return PlanPrinter(plan).Describe(stage); }

}  // namespace kirsch
