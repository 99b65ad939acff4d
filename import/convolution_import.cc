// SPDX-License-Identifier: Apache-2.0
// Imports convolutions whose dims lie as one of the kernel language's layouts has them.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "import/kernel_importer.h"
#include "spec/text/cat.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

// The place of each word of `wanted` in `list`; nothing if they are not the same words.
std::optional<std::vector<size_t>> Places(const std::vector<std::string>& list,
                                          const std::vector<std::string>& wanted) {
  std::vector<size_t> places;
  if (list.size() != wanted.size()) return std::nullopt;
  for (const std::string& word : wanted) {
    const auto found = std::find(list.begin(), list.end(), word);
    if (found == list.end()) return std::nullopt;
    places.push_back(static_cast<size_t>(found - list.begin()));
  }
  return places;
}

// What the operands and the result have as their dims in a layout, for so many axes of images.
struct LayoutWords {
  std::string name;
  std::array<std::vector<std::string>, 3> words;  // of the image, the filters, the result
};

std::vector<LayoutWords> Layouts(size_t axes) {
  const std::string spatial = std::string("dhw").substr(3 - axes);
  std::vector<std::string> numbers;
  for (size_t i = 0; i < axes; ++i) numbers.push_back(Cat(i));
  const auto around = [&](std::vector<std::string> front, const std::vector<std::string>& behind) {
    front.insert(front.end(), numbers.begin(), numbers.end());
    front.insert(front.end(), behind.begin(), behind.end());
    return front;
  };
  return {{Cat("n", spatial, "c"), {around({"b"}, {"f"}), around({}, {"i", "o"}), around({"b"}, {"f"})}},
          {Cat("nc", spatial), {around({"b", "f"}, {}), around({"o", "i"}, {}), around({"b", "f"}, {})}}};
}

// "2x1" of strides and dilations, which the program has from the outermost axis on; "" where all are 1.
std::string Along(std::string_view option, const std::vector<int64_t>& numbers) {
  if (std::all_of(numbers.begin(), numbers.end(), [](int64_t number) { return number == 1; })) return "";
  const bool alike = std::all_of(numbers.begin(), numbers.end(), [&](int64_t n) { return n == numbers[0]; });
  return Cat(option, "=", alike ? Cat(numbers[0]) : Join(numbers, "x"));
}

// "stride=2", "pad=1,1,1,1" and so on: those that are not as they would be anyway.
std::vector<std::string> OptionsOf(const ConvolutionDims& dims, const LayoutWords& layout) {
  std::vector<std::string> options = {Along("stride", dims.strides), Along("dilation", dims.dilations)};
  std::vector<int64_t> pads, after;  // of all axes before, then behind
  for (size_t i = 0; i < dims.pads.size(); ++i) (i % 2 == 0 ? pads : after).push_back(dims.pads[i]);
  pads.insert(pads.end(), after.begin(), after.end());
  if (std::any_of(pads.begin(), pads.end(), [](int64_t pad) { return pad != 0; }))
    options.push_back(Cat("pad=", Join(pads, ",")));
  if (dims.groups != 1) options.push_back(Cat("groups=", dims.groups));
  options.push_back(Cat("layout=", layout.name));
  std::erase(options, "");
  return options;
}

// The size of the dim that the word says; -1 if there is none.
int64_t SizeOf(const MlirType& type, const std::vector<std::string>& words, const std::string& word) {
  const auto found = std::find(words.begin(), words.end(), word);
  const size_t dim = static_cast<size_t>(found - words.begin());
  return dim < type.shape.size() ? type.shape[dim] : -1;
}

// True if the result is as large as image and filters make it.
bool SizesMatch(const ConvolutionDims& dims, const std::array<const MlirType*, 3>& types, size_t axes) {
  const auto size = [&](size_t which, const std::string& word) {
    return SizeOf(*types[which], dims.words[which], word);
  };
  const auto along = [](const std::vector<int64_t>& numbers, size_t i, int64_t otherwise) {
    return i < numbers.size() ? numbers[i] : otherwise;
  };
  constexpr int64_t kMost = 1 << 20;  // of strides and zeros
  if (size(0, "b") != size(2, "b") || size(1, "o") != size(2, "f")) return false;
  for (size_t axis = 0; axis < axes; ++axis) {
    const int64_t stride = along(dims.strides, axis, 1), dilation = along(dims.dilations, axis, 1);
    const int64_t before = along(dims.pads, 2 * axis, 0), after = along(dims.pads, 2 * axis + 1, 0);
    const int64_t kernel = size(1, Cat(axis));
    if (std::min({stride, dilation, kernel}) < 1 || std::max({stride, dilation, kernel}) > kMost ||
        std::min(before, after) < 0 || std::max(before, after) > kMost)
      return false;
    const int64_t room = size(0, Cat(axis)) + before + after - (kernel - 1) * dilation - 1;
    if (room < 0 || size(2, Cat(axis)) != room / stride + 1) return false;
  }
  return true;
}

}  // namespace

// The operands' axes as a layout wants them, perhaps transposed; nothing if they do not lie so.
std::optional<KernelImporter::ConvolutionOrders> KernelImporter::OrdersOf(
    const std::array<ImportedValue, 2>& operands, const std::array<std::vector<size_t>, 3>& places) const {
  ConvolutionOrders found;
  auto& orders = found.orders;
  for (size_t side = 0; side < 2; ++side) {
    for (const size_t place : places[side]) {
      const std::vector<ViewFactor>& dim = operands[side].dims[place];
      if (dim.size() > 1 || (dim.size() == 1 && dim[0].axis == kUnit)) return std::nullopt;
      orders[side].push_back(dim.empty() ? kUnit : dim[0].axis);
    }
    const std::optional<int> cost = writer_.CostOf(operands[side].value, orders[side], true);
    if (!cost) return std::nullopt;
    found.transposes += *cost;
  }
  return found;
}

// Gives the value an axis for each dim of the result, in the layout's order, and returns the result's view.
absl::StatusOr<std::vector<int>> KernelImporter::ConvolutionView(const TensorOperation& operation,
                                                                 const std::vector<size_t>& places,
                                                                 KernelValue* image) {
  std::vector<int> view(Factors(DimsOf(operation.result)).size(), kUnit);
  std::vector<size_t> first_factor;
  size_t next = 0;
  for (const DimFactors::List& dim : DimsOf(operation.result)) {
    const size_t count = factors_.Split(dim).size();
    if (!WantOneFactor(operation, kResult, std::ssize(first_factor)))
      return Expected(operation, "a result whose dims no reshape splits");
    first_factor.push_back(next);
    next += count;
  }
  for (const size_t place : places) {
    const int64_t size = TypeOf(operation.result).shape[place];
    const int added = image->AddAxis(size);
    if (size != 1) view[first_factor[place]] = added;
  }
  return view;
}

absl::Status KernelImporter::ImportConvolution(const TensorOperation& operation) {
  const ConvolutionDims& dims = operation.convolution;
  const size_t rank = TypeOf(operation.result).shape.size();
  const size_t axes = rank < 2 ? 0 : rank - 2;
  if (axes < 1 || axes > 3) return Expected(operation, "images of one to three axes");
  std::array<const MlirType*, 3> types = {&TypeOf(operation.operands[0]), &TypeOf(operation.operands[1]),
                                          &TypeOf(operation.result)};
  for (const MlirType* type : types)
    if (type->shape.size() != rank) return Expected(operation, "operands of the result's rank");
  if (!dims.pads.empty() && dims.pads.size() != 2 * axes)
    return Expected(operation, "padding of two numbers for each axis");
  std::array<ImportedValue, 2> operands;
  for (size_t side = 0; side < 2; ++side) {
    KIRSCH_ASSIGN_OR_RETURN(ImportedValue tensor, AsTensor(operation, operation.operands[side]));
    operands[side] = Whole(tensor);
    for (size_t dim = 0; dim < rank; ++dim)
      WantOneFactor(operation, static_cast<int>(side), static_cast<int64_t>(dim));
  }
  // The layout that takes the fewest transposes.
  const LayoutWords* best = nullptr;
  ConvolutionOrders best_orders;
  std::array<std::vector<size_t>, 3> places;  // in the program's dims, of the best
  const std::vector<LayoutWords> layouts = Layouts(axes);
  for (const LayoutWords& layout : layouts) {
    std::array<std::vector<size_t>, 3> of_layout;
    for (size_t i = 0; i < 3; ++i) {
      const std::optional<std::vector<size_t>> found = Places(dims.words[i], layout.words[i]);
      if (!found) return Expected(operation, "dimension_numbers of b, f, i, o and the image's axes");
      of_layout[i] = *found;
    }
    const std::optional<ConvolutionOrders> orders = OrdersOf(operands, of_layout);
    if (!orders || (best != nullptr && best_orders.transposes <= orders->transposes)) continue;
    best = &layout;
    best_orders = *orders;
    places = of_layout;
  }
  if (!SizesMatch(dims, types, axes))
    return Expected(operation, "a result of the size that image, filters, strides and zeros give it");
  if (best == nullptr)
    return Expected(operation,
                    "dims that lie as [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f] or as "
                    "[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]");
  KernelValue image;
  image.position = operation.position;
  image.operation = Cat("conv", axes, "d");
  for (size_t side = 0; side < 2; ++side)
    image.arguments.push_back(writer_.Place(operands[side].value, best_orders.orders[side], true));
  image.options = OptionsOf(dims, *best);
  KIRSCH_ASSIGN_OR_RETURN(const std::vector<int> view, ConvolutionView(operation, places[2], &image));
  const int value = writer_.AddOperation(std::move(image));
  Set(operation.result, {std::nullopt, value, ViewOf(operation.result, view)});
  return absl::OkStatus();
}

}  // namespace kirsch
