// SPDX-License-Identifier: Apache-2.0
#include "synthesis/explain/transform_script.h"

#include <array>
#include <cstdint>
#include <vector>

#include "absl/strings/str_join.h"
#include "cost/cost_model.h"
#include "search/explain/explain.h"
#include "spec/language/printer.h"
#include "spec/language/schedule.h"
#include "spec/storage.h"
#include "spec/text/cat.h"
#include "synthesis/explain/main_path.h"

namespace kirsch {
namespace {

constexpr std::string_view kOp = "!transform.any_op";

bool IsBatched(const Spec& spec) { return spec.size[MatmulDims::kB] > 1; }
bool IsCol(const Spec& spec, int operand) { return spec.tensor(operand).layout.order == Order::kCol; }

// The dims of the linalg operation, as loops: it has the reduction last.
std::vector<size_t> LoopDims(const Spec& spec) {
  std::vector<size_t> dims = {MatmulDims::kM, MatmulDims::kN, MatmulDims::kK};
  if (IsBatched(spec)) dims.insert(dims.begin(), MatmulDims::kB);
  return dims;
}

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

// A tile as a named sequence. Threads share those of a parallel tile.
std::string SequenceText(const Spec& spec, const Decision& decision, const std::string& name) {
  std::vector<int64_t> sizes;
  for (size_t dim : LoopDims(spec)) sizes.push_back(dim == decision.dim ? decision.size : 0);
  const bool parallel = decision.kind == RewriteKind::kParallelTile;
  return Cat("transform.named_sequence @", name, "(%op: ", kOp, " {transform.consumed}) -> ", kOp,
             " {\n  %tiled, %loop = transform.structured.", parallel ? "tile_using_forall" : "tile_using_for",
             " %op tile_sizes [", absl::StrJoin(sizes, ", "), "] : (", kOp, ") -> (", kOp, ", ", kOp,
             ")\n  transform.yield %tiled : ", kOp, "\n}\n");
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
  const CostModel model(target);
  const std::vector<ExplainedNode> nodes = ExplainNodes(impl, model);
  const std::vector<const ExplainedNode*> path = MainPath(nodes);
  std::string sequences, main;
  std::string op = "%0";
  for (size_t i = 0; i < path.size(); ++i) {
    const Decision& decision = path[i]->impl->decision;
    if (!IsTile(path, i)) {
      Append(&main, "  // ", PrintDecision(impl.spec.op, decision), "\n");
      continue;
    }
    const std::string tile = TileName(path, i), tiled = Cat("%", tile);
    Append(&sequences, SequenceText(impl.spec, decision, tile));
    Append(&main, "  ", tiled, " = transform.include @", tile, " failures(propagate) (", op, ") : (", kOp,
           ") -> ", kOp, "\n");
    op = tiled;
  }
  return Cat("// ", PrintSpec(impl.spec), " for ", target.name,
             "\nmodule attributes {transform.with_named_sequence} {\n", FunctionText(impl.spec), sequences,
             "transform.named_sequence @__transform_main(%root: ", kOp,
             " {transform.readonly}) {\n  %0 = transform.structured.match ops{[\"", OperationName(impl.spec),
             "\"]} in %root : (", kOp, ") -> ", kOp, "\n", main, "  transform.yield\n}\n}\n");
}

}  // namespace kirsch
