// SPDX-License-Identifier: Apache-2.0
#include "codegen/header/parameter_text.h"

#include <algorithm>
#include <string>

#include "spec/canonical.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

// One number for each member, in the members' order.
using Numbers = std::vector<int64_t>;

// The sizes that members differ in, and the sums of them that have names.
struct Sizes {
  std::vector<VaryingSize> sizes = {};
  std::vector<TiedSize> ties = {};
};

// A number that is the same in all members; or the size, or sum, that it equals in each of them; or its
// range.
std::string TextOf(const Numbers& numbers, const Sizes& sizes) {
  const auto [least, most] = std::ranges::minmax(numbers);
  if (least == most) return Cat(least);
  const auto equals = [&](const SizeSum& sum) {
    for (size_t i = 0; i < numbers.size(); ++i)
      if (numbers[i] != sum.Of(ValuesOf(sizes.sizes, static_cast<int64_t>(i)))) return false;
    return true;
  };
  for (size_t size = 0; size < sizes.sizes.size(); ++size)
    if (equals(SizeSum(size))) return sizes.sizes[size].name;
  for (const TiedSize& tied : sizes.ties)
    if (equals(tied.sum)) return tied.name;
  return Cat(least, "..", most);
}

// Returns "[n,3,1..9]". `number(type, axis)` gives the number of an axis in one member's type.
template <typename Number>
std::string AxesText(const std::vector<TensorType>& types, const Sizes& sizes, const Number& number) {
  std::string text = "[";
  for (size_t axis = 0; axis < types.front().dims.size(); ++axis) {
    Numbers numbers;
    for (const TensorType& type : types) numbers.push_back(number(type, axis));
    Append(&text, axis > 0 ? "," : "", TextOf(numbers, sizes));
  }
  return text + "]";
}

// `types`: the parameter's type in each member. Strides are printed only if some member's tensor is not
// dense.
std::string TypeText(const std::vector<TensorType>& types, const Sizes& sizes) {
  const std::string name(Info(CallersType(types.front().dtype)).name);
  if (types.front().dims.empty()) return Cat(name, ", one element");
  std::string text = Cat(name, AxesText(types, sizes, [](const TensorType& type, size_t axis) {
                           return int64_t{type.dims[axis]};
                         }));
  if (std::ranges::all_of(types, &TensorType::dense)) return text;
  return Cat(text, " strides=", AxesText(types, sizes, [](const TensorType& type, size_t axis) {
               return type.Strides()[axis];
             }));
}

}  // namespace

std::vector<HeaderParameter> ParametersOf(const SpecFamily& family) {
  const ParsedSpec first = family.member(0);
  const bool matmul = first.text.starts_with(kMatmulInfo.name);
  std::vector<HeaderParameter> parameters;
  for (const Parameter& parameter : first.parameters) {
    if (!parameter.type) return {};
    std::string text = TypeText({*parameter.type}, {});
    // Declared parameters have names of the user's own, so the comment says which operand each is.
    if (matmul && parameter.operand < MatmulDims::kOut) {
      const int of_user = SwappedOperand(parameter.operand, first.swapped);
      Append(&text, ", ", std::string(kMatmulInfo.operands[static_cast<size_t>(of_user)].name),
             " of the matmul");
    }
    parameters.push_back({std::move(text), first.spec.tensor(parameter.operand).constant != 0});
  }
  return parameters;
}

// Nodes of a graph are numbered with the inputs first, so an input's node is its number.
std::vector<HeaderParameter> ParametersOf(const GraphFamily& family, const std::vector<VaryingSize>& sizes) {
  // The text of a type that each member has one of.
  const auto text_of = [&](const auto& type_of) {
    std::vector<TensorType> types;
    for (int64_t i = 0; i < family.count(); ++i) types.push_back(type_of(family.member(i)));
    return TypeText(types, {sizes, family.ties()});
  };
  const Graph& first = family.member(0);
  std::vector<HeaderParameter> parameters;
  for (int input = 0; input < first.num_inputs(); ++input)
    parameters.push_back(
        {text_of([=](const Graph& graph) { return graph.at(input).type; }), first.IsConstant(input)});
  for (size_t i = 0; i < first.results.size(); ++i)
    parameters.push_back(
        {text_of([=](const Graph& graph) { return graph.TypeOf(graph.results[i]); }), false});
  return parameters;
}

}  // namespace kirsch
