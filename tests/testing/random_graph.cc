// SPDX-License-Identifier: Apache-2.0
#include "tests/testing/random_graph.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "spec/layout.h"
#include "spec/operation.h"
#include "spec/text/cat.h"

namespace kirsch::testing {
namespace {

using Dims = std::vector<uint32_t>;

// All elementwise ones of one argument but those that numbers below 0 have not, as the square root.
std::vector<std::string_view> UnaryOperations() {
  std::vector<std::string_view> names;
  for (const OperationInfo& info : kOperations)
    if (info.kind == OperationKind::kElementwise && info.arguments == 1 &&
        !std::isnan(info.meaning(-2, info.option.usual)))
      names.push_back(info.name);
  return names;
}

class KernelWriter {
 public:
  KernelWriter(int operations, std::mt19937& random) : random_(random) {
    const size_t rank = Draw(5) == 0 ? 3 : 2;
    Dims dims;
    for (size_t axis = 0; axis < rank; ++axis) dims.push_back(axis + 2 < rank ? 1 + Draw(3) : Side());
    value_ = {Parameter(dims), dims};
    values_.push_back(value_);
    for (int i = 0; i < operations; ++i) Operation();
    if (Draw(6) == 0) Set(Cat("cast(", value_.name, ", bf16)"), value_.dims);
  }

  std::string Text() const {
    return Cat("kernel drawn(", absl::StrJoin(parameters_, ", "), "):\n", absl::StrJoin(lines_, "\n"),
               "\nreturn ", value_.name);
  }

 private:
  struct Value {
    std::string name;
    Dims dims;
  };

  uint32_t Draw(uint32_t below) { return static_cast<uint32_t>(random_() % below); }
  uint32_t Side() {
    static constexpr std::array<uint32_t, 10> kSides = {1, 2, 3, 7, 8, 16, 17, 31, 33, 64};
    return Draw(3) == 0 ? 1 + Draw(70) : kSides[Draw(10)];
  }

  std::string Parameter(const Dims& dims, const char* type = "f32") {
    const std::string name = Cat("p", parameters_.size());
    parameters_.push_back(
        Cat(name, Draw(4) == 0 ? ": const " : ": ", type, "[", absl::StrJoin(dims, ","), "]"));
    return name;
  }

  void Set(const std::string& value, const Dims& dims) {
    const std::string name = Cat("v", lines_.size());
    lines_.push_back(Cat(name, " = ", value));
    value_ = {name, dims};
    values_.push_back(value_);
  }

  void Operation() {
    if (Draw(6) == 0) value_ = values_[Draw(static_cast<uint32_t>(values_.size()))];  // another branch
    switch (Draw(9)) {
      case 8:
        return Copied();
      case 0:
      case 1:
        return Matmul();
      case 2:
        return Unary();
      case 3:
      case 4:
        return Binary();
      case 5:
        return Rowwise();
      case 6:
        return Reduction();
      default:
        return Draw(3) == 0 ? Transpose() : Binary();
    }
  }

  void Matmul() {
    Dims rhs = value_.dims, out = value_.dims;
    const uint32_t n = Side(), k = value_.dims.back();
    rhs[rhs.size() - 2] = k;
    rhs.back() = out.back() = n;
    if (rhs.size() == 3 && Draw(3) == 0) {  // matrices that several others share
      rhs[0] = Draw(3) == 0 ? 2 * rhs[0] : rhs[0] % 2 == 0 && Draw(2) == 0 ? rhs[0] / 2 : 1;
      out[0] = std::max(rhs[0], out[0]);
    }
    const bool turned = Draw(3) == 0;
    if (turned) std::swap(rhs.back(), rhs[rhs.size() - 2]);
    const std::string weights = Draw(4) == 0 ? Widened(rhs) : Parameter(rhs);
    Set(Cat("matmul(", value_.name, ", ", turned ? Cat("transpose(", weights, ")") : weights, ")"), out);
  }

  // Weights as they are kept small.
  std::string Widened(const Dims& dims) {
    static constexpr std::array<const char*, 3> kTypes = {"s8", "bf16", "u8"};
    std::string narrow = Parameter(dims, kTypes[Draw(3)]);
    if (Draw(3) == 0)  // zero points
      narrow = Cat("sub(", Parameter(dims, "s8"), ", ", Parameter({dims.back()}, "u8"), ")");
    const std::string wide = Cat("cast(", narrow, ", f32)");
    switch (Draw(3)) {
      case 0:
        return wide;
      case 1:
        return Cat("mul(", wide, ", ", Parameter({dims.back()}), ")");
      default:
        return Cat("mul(", wide, ", ", Parameter({dims[dims.size() - 2], 1}), ")");
    }
  }

  void Unary() {
    static const std::vector<std::string_view> kOps = UnaryOperations();
    Set(Cat(kOps[Draw(static_cast<uint32_t>(kOps.size()))], "(", value_.name, ")"), value_.dims);
  }

  // Integers that are computed with before they are floats.
  std::string Integers(const Dims& dims) {
    static constexpr std::array<const char*, 5> kOps = {"add", "sub", "mul", "max", "min"};
    static constexpr std::array<const char*, 3> kTypes = {"s32", "s8", "u8"};
    const std::string sum = Cat(kOps[Draw(kOps.size())], "(", Parameter(dims, kTypes[Draw(3)]), ", ",
                                Parameter({dims.back()}, "s32"), ")");
    return Cat("cast(", Draw(2) == 0 ? Cat("relu(", sum, ")") : sum, ", f32)");
  }

  void Binary() {
    static constexpr std::array<const char*, 7> kOps = {"add", "sub", "mul", "max", "min", "add", "mul"};
    std::string other;
    switch (Draw(7)) {
      case 0:
        other = "0.75";
        break;
      case 5:
        other = Integers(value_.dims);
        break;
      case 1:
        other = Parameter({value_.dims.back()});
        break;
      case 2:
        other = Parameter({value_.dims[value_.dims.size() - 2], 1});
        break;
      case 3:
        other = Parameter({});
        break;
      case 4: {
        std::vector<Value> same;
        for (const Value& value : values_)
          if (value.dims == value_.dims) same.push_back(value);
        other = same[Draw(static_cast<uint32_t>(same.size()))].name;
        break;
      }
      default:
        other = Parameter(value_.dims, Draw(4) == 0 ? "bf16" : "f32");
    }
    std::string first = value_.name;
    if (Draw(4) == 0 && other != "0.75") std::swap(first, other);
    Set(Cat(kOps[Draw(kOps.size())], "(", first, ", ", other, ")"), value_.dims);
  }

  void Rowwise() {
    const Dims columns = {value_.dims.back()};
    switch (Draw(3)) {
      case 0:
        return Set(Cat("softmax(", value_.name, ")"), value_.dims);
      case 1: {
        const std::string scale = Parameter(columns), shift = Parameter(columns);
        return Set(Cat("layernorm(", value_.name, ", ", scale, ", ", shift, ")"), value_.dims);
      }
      default:
        return Set(Cat("rmsnorm(", value_.name, ", ", Parameter(columns), ")"), value_.dims);
    }
  }

  // Mostly used again.
  void Reduction() {
    static constexpr std::array<const char*, 3> kOps = {"sum", "max", "mean"};
    const Value before = value_;
    Dims dims = value_.dims;
    dims.back() = 1;
    Set(Cat("reduce_", kOps[Draw(3)], "(", value_.name, ", axis=", dims.size() - 1, ")"), dims);
    if (Draw(4) != 0) Set(Cat("sub(", before.name, ", ", value_.name, ")"), before.dims);
  }

  // Axes in another order, rows at indices, running sums, or the place of the largest beside each row.
  void Copied() {
    Dims dims = value_.dims;
    const std::string x = value_.name;
    const size_t axis = Draw(static_cast<uint32_t>(dims.size()));
    switch (Draw(5)) {
      case 0: {
        std::vector<size_t> order(dims.size());
        std::iota(order.begin(), order.end(), 0u);
        std::rotate(order.begin(), order.begin() + 1, order.end());
        std::rotate(dims.begin(), dims.begin() + 1, dims.end());
        return Set(Cat("permute(", x, ", [", absl::StrJoin(order, ","), "])"), dims);
      }
      case 1: {
        const Dims turned(dims.rbegin(), dims.rend());
        return Set(Cat("reshape(", x, ", [", absl::StrJoin(turned, ","), "])"), turned);
      }
      case 2:
        dims[axis] = Side();
        return Set(Cat("take(", x, ", ", Parameter({dims[axis]}, "s32"), ", axis=", axis, ")"), dims);
      case 3:
        return Set(Cat("cumsum(", x, ", axis=", axis, ")"), dims);
      default: {
        const Value before = value_;
        dims.back() = 1;
        Set(Cat("cast(argmax(", x, ", axis=", dims.size() - 1, "), f32)"), dims);
        return Set(Cat("mul(", before.name, ", ", value_.name, ")"), before.dims);
      }
    }
  }

  void Transpose() {
    Dims dims = value_.dims;
    std::swap(dims.back(), dims[dims.size() - 2]);
    Set(Cat("transpose(", value_.name, ")"), dims);
  }

  std::mt19937& random_;
  std::vector<std::string> parameters_, lines_;
  std::vector<Value> values_;
  Value value_;
};

}  // namespace

std::string RandomKernel(int operations, std::mt19937& random) {
  return KernelWriter(operations, random).Text();
}

std::string RandomConvolution(std::mt19937& random) {
  const auto draw = [&](uint32_t below) { return static_cast<uint32_t>(random() % below); };
  const bool nhwc = draw(2) == 0;
  const bool depthwise = draw(3) == 0;
  const uint32_t groups = depthwise      ? 1 + draw(40)
                          : draw(4) == 0 ? 1 + draw(4)
                                         : 1,
                 images = draw(5) == 0 ? 2 : 1;
  const size_t axes = draw(4) == 0 ? (draw(2) == 0 ? 1 : 3) : 2;
  const bool alike = draw(2) == 0;  // strides and dilations of all axes
  std::vector<uint32_t> kernel(axes), stride(axes), dilation(axes), pad(2 * axes), size(axes);
  std::fill(pad.begin(), pad.end(), draw(3));
  if (draw(3) == 0)
    for (uint32_t& around : pad) around = draw(3);
  for (size_t axis = 0; axis < axes; ++axis) {
    const bool inner = axis + 1 == axes;
    kernel[axis] = 1 + draw(axes == 3 ? 3 : 4);
    stride[axis] = alike && axis > 0 ? stride[0] : 1 + draw(3);
    dilation[axis] = alike && axis > 0 ? dilation[0] : draw(4) == 0 ? 2 : 1;
    const uint32_t pads = pad[axis] + pad[axes + axis], least = (kernel[axis] - 1) * dilation[axis] + 1;
    size[axis] = std::max(least, pads + 1) - pads + draw(axes == 3 ? (inner ? 9 : 4) : inner ? 30 : 14);
  }
  const uint32_t channels = depthwise ? groups : groups * (1 + draw(draw(2) == 0 ? 4 : 20)),
                 filters =
                     depthwise ? groups * (1 + draw(5) / 4) : groups * (1 + draw(draw(2) == 0 ? 5 : 40));
  const auto along = [](const std::vector<uint32_t>& numbers) { return absl::StrJoin(numbers, "x"); };
  return Cat("conv", axes, "d f32 ", images, "x", channels, "x", along(size), " filters=", filters,
             " kernel=", along(kernel), " stride=", along(stride), " pad=", absl::StrJoin(pad, ","),
             " dilation=", along(dilation), " groups=", groups,
             " layout=", kImageLayouts[axes - 1][nhwc ? 1 : 0]);
}

}  // namespace kirsch::testing
