// SPDX-License-Identifier: Apache-2.0
#include "import/kernel_writer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "spec/check.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

constexpr size_t kMostStridedAxes = 4;  // of a tensor with strides

AxisOrder WithLastTwoExchanged(AxisOrder order) {
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return order;
}

// The order without units in front.
AxisOrder Trimmed(const AxisOrder& order) {
  return {std::find_if(order.begin(), order.end(), [](int axis) { return axis != kUnit; }), order.end()};
}

AxisOrder WithoutUnits(AxisOrder order) {
  std::erase(order, kUnit);
  return order;
}

// True if a value that has its axes in the order `has` is read right where `wanted` is, both aligned at their
// last axes.
bool Aligned(const AxisOrder& has, const AxisOrder& wanted, bool exact) {
  return exact ? has == wanted : Trimmed(has) == Trimmed(wanted);
}

// True if a value with its axes in one order can be written so that they lie in another, by strides.
bool LiesAs(const AxisOrder& order, const AxisOrder& memory) {
  const AxisOrder axes = WithoutUnits(memory);
  return WithoutUnits(order) == axes || (order.back() == axes.back() && order.size() <= kMostStridedAxes);
}

}  // namespace

std::string PrintKernelNumber(double number) {
  if (std::isinf(number)) return number < 0 ? "-inf" : "inf";
  if (number == std::floor(number) && std::abs(number) < 0x1p31) return Cat(static_cast<int64_t>(number));
  return PrintNumber(static_cast<float>(number));
}

int KernelValue::AddAxis(int64_t size) {
  order.push_back(size == 1 ? kUnit : static_cast<int>(axes.size()));
  if (size != 1) axes.push_back(size);
  return order.back();
}

AxisOrder KernelValue::AllAxes() const {
  AxisOrder all(axes.size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

int KernelWriter::AddParameter(std::string name, Dtype type, std::vector<int64_t> axes,
                               TextPosition position) {
  KernelValue value{std::move(name), type, std::move(axes)};
  value.position = position;
  value.parameter = true;
  value.placed = value.axes.empty();
  values_.push_back(std::move(value));
  return size() - 1;
}

int KernelWriter::AddOperation(KernelValue value) {
  for (int i = 0; i < size(); ++i)
    if (at(i).operation == value.operation && at(i).arguments == value.arguments &&
        at(i).options == value.options && at(i).type == value.type && !at(i).parameter)
      return i;
  value.placed = true;
  values_.push_back(std::move(value));
  return size() - 1;
}

// The order to declare a parameter in so that it can be read in `order`, perhaps transposed: its last axis
// has to be the innermost in memory. Nothing if there is none.
std::optional<AxisOrder> KernelWriter::DeclaredOrder(const KernelValue& value, const AxisOrder& order,
                                                     bool exact) const {
  AxisOrder declared = order;
  // The only axis of a vector, or the innermost one, is the last; the others may have strides.
  const auto lies = [&] {
    AxisOrder axes = declared;
    std::erase(axes, kUnit);
    return std::is_sorted(axes.begin(), axes.end()) ||
           (declared.size() <= kMostStridedAxes &&
            (declared.back() == kUnit || declared.back() == static_cast<int>(value.axes.size()) - 1));
  };
  if (!exact) declared = Trimmed(declared);
  if (declared.empty()) return declared;
  while (!exact && declared.size() < least_rank_) declared.insert(declared.begin(), kUnit);
  if (lies()) return declared;
  if (declared.size() < 2) return std::nullopt;
  declared = WithLastTwoExchanged(declared);
  if (!lies()) return std::nullopt;
  return declared;
}

std::optional<int> KernelWriter::CostOf(int value, const AxisOrder& order, bool exact) const {
  const KernelValue& of = at(value);
  const auto copied = [&]() -> std::optional<int> {
    // A reduction has left the axes that it has reduced, but not in the order.
    const AxisOrder axes = WithoutUnits(order), has = of.placed ? WithoutUnits(of.order) : of.AllAxes();
    const bool same = std::is_permutation(axes.begin(), axes.end(), has.begin(), has.end());
    return may_copy_ && same ? std::optional(kCopyCost) : std::nullopt;
  };
  if (!of.placed) {
    const std::optional<AxisOrder> declared = DeclaredOrder(of, order, exact);
    if (!declared) return copied();
    return Aligned(*declared, order, exact) ? 0 : 1;
  }
  if (Aligned(of.order, order, exact)) return 0;
  if (of.order.size() >= 2 && order.size() >= 2 && Aligned(WithLastTwoExchanged(of.order), order, exact))
    return 1;
  return copied();
}

KernelArgument KernelWriter::Place(int value, const AxisOrder& order, bool exact) {
  if (CostOf(value, order, exact) == kCopyCost) {
    PlaceAsItLies(value);
    return {std::nullopt, Rearranged(value, exact ? order : Trimmed(order)), false};
  }
  KernelValue& of = values_[static_cast<size_t>(value)];
  if (!of.placed) {
    const std::optional<AxisOrder> declared = DeclaredOrder(of, order, exact);
    KIRSCH_CHECK(declared.has_value());
    of.order = *declared;
    of.placed = true;
  }
  const std::optional<int> cost = CostOf(value, order, exact);
  KIRSCH_CHECK(cost.has_value());
  return {std::nullopt, value, *cost == 1};
}

KernelArgument KernelWriter::PlaceOrCopy(int value, const AxisOrder& order) {
  if (CostOf(value, order, true)) return Place(value, order, true);
  PlaceAsItLies(value);
  return {std::nullopt, Rearranged(value, order), false};
}

// Units stay where the order has as many as the value, and else come first.
int KernelWriter::Permuted(int value, const AxisOrder& order) {
  const AxisOrder has = at(value).order, axes = WithoutUnits(order);
  if (WithoutUnits(has) == axes) return value;
  AxisOrder permuted(has.size() - axes.size(), kUnit);
  permuted.insert(permuted.end(), axes.begin(), axes.end());
  if (order.size() == has.size()) permuted = order;
  std::vector<int64_t> places;
  auto unit = has.begin();
  for (const int axis : permuted) {
    const auto place = std::find(axis == kUnit ? unit : has.begin(), has.end(), axis);
    if (axis == kUnit) unit = std::next(place);
    places.push_back(place - has.begin());
  }
  return AddInOrder("permute", value, permuted, places);
}

int KernelWriter::Rearranged(int value, const AxisOrder& order) {
  const int permuted = Permuted(value, order);
  if (at(permuted).order == order) return permuted;
  return AddInOrder("reshape", permuted, order, SizesOf(at(permuted), order));
}

// Adds a copy that has the value's axes, in this order.
int KernelWriter::AddInOrder(const char* operation, int value, const AxisOrder& order,
                             const std::vector<int64_t>& list) {
  const std::vector<int64_t> axes = at(value).axes;
  const int copy = AddCopy(operation, value, SizesOf(at(value), order), list);
  values_[static_cast<size_t>(copy)].axes = axes;
  values_[static_cast<size_t>(copy)].order = order;
  return copy;
}

std::vector<int64_t> KernelWriter::SizesOf(const KernelValue& value, const AxisOrder& order) const {
  std::vector<int64_t> sizes;
  for (const int axis : order) sizes.push_back(axis == kUnit ? 1 : value.axes[static_cast<size_t>(axis)]);
  return sizes;
}

int KernelWriter::AddCopy(std::string operation, int value, const std::vector<int64_t>& dims,
                          const std::vector<int64_t>& list) {
  KernelValue copy;
  copy.type = at(value).type;
  copy.position = at(value).position;
  copy.operation = std::move(operation);
  copy.arguments = {{std::nullopt, value, false}};
  copy.options = {Cat("[", Join(list, ","), "]")};
  for (const int64_t size : dims) copy.AddAxis(size);
  return AddOperation(std::move(copy));
}

void KernelWriter::PlaceAsItLies(int value) {
  if (!at(value).placed) Place(value, at(value).AllAxes(), false);
}

// The distance in memory from one index to the next, for each axis of the value.
std::vector<int64_t> KernelWriter::MemoryStrides(const KernelValue& value, const AxisOrder& memory) const {
  std::vector<int64_t> strides(value.axes.size(), 1);
  int64_t stride = 1;
  for (auto axis = memory.rbegin(); axis != memory.rend(); ++axis) {
    if (*axis == kUnit) continue;
    strides[static_cast<size_t>(*axis)] = stride;
    stride *= value.axes[static_cast<size_t>(*axis)];
  }
  return strides;
}

std::vector<uint32_t> KernelWriter::DimsOf(const KernelValue& value) const {
  const std::vector<int64_t> sizes = SizesOf(value, value.order);
  return {sizes.begin(), sizes.end()};
}

// The type of a value that lies in memory with its axes in the order `memory`: strides where that is another
// order than the value's.
std::string KernelWriter::PrintType(const KernelValue& value, const AxisOrder& memory) const {
  std::vector<int64_t> strides;
  const std::vector<int64_t> distances = MemoryStrides(value, memory);
  for (const int axis : value.order) {
    strides.push_back(axis == kUnit ? 1 : distances[static_cast<size_t>(axis)]);
  }
  std::string text = Cat(Info(value.type).name, "[", Join(DimsOf(value), ","), "]");
  AxisOrder axes = value.order;
  std::erase(axes, kUnit);
  AxisOrder lies = memory;
  std::erase(lies, kUnit);
  if (axes != lies) Append(&text, " strides=[", Join(strides, ","), "]");
  return text;
}

std::string KernelWriter::PrintArgument(const KernelArgument& argument) const {
  if (argument.number) return PrintKernelNumber(*argument.number);
  const std::string& name = at(argument.value).name;
  return argument.transposed ? Cat("transpose(", name, ")") : name;
}

std::string KernelWriter::PrintStatement(const KernelValue& value) const {
  std::vector<std::string> parts;
  for (const KernelArgument& argument : value.arguments) parts.push_back(PrintArgument(argument));
  parts.insert(parts.end(), value.options.begin(), value.options.end());
  return Cat("  ", value.name, " = ", value.operation, "(", Join(parts, ", "), ")");
}

std::vector<bool> KernelWriter::NeededBy(const std::vector<KernelResult>& results) const {
  std::vector<bool> needed(values_.size(), false);
  for (const KernelResult& result : results) needed[static_cast<size_t>(result.value)] = true;
  // A value reads earlier ones only.
  for (size_t i = values_.size(); i-- > 0;)
    if (needed[i])
      for (const KernelArgument& argument : values_[i].arguments)
        if (!argument.number) needed[static_cast<size_t>(argument.value)] = true;
  return needed;
}

KernelValue KernelWriter::Shaped(const std::vector<KernelArgument>& arguments,
                                 const KernelValue& whole) const {
  std::vector<int64_t> sizes;  // the last one first
  for (const KernelArgument& argument : arguments) {
    if (argument.number) continue;
    const KernelValue& value = at(argument.value);
    const AxisOrder order = argument.transposed ? WithLastTwoExchanged(value.order) : value.order;
    sizes.resize(std::max(sizes.size(), order.size()), 1);
    for (size_t i = 0; i < order.size(); ++i)
      if (const int axis = order[order.size() - 1 - i]; axis != kUnit)
        sizes[i] = value.axes[static_cast<size_t>(axis)];
  }
  std::reverse(sizes.begin(), sizes.end());
  if (sizes == SizesOf(whole, whole.order)) return whole;
  KernelValue shaped;
  shaped.position = whole.position;
  for (const int64_t size : sizes) shaped.AddAxis(size);
  return shaped;
}

bool KernelWriter::CanLie(int value, const AxisOrder& memory) const {
  const AxisOrder& order = at(value).order;
  return LiesAs(order, memory) || (order.size() >= 2 && LiesAs(WithLastTwoExchanged(order), memory));
}

std::string KernelWriter::Print(const std::string& name, std::vector<KernelResult> results,
                                std::vector<KernelLine>* lines) {
  // A result whose innermost axis is not its last in memory is transposed, if that helps, or else copied.
  for (KernelResult& result : results) {
    if (LiesAs(at(result.value).order, result.memory)) continue;
    if (!CanLie(result.value, result.memory)) {
      result.value = Rearranged(result.value, WithoutUnits(result.memory));
      continue;
    }
    KernelValue turned = at(result.value);
    turned.order = WithLastTwoExchanged(turned.order);
    turned.operation = "transpose";
    turned.arguments = {{std::nullopt, result.value, false}};
    turned.options = {};
    turned.parameter = false;
    result.value = AddOperation(std::move(turned));
  }
  const std::vector<bool> needed = NeededBy(results);
  int statements = 0;
  for (size_t i = 0; i < values_.size(); ++i)
    if (needed[i] && !values_[i].parameter) values_[i].name = Cat("v", ++statements);
  std::vector<std::string> parameters, types, names;
  for (const KernelValue& value : values_)
    if (value.parameter) {
      KernelValue declared = value;
      if (!declared.placed) declared.order = value.AllAxes();
      parameters.push_back(Cat(value.name, ": ", PrintType(declared, value.AllAxes())));
    }
  for (const KernelResult& result : results) {
    types.push_back(PrintType(at(result.value), result.memory));
    names.push_back(at(result.value).name);
  }
  std::string text = Cat("kernel ", name, "(", Join(parameters, ", "), ") -> ",
                         types.size() == 1 ? types[0] : Cat("(", Join(types, ", "), ")"), ":\n");
  lines->assign(1, {});
  for (size_t i = 0; i < values_.size(); ++i)
    if (needed[i] && !values_[i].parameter) {
      Append(&text, PrintStatement(values_[i]), "\n");
      lines->push_back({values_[i].position, DimsOf(values_[i])});
    }
  Append(&text, "  return ", Join(names, ", "), "\n");
  lines->push_back({});
  return text;
}

}  // namespace kirsch
