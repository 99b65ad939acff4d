// SPDX-License-Identifier: Apache-2.0
// A slow evaluation of graphs, for the tests of bench/.
#ifndef KIRSCH_TESTS_TESTING_GRAPH_TESTING_H_
#define KIRSCH_TESTS_TESTING_GRAPH_TESTING_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "bench/workload/element.h"
#include "bench/workload/graph_peer.h"
#include "spec/element.h"
#include "spec/element_array.h"
#include "spec/graph/graph.h"
#include "spec/language/graph_parser.h"

namespace kirsch {

inline Graph GraphOf(const std::string& text) { return *ParseGraph(Split({text, {}}, '\n'), "test"); }

// Every value of a graph in float64, element by element, as spec/graph/graph.h defines them.
class SlowGraph {
 public:
  explicit SlowGraph(const KirschGraph& problem) : problem_(problem), graph_(problem.graph) {}

  std::vector<double> Result() {
    for (size_t node = 0; node < graph_.nodes.size(); ++node) {
      values_.emplace_back();
      std::vector<double> values;
      std::vector<int64_t> index(graph_.nodes[node].type.dims.size());
      for (int64_t i = 0; i < graph_.nodes[node].type.elements(); ++i) {
        int64_t rest = i;
        for (size_t axis = index.size(); axis-- > 0;) {
          index[axis] = rest % graph_.nodes[node].type.dims[axis];
          rest /= graph_.nodes[node].type.dims[axis];
        }
        values.push_back(Element(node, graph_.nodes[node], i, index));
      }
      values_.back() = std::move(values);
    }
    return values_[static_cast<size_t>(graph_.only_result())];
  }

 private:
  using Index = std::vector<int64_t>;

  // Of a smaller tensor the element that is repeated there; 0 outside.
  double At(int node, const Index& index) const {
    const TensorType& type = graph_.at(node).type;
    int64_t at = 0;
    for (size_t axis = 0; axis < type.dims.size(); ++axis) {
      const int64_t i = index[index.size() - type.dims.size() + axis];
      if (type.dims[axis] > 1 && (i < 0 || i >= type.dims[axis])) return 0;
      at = at * type.dims[axis] + (type.dims[axis] == 1 && i >= 0 ? std::min<int64_t>(i, 0) : i);
    }
    return values_[static_cast<size_t>(node)][static_cast<size_t>(at)];
  }

  double Element(size_t number, const GraphNode& node, int64_t flat, const Index& index) const {
    switch (Info(node.op).kind) {
      case OperationKind::kLeaf:
        return node.op == Operation::kNumber
                   ? node.number
                   : LoadElement(problem_.inputs[number], KirschTypeOf(node.type.dtype),
                                 static_cast<size_t>(flat));
      case OperationKind::kContraction:
        return node.op == Operation::kMatmul ? Product(node, index) : Convolution(node, index);
      case OperationKind::kTranspose: {
        Index swapped = index;
        std::swap(swapped[index.size() - 1], swapped[index.size() - 2]);
        return At(node.inputs[0], swapped);
      }
      case OperationKind::kCast:
        return Cast(node.type.dtype, At(node.inputs[0], index));
      case OperationKind::kElementwise:
        return Function(node, At(node.inputs[0], index),
                        node.inputs.size() > 1 ? At(node.inputs[1], index) : 0,
                        node.inputs.size() > 2 ? At(node.inputs[2], index) : 0);
      case OperationKind::kReduction:
        return Reduce(node, index);
      case OperationKind::kRowwise:
        return Row(node, index);
      case OperationKind::kAlongAxis:
        return node.op == Operation::kCumsum ? SumUpTo(node, index)
               : node.op == Operation::kTake ? Take(node, index)
                                             : Along(node, index);
      case OperationKind::kRearrange:
        return Rearranged(node, flat, index);
    }
    return 0;
  }

  static double Cast(Dtype to, double x) {
    const auto saturated = [x](double low, double high) { return std::clamp(std::nearbyint(x), low, high); };
    switch (to) {
      case Dtype::kBf16:
        return Widen(ToBf16(static_cast<float>(x)));
      case Dtype::kF16:
        return Widen(ToF16(static_cast<float>(x)));
      case Dtype::kU8:
        return saturated(0, 255);
      case Dtype::kS8:
        return saturated(-128, 127);
      case Dtype::kS16:
        return saturated(-32768, 32767);
      case Dtype::kS32:
        return saturated(INT32_MIN, INT32_MAX);
      default:
        return x;
    }
  }

  static double Function(const GraphNode& node, double a, double b, double c) {
    switch (node.op) {
      case Operation::kAdd:
        return a + b;
      case Operation::kSub:
        return a - b;
      case Operation::kMul:
        return a * b;
      case Operation::kDiv:
        return a / b;
      case Operation::kMax:
      case Operation::kMaxNum:
        return std::max(a, b);
      case Operation::kMin:
      case Operation::kMinNum:
        return std::min(a, b);
      case Operation::kNeg:
        return -a;
      case Operation::kSqrt:
        return std::sqrt(a);
      case Operation::kExp:
        return std::exp(a);
      case Operation::kTanh:
        return std::tanh(a);
      case Operation::kErf:
        return std::erf(a);
      case Operation::kSigmoid:
        return 1 / (1 + std::exp(-a));
      case Operation::kRelu:
        return std::max(a, 0.0);
      case Operation::kLeakyRelu:
        return std::max(a, 0.0) + double{node.number} * std::min(a, 0.0);
      case Operation::kGelu:
        return a / 2 * (1 + std::erf(a / std::sqrt(2.0)));
      case Operation::kGeluTanh:
        return a / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (a + 0.044715 * a * a * a)));
      case Operation::kHardswish:
        return a * std::clamp(a + 3, 0.0, 6.0) / 6;
      case Operation::kElu:
        return a > 0 ? a : double{node.number} * std::expm1(a);
      case Operation::kSoftplus:
        return std::log1p(std::exp(-std::abs(a))) + std::max(a, 0.0);
      case Operation::kSilu:
        return a / (1 + std::exp(-a));
      default:  // as its row says
        return MeaningOf(node.op, a, node.inputs.size() > 1 ? b : double{node.number}, c);
    }
  }

  double Product(const GraphNode& node, Index index) const {
    const int64_t k_size = graph_.at(node.inputs[0]).type.dims.back();
    double sum = 0;
    Index lhs = index, rhs = index;
    for (int64_t k = 0; k < k_size; ++k) {
      lhs.back() = k;
      rhs[index.size() - 2] = k;
      sum += At(node.inputs[0], lhs) * At(node.inputs[1], rhs);
    }
    return sum;
  }

  double Convolution(const GraphNode& node, const Index& index) const {
    const ConvolutionOptions& conv = node.conv;
    const bool nhwc = conv.layout == ImageLayout::kNhwc;
    const std::vector<uint32_t>&image = graph_.at(node.inputs[0]).type.dims,
          &filters = graph_.at(node.inputs[1]).type.dims;
    const size_t axes = index.size() - 2, unused = conv.axes.size() - axes;
    const size_t of_image = nhwc ? 1 : 2, of_kernel = nhwc ? 0 : 2;  // where their axes begin
    const bool transposed = IsTransposedConvolution(node.op);
    const size_t of_channel = nhwc ? axes : transposed ? 0 : 1, of_filter = nhwc ? axes + 1 : 1 - of_channel;
    const int64_t f = index[nhwc ? axes + 1 : 1], in_group = filters[of_channel],
                  group = f / (filters[of_filter] / conv.groups);
    Index at = index, tap(filters.size());
    double sum = 0;
    // The taps along `axis` and those behind it.
    const std::function<void(size_t)> visit = [&](size_t axis) {
      if (axis == axes) {
        for (int64_t c = 0; c < in_group; ++c) {
          at[nhwc ? axes + 1 : 1] = group * in_group + c;
          tap[of_channel] = c;
          tap[of_filter] = f;
          sum += At(node.inputs[0], at) * At(node.inputs[1], tap);
        }
        return;
      }
      const AxisOptions& options = conv.axes[unused + axis];
      for (int64_t k = 0; k < filters[of_kernel + axis]; ++k) {
        const int64_t out = index[of_image + axis], stride = options.stride;
        int64_t pixel = out * stride + k * options.dilation - int64_t{options.before};
        if (transposed) {
          pixel = out - k * options.dilation + int64_t{options.before};
          if (pixel % stride != 0) continue;
          pixel /= stride;
        }
        if (pixel < 0 || pixel >= image[of_image + axis]) continue;
        at[of_image + axis] = pixel;
        tap[of_kernel + axis] = k;
        visit(axis + 1);
      }
    };
    visit(0);
    return sum;
  }

  double Reduce(const GraphNode& node, const Index& index) const {
    const std::vector<uint32_t>& dims = graph_.at(node.inputs[0]).type.dims;
    double sum = 0, most = -std::numeric_limits<double>::infinity(), count = 0, place = 0;
    Index at = index;
    const std::function<void(size_t)> visit = [&](size_t axis) {
      if (axis == node.axes.size()) {
        double x = At(node.inputs[0], at);
        if (node.op == Operation::kArgmin) x = -x;
        sum += x;
        if (x > most) place = count;
        most = std::max(most, x);
        ++count;
        return;
      }
      for (at[node.axes[axis]] = 0; at[node.axes[axis]] < dims[node.axes[axis]]; ++at[node.axes[axis]])
        visit(axis + 1);
    };
    visit(0);
    if (IsPlace(node.op)) return place;
    return node.op == Operation::kReduceMax ? most : node.op == Operation::kReduceMean ? sum / count : sum;
  }

  double SumUpTo(const GraphNode& node, Index index) const {
    double sum = 0;
    int64_t& along = index[node.axes[0]];
    for (; along >= 0; --along) sum += At(node.inputs[0], index);
    return sum;
  }

  double Take(const GraphNode& node, Index index) const {
    const size_t axis = node.axes[0];
    Index place(index.begin(), index.begin() + static_cast<std::ptrdiff_t>(axis) + 1);
    const auto at = static_cast<int64_t>(At(node.inputs[1], place));
    index[axis] = std::clamp<int64_t>(at, 0, graph_.at(node.inputs[0]).type.dims[axis] - 1);
    return At(node.inputs[0], index);
  }

  double Rearranged(const GraphNode& node, int64_t flat, const Index& index) const {
    if (node.op == Operation::kBroadcast) return At(node.inputs[0], index);
    if (node.op == Operation::kReshape)
      return values_[static_cast<size_t>(node.inputs[0])][static_cast<size_t>(flat)];
    Index from(index.size());
    for (size_t axis = 0; axis < index.size(); ++axis) from[node.axes[axis]] = index[axis];
    return At(node.inputs[0], from);
  }

  double Along(const GraphNode& node, Index index) const {
    const uint32_t axis = node.axes[0];
    const int64_t size = graph_.at(node.inputs[0]).type.dims[axis], to = index[axis];
    double made = node.op == Operation::kWindowMax ? -std::numeric_limits<double>::infinity() : node.number;
    for (int64_t tap = 0; tap < int64_t{node.along.size}; ++tap) {
      index[axis] = node.along.from + to * node.along.steps.stride + tap * node.along.steps.dilation -
                    int64_t{node.along.steps.before};
      if (node.op == Operation::kConcat && to >= size) {
        index[axis] -= size;
        return At(node.inputs[1], index);
      }
      if (index[axis] < 0 || index[axis] >= size) continue;
      const double x = At(node.inputs[0], index);
      made = node.op == Operation::kWindowMax ? std::max(made, x) : IsWindow(node.op) ? made + x : x;
    }
    return made;
  }

  double Row(const GraphNode& node, const Index& index) const {
    Index at = index;
    std::vector<double> row;
    for (at.back() = 0; at.back() < node.type.dims.back(); ++at.back()) row.push_back(At(node.inputs[0], at));
    const double x = At(node.inputs[0], index), count = static_cast<double>(row.size());
    double most = row[0], sum = 0, squares = 0;
    for (double value : row) most = std::max(most, value);
    if (node.op == Operation::kSoftmax) {
      for (double value : row) sum += std::exp(value - most);
      return std::exp(x - most) / sum;
    }
    for (double value : row) sum += value;
    const double mean = node.op == Operation::kLayernorm ? sum / count : 0;
    for (double value : row) squares += (value - mean) * (value - mean);
    const double y =
        (x - mean) / std::sqrt(squares / count + double{node.number}) * At(node.inputs[1], index);
    return node.op == Operation::kLayernorm ? y + At(node.inputs[2], index) : y;
  }

  const KirschGraph& problem_;
  const Graph& graph_;
  std::vector<std::vector<double>> values_;
};

}  // namespace kirsch

#endif  // KIRSCH_TESTS_TESTING_GRAPH_TESTING_H_
