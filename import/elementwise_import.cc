// SPDX-License-Identifier: Apache-2.0
// Imports what is computed element by element: in which order of axes, and by which operations.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "import/idioms.h"
#include "import/kernel_importer.h"
#include "spec/text/cat.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

// The operand that the result is, as x is of x + 0, and of select(1, x, y); -1 if there is none.
int FindIdentity(const std::string& operation, bool begins_reduction,
                 const std::vector<ImportedValue>& operands) {
  struct Row {
    const char* operation;
    double number;
    bool left;  // also where the number comes first
  };
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (operation == "select" && operands[0].constant && operands[0].constant->uniform())
    return operands[0].constant->at(0) != 0 ? 1 : 2;
  for (const Row& row : {Row{"add", 0, true}, Row{"sub", 0, false}, Row{"mul", 1, true}, Row{"div", 1, false},
                         Row{"max", -kInfinity, true}, Row{"min", kInfinity, true}}) {
    const auto is = [&](const ImportedValue& value) {
      if (!value.constant || !value.constant->uniform()) return false;
      const double number = value.constant->at(0);
      const bool lowest = begins_reduction && number <= std::numeric_limits<float>::lowest();
      return number == row.number || (lowest && row.number == -kInfinity);
    };
    if (operation != row.operation || operands.size() != 2) continue;
    if (is(operands[1])) return 0;
    if (row.left && is(operands[0])) return 1;
  }
  return -1;
}

// An integer modulo 2^bits, as the type has it: "i8" from -128 on, "ui8" from 0 on. Truth values are 0 and 1.
double Wrapped(double integer, const std::string& type) {
  const bool is_unsigned = type.starts_with("u");
  int bits = 64;
  if (!absl::SimpleAtoi(type.substr(is_unsigned ? 2 : 1), &bits) || bits < 8 || bits > 32) return integer;
  const double all = std::ldexp(1, bits), least = is_unsigned ? 0 : -all / 2;
  return integer - all * std::floor((integer - least) / all);
}

// The expression of constants, rounded to the type; nothing if it has an operation without a known meaning,
// or integers that a double has not exactly.
std::optional<ConstantTensor> Fold(const Expression& expression,
                                   absl::Span<const ConstantTensor* const> operands, const MlirType& type) {
  const std::function<bool(const Expression&)> known = [&](const Expression& e) {
    return e.kind != Expression::Kind::kCall ||
           (IsKnown(e.name) && std::all_of(e.arguments.begin(), e.arguments.end(), known));
  };
  if (!known(expression)) return std::nullopt;
  const std::function<double(const Expression&, absl::Span<const double>)> value =
      [&](const Expression& e, absl::Span<const double> of) {
        if (e.kind == Expression::Kind::kNumber) return e.number;
        if (e.kind == Expression::Kind::kVariable) return of[static_cast<size_t>(e.name[1] - '0')];
        std::vector<double> arguments;
        for (const Expression& argument : e.arguments) arguments.push_back(value(argument, of));
        return ValueOf(e.name, arguments);
      };
  const bool integer = type.integer(), wide = type.element == "f64";
  bool all_exact = true;
  ConstantTensor folded = Map(type.shape, operands, [&](absl::Span<const double> of) {
    const double exact = value(expression, of);
    all_exact = all_exact && (!integer || std::abs(exact) < 0x1p53);
    return integer ? Wrapped(std::trunc(exact), type.element)
           : wide  ? exact
                   : static_cast<double>(static_cast<float>(exact));
  });
  if (!all_exact) return std::nullopt;
  return folded;
}

}  // namespace

std::vector<KernelImporter::SharedAxis> KernelImporter::SharedAxes(
    const TensorOperation& operation, const std::vector<ImportedValue>& operands) const {
  std::vector<SharedAxis> axes;
  for (const int factor : Factors(dims_[static_cast<size_t>(operation.result)]))
    axes.push_back({factors_.size(factor), std::vector<int>(operands.size(), kUnit)});
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].constant) continue;
    const std::vector<ViewFactor> factors = operands[i].factors();  // none: a scalar
    for (size_t axis = 0; axis < factors.size(); ++axis) axes[axis].of[i] = factors[axis].axis;
  }
  return axes;
}

AxisOrder KernelImporter::ElementwiseOrder(const std::vector<ImportedValue>& operands,
                                           const std::vector<SharedAxis>& axes) const {
  // The operand with the most axes says the order, one that has an order already before one that has none.
  const auto weight = [&](size_t operand) {
    if (operands[operand].constant) return -1;
    int count = 0;
    for (const SharedAxis& axis : axes) count += axis.of[operand] == kUnit ? 0 : 2;
    return count + (writer_.at(operands[operand].value).placed ? 1 : 0);
  };
  size_t first = 0;
  for (size_t i = 1; i < operands.size(); ++i)
    if (weight(i) > weight(first)) first = i;
  const KernelValue& value = writer_.at(operands[first].value);
  const AxisOrder own = value.placed ? value.order : value.AllAxes();
  AxisOrder order;
  for (const int axis : own) {
    const auto found = std::find_if(
        axes.begin(), axes.end(), [&](const SharedAxis& s) { return axis != kUnit && s.of[first] == axis; });
    order.push_back(found == axes.end() ? kUnit : static_cast<int>(found - axes.begin()));
  }
  // Axes that others alone have take a unit's place, or one among their neighbours in the program.
  for (int axis = 0; axis < static_cast<int>(axes.size()); ++axis) {
    const auto& of = axes[static_cast<size_t>(axis)].of;
    if (std::find(order.begin(), order.end(), axis) != order.end() ||
        std::all_of(of.begin(), of.end(), [](int a) { return a == kUnit; }))
      continue;
    const auto behind = std::find_if(order.begin(), order.end(), [&](int other) { return other > axis; });
    if (behind != order.begin() && *std::prev(behind) == kUnit)
      *std::prev(behind) = axis;
    else
      order.insert(behind, axis);
  }
  return order;
}

KernelArgument KernelImporter::Make(std::string operation, std::vector<KernelArgument> arguments, Dtype type,
                                    const KernelValue& shape) {
  KernelValue made = writer_.Shaped(arguments, shape);
  made.operation = std::move(operation);
  made.arguments = std::move(arguments);
  made.type = type;
  return {std::nullopt, writer_.AddOperation(std::move(made)), false};
}

KernelArgument KernelImporter::As(Dtype type, KernelArgument argument, TextPosition position) {
  if (!argument.number) argument.value = Cast(argument.value, type, position);
  return argument;
}

// Comparisons are of floats. Integers below 2^24 are floats exactly, and a comparison with such a number is
// none that rounding changes. Of other two the larger one is x where x - the larger is 0.
KernelArgument KernelImporter::CompareIntegers(const std::string& name, const KernelArgument& x,
                                               const KernelArgument& y, const KernelValue& shape) {
  const auto real = [&](const KernelArgument& argument) { return As(Dtype::kF32, argument, shape.position); };
  for (const KernelArgument& argument : {x, y})
    if (argument.number && std::abs(*argument.number) < 0x1p24)
      return Make(name, {real(x), real(y)}, Dtype::kF32, shape);
  const KernelArgument other = name == "equal" ? y : Make("max", {x, y}, Dtype::kS32, shape);
  const KernelArgument rest = Make("sub", {other, name == "less_equal" ? y : x}, Dtype::kS32, shape);
  const KernelArgument is_zero = Make("equal", {real(rest), {0.0, -1, false}}, Dtype::kF32, shape);
  return name == "less" ? Make("sub", {{1.0, -1, false}, is_zero}, Dtype::kF32, shape) : is_zero;
}

// A NaN is no number of the kernel language: x, or a NaN, is x times 1, or times 0 / 0. A choice between
// integers adds their difference, times the condition, which is 0 or 1.
std::optional<KernelArgument> KernelImporter::ApplyByOthers(const std::string& name,
                                                            const std::vector<KernelArgument>& arguments,
                                                            const KernelValue& shape) {
  const bool selects = name == "select";
  for (const size_t side : {size_t{1}, size_t{2}}) {
    if (!selects || !arguments[side].number || !std::isnan(*arguments[side].number)) continue;
    KernelArgument holds = As(Dtype::kF32, arguments[0], shape.position);
    if (side == 1) holds = Make("sub", {{1.0, -1, false}, holds}, Dtype::kF32, shape);
    return Make("mul", {arguments[3 - side], Make("div", {holds, holds}, Dtype::kF32, shape)}, Dtype::kF32,
                shape);
  }
  if (!selects && name != "less" && name != "less_equal" && name != "equal") return std::nullopt;
  const KernelArgument &x = arguments[selects ? 1 : 0], &y = arguments[selects ? 2 : 1];
  const auto is_integer = [&](const KernelArgument& argument) {
    return argument.number ? *argument.number == std::trunc(*argument.number)
                           : !IsFloating(writer_.at(argument.value).type);
  };
  if (!is_integer(x) || !is_integer(y) || (x.number && y.number)) return std::nullopt;
  if (!selects) return CompareIntegers(name, x, y, shape);
  const KernelArgument difference = Make("sub", {x, y}, Dtype::kS32, shape),
                       condition = As(Dtype::kS32, arguments[0], shape.position);
  return Make("add", {y, Make("mul", {condition, difference}, Dtype::kS32, shape)}, Dtype::kS32, shape);
}

KernelArgument KernelImporter::Apply(const Expression& expression,
                                     const std::vector<KernelArgument>& operands, const KernelValue& shape) {
  if (expression.kind == Expression::Kind::kNumber) return {expression.number, -1, false};
  if (expression.kind == Expression::Kind::kVariable)
    return operands[static_cast<size_t>(expression.name[1] - '0')];
  std::vector<KernelArgument> arguments;
  for (const Expression& argument : expression.arguments)
    arguments.push_back(Apply(argument, operands, shape));
  KernelValue value = writer_.Shaped(arguments, shape);
  value.operation = expression.name;
  value.type = Dtype::kS32;
  value.arguments = std::move(arguments);
  for (const KernelArgument& argument : value.arguments)
    if (!argument.number && IsFloating(writer_.at(argument.value).type))
      value.type = AccumulatorOf(writer_.at(argument.value).type);
  if (const std::optional<KernelArgument> made = ApplyByOthers(value.operation, value.arguments, shape))
    return *made;
  // Truth values are integers where they are parameters.
  if (IsFloating(value.type))
    for (KernelArgument& argument : value.arguments)
      if (!argument.number && !IsFloating(writer_.at(argument.value).type))
        argument.value = Cast(argument.value, Dtype::kF32, shape.position);
  const std::optional<KernelValue> idiom = FindIdiom(writer_, value);
  return {std::nullopt, writer_.AddOperation(idiom ? *idiom : value), false};
}

absl::Status KernelImporter::ImportElementwise(const TensorOperation& operation,
                                               const Expression& expression) {
  std::vector<ImportedValue> operands;
  std::vector<const ConstantTensor*> constants;
  const MlirType& type = TypeOf(operation.result);
  for (const int operand : operation.operands) operands.push_back(Of(operand));
  for (const ImportedValue& operand : operands)
    if (operand.constant) constants.push_back(&*operand.constant);
  // A function of constants is one.
  if (constants.size() == operands.size() && type.elements() <= kMostFolded) {
    if (std::optional<ConstantTensor> folded = Fold(expression, constants, type)) {
      Set(operation.result, {std::move(folded), -1, {}});
      return absl::OkStatus();
    }
  }
  if (const int same = FindIdentity(expression.name, operation.begins_reduction, operands);
      same >= 0 && TypeOf(operation.operands[static_cast<size_t>(same)]).shape == type.shape) {
    Set(operation.result, operands[static_cast<size_t>(same)]);
    return absl::OkStatus();
  }
  std::vector<KernelArgument> arguments(operands.size());
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].constant && operands[i].constant->uniform() &&
        (expression.name == "select" || !std::isnan(operands[i].constant->at(0)))) {
      arguments[i].number = operands[i].constant->at(0);
      continue;
    }
    KIRSCH_ASSIGN_OR_RETURN(operands[i], AsTensor(operation, operation.operands[i], /*repeats=*/true));
  }
  if (constants.size() == operands.size()) return Expected(operation, "an operand that is no constant");
  const std::vector<SharedAxis> axes = SharedAxes(operation, operands);
  AxisOrder order = ElementwiseOrder(operands, axes);
  for (size_t i = 0; i < operands.size(); ++i) {
    if (arguments[i].number) continue;
    AxisOrder of;
    for (const int axis : order) of.push_back(axis == kUnit ? kUnit : axes[static_cast<size_t>(axis)].of[i]);
    if (!writer_.CostOf(operands[i].value, of, false))
      return Expected(operation, Cat("operands with their axes in one order, but for the last two; operand ",
                                     i, " would have to be copied"));
    arguments[i] = writer_.Place(operands[i].value, of, false);
  }
  // The result has as many axes as the operand that has the most.
  size_t rank = 0;
  for (size_t i = 0; i < operands.size(); ++i)
    if (!arguments[i].number) rank = std::max(rank, writer_.at(arguments[i].value).order.size());
  while (order.size() > rank) order.erase(order.begin());
  while (order.size() < rank) order.insert(order.begin(), kUnit);
  KernelValue shape;
  shape.position = operation.position;
  std::vector<int> view(axes.size(), kUnit);
  for (const int axis : order) {
    const int added = shape.AddAxis(axis == kUnit ? 1 : axes[static_cast<size_t>(axis)].size);
    if (axis != kUnit) view[static_cast<size_t>(axis)] = added;
  }
  const KernelArgument result = Apply(expression, arguments, shape);
  Set(operation.result, {std::nullopt, result.value, ViewOf(operation.result, view)});
  return absl::OkStatus();
}

}  // namespace kirsch
