// SPDX-License-Identifier: Apache-2.0
// Imports operations along one dim. A dim that reshapes split is several axes of the kernel's value; the
// operation then goes along the outermost of them, if it moves whole parts of what is within that.
//
//   slice of [8,192] from 64 to 128 along dim 1, its result reshaped to [8,4,16]
//   =>  slice(x, axis=1, from=4, to=8) of x: f32[8,12,16]
#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "import/kernel_importer.h"
#include "spec/language/along_axis_options.h"
#include "spec/text/cat.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

// The sums of the elements so far along a dim.
ConstantTensor FoldRunningSums(const ConstantTensor& of, size_t dim) {
  ConstantTensor sums{of.shape, {}};
  int64_t below = 1;  // elements from one index of the dim to the next
  for (size_t i = dim + 1; i < of.shape.size(); ++i) below *= of.shape[i];
  for (int64_t i = 0; i < of.elements(); ++i) {
    const bool first = i / below % of.shape[dim] == 0;
    sums.values.push_back(of.at(i) + (first ? 0 : sums.values[static_cast<size_t>(i - below)]));
  }
  return sums;
}

// What the operation makes of constants.
ConstantTensor FoldAlong(const TensorOperation& operation, const std::vector<const ConstantTensor*>& operands,
                         const MlirType& type) {
  const DimOperation& of = operation.of_dim;
  const bool greatest = of.op == Operation::kWindowMax;
  const double around = greatest ? -std::numeric_limits<double>::infinity() : of.number;
  const int64_t first_size = operands[0]->shape[of.dim];
  if (of.op == Operation::kCumsum) return FoldRunningSums(*operands[0], of.dim);
  return MadeAlong(operands, type.shape, of.dim, [&](int64_t to, const ElementAlong& element) {
    if (of.op == Operation::kConcat) return to < first_size ? element(0, to) : element(1, to - first_size);
    double made = around;
    for (int64_t tap = 0; tap < of.along.size; ++tap) {
      const AxisOptions& steps = of.along.steps;
      const int64_t at = of.along.from + to * steps.stride + tap * steps.dilation - steps.before;
      if (at < 0 || at >= first_size) continue;
      const double x = element(0, at);
      made = greatest ? std::max(made, x) : IsWindow(of.op) ? made + x : x;
    }
    return made;
  });
}

// A tensor with one number behind or before it is a padded one.
DimOperation PadInstead(const DimOperation& concat, bool behind, uint32_t size, double number) {
  DimOperation pad{Operation::kPad, concat.dim, {}, number};
  (behind ? pad.along.steps.after : pad.along.steps.before) = size;
  return pad;
}

// "from=4" and so on: those that are not as they would be anyway. Each index of the axis is `part` of the
// dim's.
std::vector<std::string> OptionsAlong(DimOperation of, int64_t part) {
  std::vector<std::string> options;
  for (const AlongAxisOption& option : AlongAxisOptionsOf(of.op)) {
    AlongAxis usual;
    const uint32_t number = option.of(of.along);
    // Steps and sizes of windows are of single indices; there parts are of one.
    const bool is_place = of.op == Operation::kPad || option.name == "from" || option.name == "to";
    if (number != option.of(usual))
      options.push_back(Cat(option.name, "=", is_place ? number / part : number));
  }
  if (of.number != 0) options.push_back(Cat("value=", PrintKernelNumber(of.number)));
  return options;
}

}  // namespace

// All dims but that of the operation are alike.
absl::Status KernelImporter::InferAlongFactors(const TensorOperation& operation) {
  for (size_t i = 0; i < operation.operands.size(); ++i)
    for (size_t dim = 0; dim < DimsOf(operation.result).size(); ++dim)
      if (dim != operation.of_dim.dim)
        KIRSCH_RETURN_IF_ERROR(
            Unify(operation, static_cast<int>(i), static_cast<int64_t>(dim), DimsOf(operation.result)[dim]));
  return absl::OkStatus();
}

// The factors of the operation's dim that it does not go along: all but the outermost of the value that has
// the most within that.
DimFactors::List KernelImporter::FactorsWithin(const TensorOperation& operation) const {
  DimFactors::List most;
  const auto product = [&](const DimFactors::List& list) {
    int64_t product = 1;
    for (const int factor : list) product *= factors_.size(factor);
    return product;
  };
  std::vector<int> values = operation.operands;
  values.push_back(operation.result);
  for (const int value : values) {
    DimFactors::List within = factors_.Split(DimsOf(value)[operation.of_dim.dim]);
    if (!within.empty()) within.erase(within.begin());
    if (product(within) > product(most)) most = within;
  }
  return most;
}

absl::Status KernelImporter::SplitAlong(const TensorOperation& operation) {
  const DimFactors::List within = FactorsWithin(operation);
  int64_t part = 1;
  for (const int factor : within) part *= factors_.size(factor);
  if (part == 1) return absl::OkStatus();
  const DimOperation& of = operation.of_dim;
  bool whole = !IsWindow(of.op) && of.op != Operation::kCumsum && of.along.steps.stride == 1;
  for (const uint32_t number : {of.along.from, of.along.steps.before, of.along.steps.after})
    whole = whole && number % part == 0;
  std::vector<int> values = operation.operands;
  values.push_back(operation.result);
  for (const int value : values) whole = whole && TypeOf(value).shape[of.dim] % part == 0;
  if (!whole) {
    for (int operand = kResult; operand < std::ssize(operation.operands); ++operand)
      WantOneFactor(operation, operand, static_cast<int64_t>(of.dim));
    return Expected(operation,
                    Cat("a dim that no reshape splits, or parts of it that are multiples of ", part));
  }
  for (const int value : values) {
    DimFactors::List split = factors_.Dim(TypeOf(value).shape[of.dim] / part);
    split.insert(split.end(), within.begin(), within.end());
    if (!factors_.Unify(DimsOf(value)[of.dim], split))
      return Expected(operation, "dims that reshapes split alike");
  }
  return absl::OkStatus();
}

// The axis of each factor, in the order of the dims; kUnit where the value is repeated. The operation's has a
// place also if it is of size 1.
std::vector<int> KernelImporter::AxesOf(const TensorOperation& operation, int value,
                                        const ImportedValue& imported) const {
  std::vector<int> axes;
  for (size_t dim = 0; dim < DimsOf(value).size(); ++dim) {
    const std::vector<ViewFactor>& factors = imported.dims[dim];
    if (dim == operation.of_dim.dim && factors.size() == FactorsWithin(operation).size())
      axes.push_back(kUnit);
    for (const ViewFactor& factor : factors) axes.push_back(factor.axis);
  }
  return axes;
}

// An order of the operation's axes, by their numbers in `axes`, in which all operands can be read; the one
// that takes the fewest transposes. `along` is the number of that which the operation goes along. Orders that
// operands have already come first.
std::optional<AxisOrder> KernelImporter::OrderAlong(const std::vector<ImportedValue>& operands,
                                                    const std::vector<std::vector<int>>& axes,
                                                    size_t along) const {
  std::vector<AxisOrder> candidates;
  for (const bool placed : {true, false})
    for (size_t i = 0; i < operands.size(); ++i) {
      const KernelValue& value = writer_.at(operands[i].value);
      if (value.placed != placed) continue;
      AxisOrder& order = candidates.emplace_back();
      for (const int axis : placed ? value.order : value.AllAxes()) {
        const auto found = std::find(axes[i].begin(), axes[i].end(), axis);
        order.push_back(axis == kUnit || found == axes[i].end() ? kUnit
                                                                : static_cast<int>(found - axes[i].begin()));
      }
    }
  AxisOrder as_in_program(axes[0].size());
  std::iota(as_in_program.begin(), as_in_program.end(), 0);
  candidates.push_back(std::move(as_in_program));
  std::optional<AxisOrder> best;
  int least = 0;
  for (AxisOrder& order : candidates) {
    if (std::find(order.begin(), order.end(), static_cast<int>(along)) == order.end()) continue;
    while (order.size() < least_rank_) order.insert(order.begin(), kUnit);
    std::optional<int> cost = 0;
    for (size_t i = 0; i < operands.size() && cost; ++i) {
      AxisOrder own;
      for (const int axis : order) own.push_back(axis == kUnit ? kUnit : axes[i][static_cast<size_t>(axis)]);
      const std::optional<int> of = writer_.CostOf(operands[i].value, own, true);
      cost = of ? std::optional(*cost + *of) : std::nullopt;
    }
    if (!cost || (best && *cost >= least)) continue;
    best = order;
    least = *cost;
  }
  return best;
}

absl::Status KernelImporter::ImportAlong(const TensorOperation& operation) {
  DimOperation of = operation.of_dim;
  const MlirType& type = TypeOf(operation.result);
  std::vector<int> values = operation.operands;
  std::vector<const ConstantTensor*> constants;
  for (const int value : values)
    if (Of(value).constant) constants.push_back(&*Of(value).constant);
  if (constants.size() == values.size()) {
    if (type.elements() > kMostFolded)
      return Expected(operation, Cat("at most ", kMostFolded, " constant elements"));
    Set(operation.result, {FoldAlong(operation, constants, type), -1, {}});
    return absl::OkStatus();
  }
  if (constants.size() == 1 && constants[0]->uniform()) {
    const bool behind = !Of(values[0]).constant;
    of = PadInstead(of, behind, static_cast<uint32_t>(TypeOf(values[behind ? 1 : 0]).shape[of.dim]),
                    constants[0]->at(0));
    values = {values[behind ? 0 : 1]};
  }
  std::vector<ImportedValue> operands;
  std::vector<std::vector<int>> axes;
  for (const int value : values) {
    KIRSCH_ASSIGN_OR_RETURN(ImportedValue tensor, AsTensor(operation, value));
    operands.push_back(std::move(tensor));
    axes.push_back(AxesOf(operation, value, operands.back()));
  }
  // The number of the operation's axis among all of them, and how large a part of the dim each of its indices
  // is.
  size_t along = 0;
  for (size_t dim = 0; dim < of.dim; ++dim) along += operands[0].dims[dim].size();
  int64_t part = 1;
  for (const int factor : FactorsWithin(operation)) part *= factors_.size(factor);
  const bool repeated = axes[0][along] == kUnit && TypeOf(values[0]).shape[of.dim] > part;
  if (repeated && of.op == Operation::kSlice) {
    std::vector<int> view = axes[0];
    if (type.shape[of.dim] == part) view.erase(view.begin() + static_cast<std::ptrdiff_t>(along));
    Set(operation.result, {std::nullopt, operands[0].value, ViewOf(operation.result, view)});
    return absl::OkStatus();
  }
  bool alike = !repeated;
  for (size_t i = 1; i < operands.size(); ++i)
    for (size_t axis = 0; axis < axes[0].size(); ++axis)
      alike = alike && (axis == along ? axes[i][axis] != kUnit || TypeOf(values[i]).shape[of.dim] == part
                                      : (axes[i][axis] == kUnit) == (axes[0][axis] == kUnit));
  for (size_t i = 0; i < operands.size() && !alike; ++i) {
    operands[i] = Whole(operands[i]);
    axes[i] = AxesOf(operation, values[i], operands[i]);
  }
  // An order that suits one side may not suit the other.
  if (operands.size() > 1 && operands[0].value == operands[1].value) writer_.PlaceAsItLies(operands[0].value);
  // A concatenation is of one type.
  if (operands.size() > 1 && writer_.at(operands[0].value).type != writer_.at(operands[1].value).type)
    for (ImportedValue& operand : operands) {
      writer_.PlaceAsItLies(operand.value);
      operand.value = Cast(operand.value, Dtype::kF32, operation.position);
    }
  const std::optional<AxisOrder> order = OrderAlong(operands, axes, along);
  if (!order)
    return Expected(operation,
                    "operands with their axes in one order; one would have to be copied, which the kernel "
                    "language cannot say");
  WriteAlong(operation, of, {operands, axes, along, part}, *order);
  return absl::OkStatus();
}

// Adds the statement, whose operands are read with their axes in that order.
void KernelImporter::WriteAlong(const TensorOperation& operation, const DimOperation& of,
                                const AlongOperands& from, const AxisOrder& order) {
  const auto& [operands, axes, along, part] = from;
  const MlirType& type = TypeOf(operation.result);
  KernelValue made;
  made.position = operation.position;
  made.operation = Name(of.op);
  made.type = writer_.at(operands[0].value).type;
  if (IsWindow(of.op) || of.op == Operation::kCumsum) made.type = AccumulatorOf(made.type);
  for (size_t i = 0; i < operands.size(); ++i) {
    AxisOrder own;
    for (const int axis : order) own.push_back(axis == kUnit ? kUnit : axes[i][static_cast<size_t>(axis)]);
    made.arguments.push_back(writer_.Place(operands[i].value, own, true));
  }
  std::vector<int> view(axes[0].size(), kUnit);
  for (const int axis : order) {
    const bool is_along = axis == static_cast<int>(along);
    const bool repeated = axis != kUnit && !is_along && axes[0][static_cast<size_t>(axis)] == kUnit;
    const int64_t size =
        axis == kUnit || repeated ? 1
        : is_along
            ? type.shape[of.dim] / part
            : writer_.at(operands[0].value).axes[static_cast<size_t>(axes[0][static_cast<size_t>(axis)])];
    if (is_along) made.options = {Cat("axis=", made.order.size())};
    const int added = made.AddAxis(size);
    if (axis != kUnit) view[static_cast<size_t>(axis)] = added;
  }
  const std::vector<std::string> options = OptionsAlong(of, part);
  made.options.insert(made.options.end(), options.begin(), options.end());
  // Of size 1 it is no factor of the result.
  if (type.shape[of.dim] == part) view.erase(view.begin() + static_cast<std::ptrdiff_t>(along));
  const int value = writer_.AddOperation(std::move(made));
  Set(operation.result, {std::nullopt, value, ViewOf(operation.result, view)});
}

}  // namespace kirsch
