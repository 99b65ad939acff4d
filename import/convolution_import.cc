// SPDX-License-Identifier: Apache-2.0
// Imports convolutions whose dims lie as one of the kernel language's layouts has them.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "import/kernel_importer.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

// The words of one list of "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]"; the text goes on behind it.
std::vector<std::string> NextList(std::string_view* text) {
  std::vector<std::string> words;
  const size_t open = std::min(text->find('['), text->size());
  const size_t close = std::min(text->find(']', open), text->size());
  std::string word;
  for (const char c : text->substr(open, close - open)) {
    if (c == '[' || c == ' ' || c == ',') {
      if (!word.empty()) words.push_back(std::exchange(word, ""));
    } else {
      word += c;
    }
  }
  if (!word.empty()) words.push_back(word);
  text->remove_prefix(close);
  return words;
}

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

}  // namespace

absl::Status KernelImporter::ImportConvolution(const FlatOperation& operation) {
  const MlirOperation& of = *operation.of;
  const size_t rank = TypeOf(operation.result()).shape.size();
  const size_t axes = rank < 2 ? 0 : rank - 2;
  if (axes < 1 || axes > 3) return Expected(operation, "images of one to three axes");
  const auto all = [&](const char* attribute, int64_t number) {
    const std::vector<int64_t> numbers = of.Integers(attribute);
    return std::all_of(numbers.begin(), numbers.end(), [&](int64_t n) { return n == number; });
  };
  if (!all("lhs_dilation", 1) || !all("batch_group_count", 1) || !all("window_reversal", 0))
    return Expected(operation, "no lhs_dilation, batch_group_count and window_reversal");
  const MlirAttribute* numbers = of.Find("dimension_numbers");
  std::string_view text = numbers == nullptr ? "" : std::string_view(numbers->text);
  std::array<std::vector<std::string>, 3> lists;
  for (auto& list : lists) list = NextList(&text);
  std::array<ImportedValue, 2> operands;
  for (size_t side = 0; side < 2; ++side) {
    absl::StatusOr<ImportedValue> tensor = AsTensor(operation, operation.operands[side]);
    if (!tensor.ok()) return tensor.status();
    operands[side] = *std::move(tensor);
  }
  for (const LayoutWords& layout : Layouts(axes)) {
    std::array<std::vector<size_t>, 3> places;  // in the program's dims
    bool fits = true;
    for (size_t i = 0; i < 3; ++i) {
      const std::optional<std::vector<size_t>> found = Places(lists[i], layout.words[i]);
      fits = fits && found.has_value();
      if (found) places[i] = *found;
    }
    if (!fits) return Expected(operation, "dimension_numbers of b, f, i, o and the image's axes");
    // Each dim is one axis here.
    std::array<AxisOrder, 2> orders;
    for (size_t side = 0; side < 2 && fits; ++side) {
      if (operands[side].dims.size() != rank) return Expected(operation, "operands of the result's rank");
      for (const size_t place : places[side]) {
        const std::vector<ViewFactor>& dim = operands[side].dims[place];
        fits = fits && (dim.empty() || (dim.size() == 1 && dim[0].axis != kUnit));
        orders[side].push_back(dim.empty() ? kUnit : dim[0].axis);
      }
      fits = fits && writer_.CostOf(operands[side].value, orders[side], true) == 0;
    }
    if (!fits) continue;
    KernelValue image;
    image.position = of.position;
    image.operation = Cat("conv", axes, "d");
    for (size_t side = 0; side < 2; ++side)
      image.arguments.push_back(writer_.Place(operands[side].value, orders[side], true));
    std::vector<int64_t> pads = of.Integers("padding");  // before and after, axis by axis
    if (pads.empty()) pads.assign(2 * axes, 0);
    if (pads.size() != 2 * axes) return Expected(operation, "padding of two numbers for each axis");
    std::vector<int64_t> before, after;
    for (size_t axis = 0; axis < axes; ++axis) {
      before.push_back(pads[2 * axis]);
      after.push_back(pads[2 * axis + 1]);
    }
    std::vector<std::string> options = {Along("stride", of.Integers("window_strides")),
                                        Along("dilation", of.Integers("rhs_dilation"))};
    before.insert(before.end(), after.begin(), after.end());
    if (std::any_of(before.begin(), before.end(), [](int64_t pad) { return pad != 0; }))
      options.push_back(Cat("pad=", Join(before, ",")));
    const std::vector<int64_t> groups = of.Integers("feature_group_count");
    if (groups.size() == 1 && groups[0] != 1) options.push_back(Cat("groups=", groups[0]));
    options.push_back(Cat("layout=", layout.name));
    for (std::string& option : options)
      if (!option.empty()) image.options.push_back(std::move(option));
    // The result has an axis for each of its factors, which have to be whole dims.
    std::vector<int> view(Factors(dims_[static_cast<size_t>(operation.result())]).size(), kUnit);
    std::vector<size_t> first_factor;
    size_t next = 0;
    for (const DimFactors::List& dim : dims_[static_cast<size_t>(operation.result())]) {
      const size_t count = factors_.Split(dim).size();
      if (count > 1) return Expected(operation, "a result whose dims no reshape splits");
      first_factor.push_back(next);
      next += count;
    }
    for (const size_t place : places[2]) {
      const int64_t size = TypeOf(operation.result()).shape[place];
      image.order.push_back(size == 1 ? kUnit : static_cast<int>(image.axes.size()));
      if (size == 1) continue;
      view[first_factor[place]] = static_cast<int>(image.axes.size());
      image.axes.push_back(size);
    }
    const int value = writer_.AddOperation(std::move(image));
    Set(operation.result(), {std::nullopt, value, ViewOf(operation.result(), view)});
    return absl::OkStatus();
  }
  return Expected(operation,
                  "dims that lie as [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f] or as "
                  "[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]");
}

}  // namespace kirsch
