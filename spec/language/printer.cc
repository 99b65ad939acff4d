// SPDX-License-Identifier: Apache-2.0
#include "spec/language/printer.h"

#include "spec/language/shorthand.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

// The digits of an axis, the innermost first: "56*64,3712" is an index whose first digit has 56 values, 64
// elements apart, and whose second, 3712 apart, has the rest.
std::string AxisText(const DigitAxis& axis) {
  std::string text;
  for (int level = 0; level < axis.digits; ++level) {
    const Digit& digit = axis.digit[static_cast<size_t>(level)];
    Append(&text, level == 0 ? "" : ",");
    if (digit.count != 0) Append(&text, digit.count, "*");
    Append(&text, digit.stride);
  }
  return text;
}

// ":6*4,32/12*1,32": the digits of the rows, then of the columns. This is a 3x3 kernel over an nhwc image
// that is 8 pixels wide and has 4 channels.
std::string WindowText(const Window& window) {
  return Cat(":", AxisText(window.axes[0]), "/", AxisText(window.axes[1]));
}

// " lhs=col", " rhs=packed16@L2", " out=row@L1" or nothing.
std::string OperandOption(const Spec& spec, int operand) {
  const TensorSpec& tensor = spec.tensor(operand);
  const std::string layout = PrintLayout(tensor.layout);
  const DigitAxis* const rows = RowDigits(spec, operand);
  if (layout == OrderWord(Order::kRow) && tensor.level == Level::kRam && rows == nullptr) return "";
  const std::string level = tensor.level == Level::kRam ? "" : Cat("@", Name(tensor.level));
  const std::string window = IsWindow(spec, operand) ? WindowText(spec.op_info().window)
                             : rows != nullptr       ? Cat(":", AxisText(*rows))
                                                     : "";
  return Cat(" ", spec.op_info().operands[static_cast<size_t>(operand)].name, "=", layout, window, level);
}

// A batch of one is left out: "64x64x64".
std::string Sizes(const Spec& spec) {
  const auto& size = spec.size;
  const std::string batch = size[MatmulDims::kB] == 1 ? "" : Cat(size[MatmulDims::kB], ":");
  return Cat(batch, size[MatmulDims::kM], "x", size[MatmulDims::kK], "x", size[MatmulDims::kN]);
}

}  // namespace

std::string PrintLayout(const Layout& layout) {
  if (layout.kind == LayoutKind::kStrided) return std::string(OrderWord(layout.order));
  std::string text(Info(layout.kind).word);
  if (layout.panel > 0) Append(&text, int{layout.panel});
  if (layout.group > 1) Append(&text, kGroupSign, int{layout.group});
  if (layout.order == Order::kCol) Append(&text, kColSuffix);
  return text;
}

std::string PrintTypes(const MatmulTypes& types) {
  const auto name = [](Dtype dtype) { return Info(CallersType(dtype)).name; };
  // Types with sums of their own are ours (h16); users know them by another name, and say what the sums are.
  const bool says_sums = CallersType(types.lhs) != types.lhs;
  if (types.lhs == types.out && types.rhs == types.out && !says_sums) return std::string(name(types.out));
  return Cat(name(types.lhs), "*", name(types.rhs), says_sums ? Cat("+", name(AccumulatorOf(types.lhs))) : "",
             "->", name(types.out));
}

std::string PrintSpec(const Spec& spec) { return PrintSpec(spec, Sizes(spec)); }

std::string PrintSpec(const Spec& spec, std::string_view sizes) {
  const OpInfo& op = spec.op_info();
  const MatmulTypes types{spec.operand[MatmulDims::kLhs].dtype, spec.operand[MatmulDims::kRhs].dtype,
                          spec.out().dtype};
  std::string text = Cat(op.name, " ", PrintTypes(types), " ", sizes);
  for (int operand = 0; operand <= op.output(); ++operand) Append(&text, OperandOption(spec, operand));
  // A leading dimension is said where it is not the length of a row (column).
  for (int operand = 0; operand <= op.output(); ++operand) {
    const Layout& layout = spec.tensor(operand).layout;
    if (layout.kind == LayoutKind::kStrided && layout.ld != ExtentOf(spec, operand).inner)
      Append(&text, " ", kLdWords[static_cast<size_t>(operand)], "=", layout.ld);
  }
  if (spec.accumulate) Append(&text, " ", kAccumulateWord);
  if (const int operand = ConstantOperand(spec); operand >= 0)
    Append(&text, " ", kConstantPrefix, op.operands[static_cast<size_t>(operand)].name);
  if (spec.fixed_order != 0) Append(&text, " ", kFixedOrderWord);
  if (spec.lhs_as != LhsAs::kItself) Append(&text, " ", kLhsAsWord, "=", NameOf(spec.lhs_as));
  if (spec.block != 0) Append(&text, " ", spec.block_rows != 0 ? "row-blocks" : kBlocksWord, "=", spec.block);
  if (!op.epilogue.empty())
    Append(&text, " ", kEpilogueWord, "=", PrintEpilogue(op.epilogue, AccumulatorOf(spec)));
  if (spec.threads > 1) Append(&text, " threads=", spec.threads);
  if (spec.active_threads > 1) Append(&text, " active-threads=", spec.active_threads);
  return text;
}

}  // namespace kirsch
