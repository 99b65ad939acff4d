// SPDX-License-Identifier: Apache-2.0
#include "synthesis/explain/transform_script.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "cost/cost_model.h"
#include "search/explain/explain.h"
#include "search/explain/explain_plan.h"
#include "spec/language/printer.h"
#include "spec/storage.h"
#include "spec/text/cat.h"
#include "spec/text/status_macros.h"
#include "synthesis/explain/linalg_text.h"
#include "synthesis/explain/main_path.h"
#include "synthesis/explain/transform_sequences.h"

namespace kirsch {
namespace {

constexpr std::string_view kOp = "!transform.any_op";

bool IsBatched(const Spec& spec) { return spec.size[MatmulDims::kB] > 1; }
bool IsCol(const Spec& spec, int operand) { return spec.tensor(operand).layout.order == Order::kCol; }

// "linalg.batch_matmul_transpose_b"
std::string OperationName(const Spec& spec) {
  return Cat("linalg.", IsBatched(spec) ? "batch_" : "", "matmul",
             IsCol(spec, MatmulDims::kLhs)   ? "_transpose_a"
             : IsCol(spec, MatmulDims::kRhs) ? "_transpose_b"
                                             : "");
}

// "tensor<64x128xf32>", as the matrix lies.
std::string TensorText(const Spec& spec, int operand) {
  const auto extent = ExtentOf(spec, operand);
  return Cat("tensor<", IsBatched(spec) ? Cat(spec.size[MatmulDims::kB], "x") : "", extent.outer, "x",
             extent.inner, "x", Info(spec.tensor(operand).dtype).name, ">");
}

// A function with the matmul. Without `accumulate` the sums begin with zeros.
std::string FunctionText(const Spec& spec) {
  std::array<std::string, 3> types;
  for (int operand = 0; operand < 3; ++operand)
    types[static_cast<size_t>(operand)] = TensorText(spec, operand);
  const auto& [lhs, rhs, out] = types;
  const std::string zeros = Cat("  %zero = arith.constant 0.0 : ", Info(spec.out().dtype).name,
                                "\n  %sums = linalg.fill ins(%zero : ", Info(spec.out().dtype).name,
                                ") outs(%out : ", out, ") -> ", out, "\n");
  return Cat("func.func @matmul(%lhs: ", lhs, ", %rhs: ", rhs, ", %out: ", out, ") -> ", out, " {\n",
             spec.accumulate ? "" : zeros, "  %product = ", OperationName(spec), " ins(%lhs, %rhs : ", lhs,
             ", ", rhs, ") outs(", spec.accumulate ? "%out" : "%sums", " : ", out, ") -> ", out,
             "\n  return %product : ", out, "\n}\n");
}

std::vector<LinalgContraction::Loop> LoopsOf(const Spec& spec) {
  std::vector<LinalgContraction::Loop> loops = {{LinalgDim::kRow, spec.size[MatmulDims::kM]},
                                                {LinalgDim::kColumn, spec.size[MatmulDims::kN]},
                                                {LinalgDim::kStep, spec.size[MatmulDims::kK]}};
  if (IsBatched(spec)) loops.insert(loops.begin(), {LinalgDim::kItem, spec.size[MatmulDims::kB]});
  return loops;
}

// A module with a function and a script.
std::string ModuleText(std::string_view head, const Target& target, const std::string& function,
                       const std::string& sequences, const std::string& main) {
  return Cat("// ", head, " for ", target.name, "\nmodule attributes {transform.with_named_sequence} {\n",
             function, sequences, "transform.named_sequence @__transform_main(%root: ", kOp,
             " {transform.readonly}) {\n", main, "  transform.yield\n}\n}\n");
}

// True if an operand of a stage may be the contraction's: the same value, or that before a transpose. Copies
// have numbers behind the graph's, and may be of anything.
bool MayBe(const Graph& graph, int value, int input) {
  if (value >= static_cast<int>(graph.nodes.size()) || value == input) return true;
  return graph.at(input).op == Operation::kTranspose && MayBe(graph, value, graph.at(input).inputs[0]);
}

// How a stage computes a contraction: as it is, transposed, or not at all.
enum class Match { kNone, kAsIs, kSwapped };

Match MatchOf(const Plan& plan, const ExplainedStage& stage, int node) {
  const GroupDecision& group =
      plan.groups[static_cast<size_t>(plan.nests[static_cast<size_t>(stage.nest)].group)];
  if (std::ranges::find(group.operations, node) == group.operations.end()) return Match::kNone;
  const std::vector<int>& inputs = plan.graph.at(node).inputs;
  const auto is = [&](size_t operand, size_t input) {
    return MayBe(plan.graph, stage.stage->operands[operand].value, inputs[input]);
  };
  const int window = stage.stage->spec.op_info().window.operand;
  if (window != MatmulDims::kRhs && is(0, 0) && is(1, 1)) return Match::kAsIs;
  return window != MatmulDims::kLhs && is(0, 1) && is(1, 0) ? Match::kSwapped : Match::kNone;
}

// The stage of a contraction that takes most of the time; null if none is known to be its own.
const ExplainedStage* StageOf(const ExplainedPlan& explained, int node) {
  const ExplainedStage* best = nullptr;
  for (const ExplainedStage& stage : explained.stages)
    if (!stage.nodes.empty() && MatchOf(*explained.plan, stage, node) != Match::kNone &&
        (best == nullptr || stage.weight * stage.stage->cycles > best->weight * best->stage->cycles))
      best = &stage;
  return best;
}

}  // namespace

absl::Status CheckTransformScript(const Spec& spec) {
  bool dense = true, floats = true;
  for (int operand = 0; operand <= MatmulDims::kOut; ++operand) {
    dense &= spec.tensor(operand).layout.ld == ExtentOf(spec, operand).inner;
    floats &= IsFloating(spec.tensor(operand).dtype) && !IsOfBlocks(spec.tensor(operand).dtype);
  }
  const bool both = IsCol(spec, MatmulDims::kLhs) && IsCol(spec, MatmulDims::kRhs);
  if (spec.op == OpKind::kMatmul && dense && floats && !both && spec.block == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "--emit transform: expected a matmul of floats without an epilogue, its matrices dense, one of lhs and "
      "rhs at "
      "most by columns");
}

std::string TransformScript(const Impl& impl, const Target& target) {
  const std::vector<ExplainedNode> nodes = ExplainNodes(impl, CostModel(target));
  TransformSequences script("", Cat("ops{[\"", OperationName(impl.spec), "\"]}"), LoopsOf(impl.spec),
                            impl.spec, false);
  script.AddPath(MainPath(nodes));
  return ModuleText(PrintSpec(impl.spec), target, FunctionText(impl.spec), script.sequences(), script.main());
}

absl::StatusOr<std::string> TransformScript(const Plan& plan, const Target& target) {
  KIRSCH_ASSIGN_OR_RETURN(const LinalgFunction function, WriteLinalg(plan.graph));
  const ExplainedPlan explained = ExplainPlan(plan, CostModel(target));
  std::string sequences, main;
  for (const LinalgContraction& contraction : function.contractions) {
    const ExplainedStage* const stage = StageOf(explained, contraction.node);
    if (stage == nullptr) {
      Append(&main, "  // ", contraction.name, ": no stage of the plan computes it alone\n");
      continue;
    }
    const LoopNest& nest = plan.nests[static_cast<size_t>(stage->nest)];
    TransformSequences script(Cat(contraction.name, "_"),
                              Cat("attributes{kirsch = \"", contraction.name, "\"}"), contraction.loops,
                              stage->stage->spec, MatchOf(plan, *stage, contraction.node) == Match::kSwapped);
    if (!script.Suits()) {
      Append(&main, "  // ", contraction.name, ": computed in other loops than the operation's\n");
      continue;
    }
    script.AddRoot(nest.sharing == Sharing::kItems || nest.sharing == Sharing::kTiles);
    script.AddPath(MainPath(stage->nodes));
    Append(&sequences, script.sequences());
    Append(&main, script.main());
  }
  return ModuleText(plan.graph.name, target, function.text, sequences, main);
}

}  // namespace kirsch
