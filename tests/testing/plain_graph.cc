// SPDX-License-Identifier: Apache-2.0
#include "tests/testing/plain_graph.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "spec/check.h"
#include "spec/language/functions.h"
#include "spec/text/cat.h"
#include "tests/testing/plain_block.h"
#include "tests/testing/plain_function.h"

namespace kirsch::testing {
namespace {

using Dims = std::vector<uint32_t>;
using Index = std::vector<int64_t>;
using BoundedElements = std::vector<Bounds>;

// The next index, the last axis fastest; false after the last one.
bool Next(const Dims& dims, Index* index) {
  for (size_t axis = dims.size(); axis-- > 0;) {
    if (++(*index)[axis] < dims[axis]) return true;
    (*index)[axis] = 0;
  }
  return false;
}

constexpr size_t kSharers = 32;  // elements of a row that have a scale together, if they become integers

Bounds OffBy(const Bounds& x, double most) { return {x.low - most, x.high + most}; }

// Rounded to the 8 bits of a bf16, or not; subnormal numbers perhaps to 0.
Bounds MayBeBf16(const Bounds& x) { return OffBy(x, 0x1p-8 * MagnitudeOf(x) + 0x1p-126); }

// Rounded to the 11 bits of an f16, of which the least are multiples of 2^-24; or not. What is too large may
// be infinite.
Bounds MayBeF16(const Bounds& x) {
  const double most = MagnitudeOf(x);
  return OffBy(x, most >= 65520 ? HUGE_VAL : std::max(0x1p-11 * most, 0x1p-25));
}

class PlainEvaluation {
 public:
  PlainEvaluation(const GrammarGraph& graph, const std::vector<std::vector<double>>& parameters)
      : graph_(graph) {
    for (const std::vector<double>& elements : parameters) {
      values_.emplace_back();
      for (double x : elements) values_.back().push_back(Exactly(x));
    }
  }

  BoundedElements Result() {
    for (size_t i = values_.size(); i < graph_.values.size(); ++i)
      values_.push_back(Evaluated(graph_.values[i]));
    BoundedElements all;
    for (int result : graph_.results()) {
      const BoundedElements& one = values_[static_cast<size_t>(result)];
      all.insert(all.end(), one.begin(), one.end());
    }
    return all;
  }

 private:
  BoundedElements Evaluated(const GrammarValue& value) const {
    const std::string& op = value.op;
    if (op == "matmul") return EachElement(value, [&](const Index& at) { return Product(value, at); });
    if (op.starts_with("conv"))
      return EachElement(value, [&](const Index& at) { return Convolution(value, at); });
    if (op == "transpose")
      return EachElement(value, [&](Index at) {
        std::swap(at[at.size() - 1], at[at.size() - 2]);
        return At(value.arguments[0], at);
      });
    if (op == "cast")
      return EachElement(value, [&](const Index& at) {
        return CastTo(PlainTypeOf(value.type), At(value.arguments[0], at));
      });
    if (op == "slice" || op == "concat" || op == "pad")
      return EachElement(value, [&](const Index& at) { return Copied(value, at); });
    if (op.starts_with("window_"))
      return EachElement(value, [&](const Index& at) { return Windowed(value, at); });
    if (op == "permute" || op == "reshape" || op == "broadcast")
      return EachElement(value, [&](const Index& at) { return Rearranged(value, at); });
    if (op == "take") return EachElement(value, [&](const Index& at) { return Taken(value, at); });
    if (op == "cumsum") return EachElement(value, [&](const Index& at) { return SummedUpTo(value, at); });
    if (op.starts_with("arg"))
      return EachElement(value, [&](const Index& at) { return PlaceOfMost(value, at); });
    if (op.starts_with("reduce_")) return Reduced(value);
    if (op == "softmax" || op == "layernorm" || op == "rmsnorm") return ByRows(value);
    return EachElement(value, [&](const Index& at) { return Elementwise(value, at); });
  }

  template <typename Function>
  static BoundedElements EachElement(const GrammarValue& value, const Function& function) {
    BoundedElements elements;
    Index index(value.dims.size());
    do elements.push_back(function(index));
    while (Next(value.dims, &index));
    return elements;
  }

  // The element of an argument that is repeated to `index`.
  Bounds At(const GrammarArgument& argument, const Index& index) const {
    KIRSCH_CHECK(argument.value >= 0);
    const Dims& dims = graph_.at(argument.value).dims;
    int64_t at = 0;
    for (size_t axis = 0; axis < dims.size(); ++axis)
      at = at * dims[axis] + (dims[axis] == 1 ? 0 : index[index.size() - dims.size() + axis]);
    return values_[static_cast<size_t>(argument.value)][static_cast<size_t>(at)];
  }
  const GrammarValue& Argument(const GrammarValue& value, size_t i) const {
    return graph_.at(value.arguments[i].value);
  }

  static bool IsOfItself(const GrammarValue& value) {
    return value.arguments.size() == 2 && value.arguments[0].value >= 0 &&
           value.arguments[0].value == value.arguments[1].value;
  }

  Bounds Elementwise(const GrammarValue& value, const Index& at) const {
    const bool floats = IsFloat(PlainTypeOf(value.type));
    const auto argument = [&](size_t i) {
      const GrammarArgument& given = value.arguments[i];
      return given.value < 0 ? Exactly(Written(value, given.number)) : At(given, at);
    };
    const Bounds a = argument(0), b = value.arguments.size() > 1 ? argument(1) : Bounds{};
    if (value.op == "select") return PlainSelect(a, b, argument(2));
    if (floats && IsOfItself(value) &&
        std::isfinite(MagnitudeOf(a))) {  // a value is the same wherever it is used
      if (value.op == "sub") return Exactly(0);
      if (value.op == "div" && (a.low > 0 || a.high < 0)) return Exactly(1);
    }
    if (value.op == "neg" && !floats) return IntegerArithmetic('-', Exactly(0), a);
    const bool chooses = value.op.starts_with("max") || value.op.starts_with("min") || value.op == "relu";
    if (chooses || floats) return PlainFunction(value.op, a, b, NumberOf(value), TypeOf(value));
    return IntegerArithmetic(value.op == "add" ? '+' : value.op == "sub" ? '-' : '*', a, b);
  }

  // The type that it is computed in.
  static const PlainType& TypeOf(const GrammarValue& value) { return ComputedIn(PlainTypeOf(value.type)); }
  // A number beside it.
  static double Written(const GrammarValue& value, const std::string& number) {
    if (!IsFloat(PlainTypeOf(value.type))) return std::stoi(number);
    return value.type == "f64" ? std::stod(number) : std::stof(number);
  }

  // Its option, given or usual; 0 of an operation that has none.
  static double NumberOf(const GrammarValue& value) {
    const NumberOption& option = FindFunction(value.op)->option;
    return value.Option(std::string(option.name), option.usual);
  }

  static Bounds Sum(const GrammarValue& value, const BoundedElements& products) {
    return IsFloat(PlainTypeOf(value.type)) ? SumOf(products, TypeOf(value)) : IntegerSumOf(products);
  }
  static Bounds Times(const GrammarValue& value, const Bounds& a, const Bounds& b) {
    return IsFloat(PlainTypeOf(value.type)) ? AtCorners(a, b, std::multiplies<>())
                                            : IntegerArithmetic('*', a, b);
  }

  // Matrices of a shorter batch are each for several that follow each other.
  Index InBatchOf(const GrammarValue& value, size_t argument, Index at) const {
    for (size_t axis = 0; axis + 2 < at.size(); ++axis)
      at[axis] = at[axis] * Argument(value, argument).dims[axis] / value.dims[axis];
    return at;
  }

  Bounds Product(const GrammarValue& value, const Index& at) const {
    const size_t row = at.size() - 2, column = row + 1;
    Index left = InBatchOf(value, 0, at), right = InBatchOf(value, 1, at);
    BoundedElements lhs, rhs, products;
    for (int64_t k = 0; k < Argument(value, 0).dims.back(); ++k) {
      left[column] = right[row] = k;
      lhs.push_back(At(value.arguments[0], left));
      rhs.push_back(At(value.arguments[1], right));
    }
    MayRound(value, &lhs, &rhs);
    for (size_t k = 0; k < lhs.size(); ++k) products.push_back(Times(value, lhs[k], rhs[k]));
    return Sum(value, products);
  }

  // What the option lhs_as makes of a row and a column: a kernel may do all of that, or nothing.
  void MayRound(const GrammarValue& value, BoundedElements* lhs, BoundedElements* rhs) const {
    if (value.options.empty()) return;
    const std::string& as = value.options.front().second;
    for (Bounds& x : *lhs) x = as == "f16" ? MayBeF16(x) : MayBeBf16(x);
    if (FindPlainBlockType(Argument(value, 1).type) != nullptr)
      for (Bounds& x : *rhs) x = MayBeBf16(x);
    if (as != "q8_0") return;
    for (size_t first = 0; first < lhs->size(); first += kSharers) {
      double most = 0;  // a NaN stays one
      for (size_t k = first; k < first + kSharers; ++k)
        if (const double x = MagnitudeOf((*lhs)[k]); !(x <= most)) most = x;
      for (size_t k = first; k < first + kSharers; ++k) (*lhs)[k] = OffBy((*lhs)[k], most / 254 * (1 + 1e-5));
    }
  }

  static std::string TextOf(const GrammarValue& value, const std::string& option, const std::string& usual) {
    for (const auto& [name, text] : value.options)
      if (name == option) return text;
    return usual;
  }
  static std::vector<int64_t> NumbersOf(const GrammarValue& value, const std::string& option,
                                        const std::string& usual, char sign) {
    std::vector<int64_t> numbers;
    for (const std::string& number :
         std::vector<std::string>(absl::StrSplit(TextOf(value, option, usual), sign)))
      numbers.push_back(std::stoll(number));
    return numbers;
  }

  // `numbers` of an option: for each axis, or one for all.
  static int64_t Along(const std::vector<int64_t>& numbers, size_t axis) {
    return numbers[numbers.size() == 1 ? 0 : axis];
  }

  Bounds Convolution(const GrammarValue& value, const Index& at) const {
    const size_t axes = at.size() - 2;
    const std::string layout = TextOf(value, "layout", "");
    const bool last = !layout.empty() && layout.back() == 'c';  // channels
    const std::vector<int64_t> stride = NumbersOf(value, "stride", "1", 'x'),
                               dilation = NumbersOf(value, "dilation", "1", 'x'),
                               pad = NumbersOf(value, "pad", "0", ',');
    const Dims &image = Argument(value, 0).dims, &taps = Argument(value, 1).dims;
    const bool transposed = value.op.ends_with("_transpose");
    const int64_t channels = taps[last         ? axes
                                  : transposed ? 0
                                               : 1],
                  filter = at[last ? axes + 1 : 1];  // of a group
    const int64_t groups = NumbersOf(value, "groups", "1", ',')[0];
    const size_t of_filters = last ? axes + 1 : transposed ? 1 : 0;
    const int64_t first = filter / (taps[of_filters] / groups) * channels;
    const size_t of_image = last ? 1 : 2, of_kernel = last ? 0 : 2;  // where their axes begin
    Index pixel = at, tap(taps.size());
    BoundedElements products;
    const std::function<void(size_t)> visit = [&](size_t axis) {
      if (axis == axes) {
        for (int64_t c = 0; c < channels; ++c) {
          pixel[last ? axes + 1 : 1] = first + c;
          tap[last ? axes : transposed ? 0 : 1] = c;
          tap[of_filters] = filter;
          products.push_back(Times(value, At(value.arguments[0], pixel), At(value.arguments[1], tap)));
        }
        return;
      }
      for (int64_t k = 0; k < taps[of_kernel + axis]; ++k) {
        const int64_t to = at[of_image + axis], step = Along(stride, axis);
        int64_t from = to * step + k * Along(dilation, axis) - Along(pad, axis);
        if (transposed) {
          // The pixel from which the tap leads here.
          const int64_t whole = to + Along(pad, axis) - k * Along(dilation, axis);
          if (whole % step != 0) continue;
          from = whole / step;
        }
        if (from < 0 || from >= image[of_image + axis]) continue;  // zeros
        pixel[of_image + axis] = from;
        tap[of_kernel + axis] = k;
        visit(axis + 1);
      }
    };
    visit(0);
    return Sum(value, products);
  }

  // Each element goes to where its index is with 0 along the reduced axes.
  BoundedElements Reduced(const GrammarValue& value) const {
    std::vector<BoundedElements> reduced(static_cast<size_t>(value.elements()));
    const Dims& dims = Argument(value, 0).dims;
    Index index(dims.size());
    do {
      int64_t to = 0;
      for (size_t axis = 0; axis < dims.size(); ++axis)
        to = to * value.dims[axis] + (value.dims[axis] == 1 ? 0 : index[axis]);
      reduced[static_cast<size_t>(to)].push_back(At(value.arguments[0], index));
    } while (Next(dims, &index));
    BoundedElements results;
    for (const BoundedElements& row : reduced) {
      Bounds result = row.front();
      for (const Bounds& x : row) result = PlainFunction("max", result, x, 0, TypeOf(value));
      if (value.op != "reduce_max") result = SumOf(row, TypeOf(value));
      if (value.op == "reduce_mean")
        result = PlainFunction("div", result, Exactly(static_cast<double>(row.size())), 0, TypeOf(value));
      results.push_back(result);
    }
    return results;
  }

  static int64_t WholeOption(const GrammarValue& value, const std::string& option, int64_t usual) {
    return NumbersOf(value, option, Cat(usual), ',')[0];
  }

  Bounds Copied(const GrammarValue& value, Index at) const {
    int64_t& along = at[static_cast<size_t>(WholeOption(value, "axis", -1))];
    const int64_t size = Argument(value, 0).dims[static_cast<size_t>(&along - at.data())];
    if (value.op == "slice") {
      along = WholeOption(value, "from", 0) + along * WholeOption(value, "step", 1);
    } else if (value.op == "concat") {
      if (along < size) return At(value.arguments[0], at);
      along -= size;
      return At(value.arguments[1], at);
    } else {
      along -= WholeOption(value, "before", 0);
      const PlainType& type = PlainTypeOf(value.type);
      if (along < 0 || along >= size)
        return CastTo(type, Exactly(Written(value, TextOf(value, "value", "0"))));
    }
    return At(value.arguments[0], at);
  }

  Bounds Windowed(const GrammarValue& value, Index at) const {
    const auto axis = static_cast<size_t>(WholeOption(value, "axis", -1));
    const int64_t first = at[axis] * WholeOption(value, "stride", 1) - WholeOption(value, "before", 0),
                  apart = WholeOption(value, "dilation", 1);
    BoundedElements window;
    for (int64_t i = 0; i < WholeOption(value, "size", 1); ++i) {
      at[axis] = first + i * apart;
      if (at[axis] >= 0 && at[axis] < Argument(value, 0).dims[axis])
        window.push_back(At(value.arguments[0], at));
    }
    if (value.op == "window_sum") return window.empty() ? Exactly(0) : Sum(value, window);
    Bounds most = Exactly(IsFloat(PlainTypeOf(value.type)) ? -HUGE_VAL : -2147483648.0);
    for (size_t i = 0; i < window.size(); ++i)
      most = i == 0 ? window[i] : PlainFunction("max", most, window[i], 0, TypeOf(value));
    return most;
  }

  // The numbers in the brackets behind the argument.
  static Index InBrackets(const GrammarValue& value) {
    const std::string text = TextOf(value, "", "[]");
    Index numbers;
    for (const auto number : absl::StrSplit(text.substr(1, text.size() - 2), ',', absl::SkipEmpty()))
      numbers.push_back(std::stoll(std::string(number)));
    return numbers;
  }

  Bounds Rearranged(const GrammarValue& value, const Index& at) const {
    if (value.op == "broadcast") return At(value.arguments[0], at);
    const Dims& dims = Argument(value, 0).dims;
    Index from(dims.size());
    if (value.op == "permute") {
      const Index axes = InBrackets(value);
      for (size_t axis = 0; axis < axes.size(); ++axis) from[static_cast<size_t>(axes[axis])] = at[axis];
    } else {
      int64_t place = 0;
      for (size_t axis = 0; axis < at.size(); ++axis) place = place * value.dims[axis] + at[axis];
      for (size_t axis = dims.size(); axis-- > 0; place /= dims[axis]) from[axis] = place % dims[axis];
    }
    return At(value.arguments[0], from);
  }

  Bounds Taken(const GrammarValue& value, Index at) const {
    const auto axis = static_cast<size_t>(WholeOption(value, "axis", -1));
    const Dims& dims = Argument(value, 0).dims;
    const Index own(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(axis) + 1);
    const Bounds place =
        At(value.arguments[1], Argument(value, 1).dims.size() == 1 ? Index{own.back()} : own);
    const double last = dims[axis] - 1;
    Bounds taken{HUGE_VAL, -HUGE_VAL};
    for (double i = std::clamp(place.low, 0.0, last); i <= std::clamp(place.high, 0.0, last); ++i) {
      at[axis] = static_cast<int64_t>(i);
      const Bounds x = At(value.arguments[0], at);
      if (std::isnan(x.low) || IsAnything(x)) return x;
      taken = {std::min(taken.low, x.low), std::max(taken.high, x.high)};
    }
    return taken;
  }

  Bounds SummedUpTo(const GrammarValue& value, Index at) const {
    const auto axis = static_cast<size_t>(WholeOption(value, "axis", -1));
    BoundedElements added;
    for (int64_t last = std::exchange(at[axis], 0); at[axis] <= last; ++at[axis])
      added.push_back(At(value.arguments[0], at));
    return Sum(value, added);
  }

  // From the first to the last that may be the first of the largest, or of the smallest; a NaN is either.
  Bounds PlaceOfMost(const GrammarValue& value, Index at) const {
    const auto axis = static_cast<size_t>(WholeOption(value, "axis", -1));
    BoundedElements row;
    for (at[axis] = 0; at[axis] < Argument(value, 0).dims[axis]; ++at[axis]) {
      Bounds x = At(value.arguments[0], at);
      if (value.op == "argmin") x = {-x.high, -x.low};
      row.push_back(IsAnything(x) ? Bounds{-HUGE_VAL, HUGE_VAL} : x);
    }
    double least = -HUGE_VAL;  // that the largest is
    for (const Bounds& x : row) least = std::max(least, x.low);
    Bounds place{HUGE_VAL, -HUGE_VAL};
    for (size_t i = 0; i < row.size(); ++i) {
      if (row[i].high < least) continue;
      const auto index = static_cast<double>(i);
      place = {std::min(place.low, index), std::max(place.high, index)};
      if (row[i].low == row[i].high && row[i].low == least &&
          std::all_of(row.begin(), row.end(), [&](const Bounds& x) { return x.high <= least; }))
        break;  // surely one of the largest: none behind it is the first
    }
    return place;
  }

  BoundedElements ByRows(const GrammarValue& value) const {
    const BoundedElements& from = values_[static_cast<size_t>(value.arguments[0].value)];
    const size_t length = value.dims.back();
    BoundedElements results;
    for (auto row = from.begin(); row != from.end(); row += static_cast<std::ptrdiff_t>(length)) {
      BoundedElements elements(row, row + static_cast<std::ptrdiff_t>(length));
      const bool softmax = value.op == "softmax";
      const double eps = value.Option("eps", 1e-5);
      elements = softmax
                     ? PlainSoftmax(elements, TypeOf(value))
                     : PlainNormalized(std::move(elements), value.op == "layernorm",
                                       value.type == "f64" ? eps : static_cast<float>(eps), TypeOf(value));
      for (size_t i = 0; i < length && !softmax; ++i)
        for (size_t vector = 1; vector < value.arguments.size(); ++vector)
          elements[i] =
              PlainFunction(vector == 1 ? "mul" : "add", elements[i],
                            At(value.arguments[vector], {static_cast<int64_t>(i)}), 0, TypeOf(value));
      results.insert(results.end(), elements.begin(), elements.end());
    }
    return results;
  }

  const GrammarGraph& graph_;
  std::vector<BoundedElements> values_;
};

}  // namespace

std::vector<Bounds> PlainResult(const GrammarGraph& graph,
                                const std::vector<std::vector<double>>& parameters) {
  return PlainEvaluation(graph, parameters).Result();
}

std::string FirstOutside(const std::vector<Bounds>& expected, const std::vector<double>& got) {
  KIRSCH_CHECK(expected.size() == got.size());
  for (size_t i = 0; i < got.size(); ++i)
    if (!IsAnything(expected[i]) && !(expected[i].low <= got[i] && got[i] <= expected[i].high))
      return Cat("element ", i, ": expected ", expected[i].low, " to ", expected[i].high, ", got ", got[i]);
  return "";
}

double TellingShare(const std::vector<Bounds>& expected) {
  double most = 0, telling = 0;
  for (const Bounds& x : expected)
    if (!IsAnything(x)) most = std::max(most, MagnitudeOf(x));
  for (const Bounds& x : expected) telling += !IsAnything(x) && x.high - x.low <= 0.01 * most ? 1 : 0;
  return telling / static_cast<double>(expected.size());
}

}  // namespace kirsch::testing
