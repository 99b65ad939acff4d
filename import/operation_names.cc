// SPDX-License-Identifier: Apache-2.0
#include "import/operation_names.h"

#include <algorithm>
#include <array>

#include "import/lowering.h"
#include "spec/text/nearest.h"

namespace kirsch {
namespace {

constexpr auto kRows = std::to_array<ImportedOperation>({
    // StableHLO.
    {"stablehlo.add", LowerElementwise, "add($0, $1)"},
    {"stablehlo.subtract", LowerElementwise, "sub($0, $1)"},
    {"stablehlo.multiply", LowerElementwise, "mul($0, $1)"},
    {"stablehlo.divide", LowerElementwise, "div($0, $1)"},
    {"stablehlo.maximum", LowerElementwise, "max($0, $1)"},
    {"stablehlo.minimum", LowerElementwise, "min($0, $1)"},
    {"stablehlo.power", LowerElementwise, "pow($0, $1)"},
    {"stablehlo.negate", LowerElementwise, "neg($0)"},
    {"stablehlo.abs", LowerElementwise, "abs($0)"},
    {"stablehlo.sign", LowerElementwise, "sign($0)"},
    {"stablehlo.is_finite", LowerElementwise, "equal(sub($0, $0), 0)"},
    {"stablehlo.exponential", LowerElementwise, "exp($0)"},
    {"stablehlo.exponential_minus_one", LowerElementwise, "expm1($0)"},
    {"stablehlo.log", LowerElementwise, "log($0)"},
    {"stablehlo.log_plus_one", LowerElementwise, "log1p($0)"},
    {"stablehlo.sqrt", LowerElementwise, "sqrt($0)"},
    {"stablehlo.rsqrt", LowerElementwise, "rsqrt($0)"},
    {"stablehlo.tanh", LowerElementwise, "tanh($0)"},
    {"stablehlo.logistic", LowerElementwise, "sigmoid($0)"},
    {"stablehlo.sine", LowerElementwise, "sin($0)"},
    {"stablehlo.cosine", LowerElementwise, "cos($0)"},
    {"stablehlo.floor", LowerElementwise, "floor($0)"},
    {"stablehlo.ceil", LowerElementwise, "ceil($0)"},
    {"stablehlo.round_nearest_even", LowerElementwise, "round($0)"},
    {"stablehlo.select", LowerElementwise, "select($0, $1, $2)"},
    {"stablehlo.clamp", LowerElementwise, "min(max($1, $0), $2)"},
    // Of truth values, which are 1 and 0.
    {"stablehlo.and", LowerElementwise, "mul($0, $1)", 0, true},
    {"stablehlo.or", LowerElementwise, "max($0, $1)", 0, true},
    {"stablehlo.not", LowerElementwise, "sub(1, $0)", 0, true},
    {"stablehlo.compare", LowerStablehloCompare, "", 2},
    {"stablehlo.convert", LowerConvert},
    {"stablehlo.constant", LowerConstant, "", 0},
    {"stablehlo.iota", LowerStablehloIota, "", 0},
    {"stablehlo.broadcast_in_dim", LowerStablehloBroadcast},
    {"stablehlo.transpose", LowerStablehloTranspose},
    {"stablehlo.reshape", LowerReshape},
    {"stablehlo.reduce", LowerStablehloReduce, "", kAnyOperands},
    {"stablehlo.gather", LowerStablehloGather, "", 2},
    {"stablehlo.reverse", LowerReverse},
    {"stablehlo.dot_general", LowerStablehloDot, "", 2},
    {"stablehlo.convolution", LowerStablehloConvolution, "", 2},
    {"stablehlo.slice", LowerStablehloSlice},
    {"stablehlo.concatenate", LowerConcat, "", kAnyOperands},
    {"stablehlo.pad", LowerStablehloPad, "", 2},
    {"stablehlo.reduce_window", LowerStablehloReduceWindow, "", 2},
    // CHLO, which is what JAX has beside it. erfc is no operation here, but a part of gelu (idioms.h).
    {"chlo.square", LowerElementwise, "mul($0, $0)"},
    {"chlo.erf", LowerElementwise, "erf($0)"},
    {"chlo.erfc", LowerElementwise, "erfc($0)"},
    // linalg. Named operations have a generic one's maps, iterators and body.
    {"linalg.generic", LowerStructured, "", kAnyOperands},
    {"linalg.softmax", LowerSoftmax, "", 2},
    // arith and math: of tensors, or in bodies.
    {"arith.addf", LowerElementwise, "add($0, $1)"},
    {"arith.addi", LowerElementwise, "add($0, $1)"},
    {"arith.subf", LowerElementwise, "sub($0, $1)"},
    {"arith.subi", LowerElementwise, "sub($0, $1)"},
    {"arith.mulf", LowerElementwise, "mul($0, $1)"},
    {"arith.muli", LowerElementwise, "mul($0, $1)"},
    {"arith.divf", LowerElementwise, "div($0, $1)"},
    {"arith.negf", LowerElementwise, "neg($0)"},
    {"arith.maximumf", LowerElementwise, "max($0, $1)"},
    {"arith.maxnumf", LowerElementwise, "max($0, $1)"},
    {"arith.maxsi", LowerElementwise, "max($0, $1)"},
    {"arith.minimumf", LowerElementwise, "min($0, $1)"},
    {"arith.minnumf", LowerElementwise, "min($0, $1)"},
    {"arith.minsi", LowerElementwise, "min($0, $1)"},
    {"arith.select", LowerElementwise, "select($0, $1, $2)"},
    {"arith.andi", LowerElementwise, "mul($0, $1)", 0, true},
    {"arith.ori", LowerElementwise, "max($0, $1)", 0, true},
    {"arith.xori", LowerElementwise, "sub(max($0, $1), mul($0, $1))", 0, true},
    {"arith.cmpf", LowerFloatCompare, "", 2},
    {"arith.cmpi", LowerIntegerCompare, "", 2},
    {"arith.constant", LowerConstant, "", 0},
    {"arith.extf", LowerConvert},
    {"arith.truncf", LowerConvert},
    {"arith.extsi", LowerSignedConvert},
    {"arith.sitofp", LowerSignedConvert},
    {"arith.fptosi", LowerConvert},
    {"arith.extui", LowerConvert, "", 1, true},
    {"arith.uitofp", LowerConvert, "", 1, true},
    {"arith.index_cast", LowerSignedConvert},
    {"math.absf", LowerElementwise, "abs($0)"},
    {"math.ceil", LowerElementwise, "ceil($0)"},
    {"math.cos", LowerElementwise, "cos($0)"},
    {"math.erf", LowerElementwise, "erf($0)"},
    {"math.exp", LowerElementwise, "exp($0)"},
    {"math.expm1", LowerElementwise, "expm1($0)"},
    {"math.floor", LowerElementwise, "floor($0)"},
    {"math.fma", LowerElementwise, "add(mul($0, $1), $2)"},
    {"math.log", LowerElementwise, "log($0)"},
    {"math.log1p", LowerElementwise, "log1p($0)"},
    {"math.powf", LowerElementwise, "pow($0, $1)"},
    {"math.roundeven", LowerElementwise, "round($0)"},
    {"math.rsqrt", LowerElementwise, "rsqrt($0)"},
    {"math.sin", LowerElementwise, "sin($0)"},
    {"math.sqrt", LowerElementwise, "sqrt($0)"},
    {"math.tanh", LowerElementwise, "tanh($0)"},
    {"tensor.empty", LowerEmpty, "", 0},
    {"tensor.splat", LowerSplat},
    {"tensor.cast", LowerSame},
    {"tensor.expand_shape", LowerReshape},
    {"tensor.collapse_shape", LowerReshape},
    {"tensor.pad", LowerPad},
    {"tensor.extract_slice", LowerExtractSlice},
    {"tensor.concat", LowerConcat, "", kAnyOperands},
    // TOSA.
    {"tosa.add", LowerTosaElementwise, "add($0, $1)"},
    {"tosa.sub", LowerTosaElementwise, "sub($0, $1)"},
    {"tosa.maximum", LowerTosaElementwise, "max($0, $1)"},
    {"tosa.minimum", LowerTosaElementwise, "min($0, $1)"},
    {"tosa.pow", LowerTosaElementwise, "pow($0, $1)"},
    {"tosa.exp", LowerTosaElementwise, "exp($0)"},
    {"tosa.log", LowerTosaElementwise, "log($0)"},
    {"tosa.tanh", LowerTosaElementwise, "tanh($0)"},
    {"tosa.sigmoid", LowerTosaElementwise, "sigmoid($0)"},
    {"tosa.erf", LowerTosaElementwise, "erf($0)"},
    {"tosa.rsqrt", LowerTosaElementwise, "rsqrt($0)"},
    {"tosa.reciprocal", LowerTosaElementwise, "div(1, $0)"},
    {"tosa.negate", LowerTosaElementwise, "neg($0)"},
    {"tosa.abs", LowerTosaElementwise, "abs($0)"},
    {"tosa.floor", LowerTosaElementwise, "floor($0)"},
    {"tosa.ceil", LowerTosaElementwise, "ceil($0)"},
    {"tosa.sin", LowerTosaElementwise, "sin($0)"},
    {"tosa.cos", LowerTosaElementwise, "cos($0)"},
    {"tosa.select", LowerTosaElementwise, "select($0, $1, $2)"},
    {"tosa.greater", LowerTosaElementwise, "less($1, $0)"},
    {"tosa.greater_equal", LowerTosaElementwise, "less_equal($1, $0)"},
    {"tosa.equal", LowerTosaElementwise, "equal($0, $1)"},
    {"tosa.logical_and", LowerTosaElementwise, "mul($0, $1)", 0, true},
    {"tosa.logical_or", LowerTosaElementwise, "max($0, $1)", 0, true},
    {"tosa.logical_not", LowerTosaElementwise, "sub(1, $0)", 0, true},
    {"tosa.mul", LowerTosaMul, "mul($0, $1)"},
    {"tosa.clamp", LowerTosaClamp},
    {"tosa.cast", LowerConvert},
    {"tosa.const", LowerConstant, "", 0},
    {"tosa.identity", LowerSame},
    {"tosa.reshape", LowerReshape},
    {"tosa.transpose", LowerTosaTranspose, "", 2},
    {"tosa.reduce_sum", LowerTosaReduceSum},
    {"tosa.reduce_max", LowerTosaReduceMax},
    {"tosa.reduce_min", LowerTosaReduceMin},
    {"tosa.matmul", LowerTosaMatmul, "", 2},
    {"tosa.fully_connected", LowerTosaFullyConnected, "", 3},
    {"tosa.conv2d", LowerTosaConv2d, "", 3},
    {"tosa.depthwise_conv2d", LowerTosaDepthwiseConv2d, "", 3},
    {"tosa.slice", LowerTosaSlice},
    {"tosa.concat", LowerConcat, "", kAnyOperands},
    {"tosa.pad", LowerTosaPad, "", kAnyOperands},
    {"tosa.max_pool2d", LowerTosaMaxPool2d},
    {"tosa.avg_pool2d", LowerTosaAvgPool2d},
    {"tosa.resize", LowerTosaResize},
    {"tosa.gather", LowerTosaGather, "", 2},
    {"tosa.reverse", LowerReverse},
    {"tosa.argmax", LowerTosaArgmax},
    {"tosa.tile", LowerTosaTile},
});

}  // namespace

int ImportedOperation::OperandCount() const {
  if (expression.empty()) return operands;
  int highest = 0;
  for (size_t at = expression.find('$'); at != expression.npos; at = expression.find('$', at + 1))
    highest = std::max(highest, expression[at + 1] - '0');
  return highest + 1;
}

const ImportedOperation* FindImported(const MlirOperation& operation) {
  const MlirAttribute* maps = operation.Find("indexing_maps");
  const bool structured = operation.name.starts_with("linalg.") && maps != nullptr;
  const std::string_view name = structured ? "linalg.generic" : std::string_view(operation.name);
  const auto found =
      std::find_if(kRows.begin(), kRows.end(), [&](const auto& row) { return row.name == name; });
  return found == kRows.end() ? nullptr : &*found;
}

std::vector<std::string_view> ImportedNames() { return NamesOf(kRows); }

}  // namespace kirsch
