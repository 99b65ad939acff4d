// SPDX-License-Identifier: Apache-2.0
#include "bench/loops/loops.h"

#include <cmath>
#include <cstdint>
#include <vector>

#include "absl/strings/str_format.h"
#include "bench/loops/loops_writer.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

// Prints the loops of one node after the other.
class NestPrinter {
 public:
  explicit NestPrinter(LoopsWriter& writer) : writer_(writer), graph_(writer.graph()) {}

  // Every kind of operation has loops of its own form.
  void Compute(int node) {
    switch (Info(graph_.at(node).op).kind) {
      case OperationKind::kContraction:
        return ComputeContraction(writer_, node);
      case OperationKind::kReduction:
        return IsPlace(graph_.at(node).op) ? ComputePlace(node) : ComputeReduction(node);
      case OperationKind::kRowwise:
        return ComputeRows(node);
      case OperationKind::kAlongAxis:
        return graph_.at(node).op == Operation::kCumsum ? ComputeCumsum(node)
               : graph_.at(node).op == Operation::kTake ? ComputeTake(node)
                                                        : ComputeAlongAxis(node);
      case OperationKind::kRearrange:
        return ComputeRearranged(node);
      default:
        return ComputePointwise(node);
    }
  }

  // Copies a result, by its number, to the output. It is called if the result has no loops of its own, as a
  // transpose has none.
  void CopyResult(size_t result) {
    const int value = graph_.results[result].value;
    const GraphNode& of = graph_.at(value);
    const std::vector<uint32_t>& dims = of.type.dims;
    const std::string type = CType(of.type.dtype, false);
    Names index = writer_.OpenLoops(dims, dims.size());
    writer_.Line(Cat("((", type, "*)results[", result, "])[", AtPlain(of.type, index),
                     "] = ", writer_.Element(writer_.ViewOf(value), index), ";"));
    writer_.Close();
  }

  // The index of an element of a tensor with the type's own strides.
  static std::string AtPlain(const TensorType& type, const Names& index) {
    const std::vector<int64_t> strides = type.Strides();
    std::string at = "0";
    for (size_t axis = 0; axis < index.size(); ++axis)
      Append(&at, " + (", index[axis], ") * ", strides[axis]);
    return at;
  }

  // Prints an elementwise operation or a cast, with those that are inlined in it. The last axis is the inner
  // loop.
  void ComputePointwise(int node) {
    const GraphNode& of = graph_.at(node);
    const std::vector<uint32_t>& dims = of.type.dims;
    const size_t outer = dims.empty() ? 0 : dims.size() - 1;
    const bool one_row = of.type.elements() == (dims.empty() ? 1 : dims.back());
    // A tensor of one row has no outer loop that threads could share, so they share the row.
    if (!one_row) {
      writer_.OpenLoops(dims, outer);
    } else {
      writer_.Open("");
      if (writer_.parallel() && !dims.empty()) writer_.Line("#pragma omp parallel for");
    }
    Names index(dims.size(), "0");
    for (size_t axis = 0; axis < outer; ++axis)
      if (dims[axis] > 1) index[axis] = Cat("i", axis);
    if (!dims.empty()) {
      index.back() = std::string("j");
      if (!(one_row && writer_.parallel())) writer_.Vectors();
      writer_.Line(writer_.For("j", dims.back()));
    }
    writer_.Line(Cat("  ", writer_.Element(writer_.ViewOf(node), index), " = ",
                     Stored(of, writer_.Pointwise(of, index)), ";"));
    writer_.Close();
  }

  // Prints a sum, a mean or a maximum. The reduced axes are inside, but the last axis is innermost, whether
  // it is reduced or not, so that memory is read in its order.
  void ComputeReduction(int node) {
    const GraphNode& of = graph_.at(node);
    const int input = of.inputs[0];
    const std::vector<uint32_t>& dims = graph_.at(input).type.dims;
    std::vector<bool> reduced(dims.size());
    double count = 1;
    for (uint32_t axis : of.axes) {
      reduced[axis] = true;
      count *= dims[axis];
    }
    const size_t last = dims.size() - 1;
    // The outer loops go over the axes that are kept.
    std::vector<uint32_t> kept = dims;
    for (size_t axis = 0; axis < last; ++axis)
      if (reduced[axis]) kept[axis] = 1;
    Names index = writer_.OpenLoops(kept, last);
    index.push_back("0");
    const bool is_max = of.op == Operation::kReduceMax;
    const std::string start = is_max ? "-HIGHEST" : "0";
    Names out = index;
    if (!reduced[last]) out[last] = std::string("j");
    const std::string element = writer_.Element(writer_.ViewOf(node), out),
                      inner = writer_.For("j", dims[last]);
    // If the last axis is reduced, the sum is a scalar; else the sums are a row of the output, which begins
    // as such.
    if (reduced[last])
      writer_.Line(Cat("real sum = ", start, ";"));
    else
      writer_.Line(Cat(inner, " ", element, " = ", start, ";"));
    // Then the loops over the other reduced axes.
    for (size_t axis = 0; axis < last; ++axis) {
      if (!reduced[axis] || dims[axis] == 1) continue;
      index[axis] = Cat("r", axis);
      writer_.Line(writer_.For(index[axis], dims[axis]));
    }
    index[last] = std::string("j");
    const std::string to = reduced[last] ? "sum" : element;
    const std::string value = writer_.Value(input, index);
    // The innermost loop adds to the scalar, or to the row.
    writer_.Open(inner);
    writer_.Line(is_max ? Cat("const real x = ", value, "; ", to, " = x > ", to, " ? x : ", to, ";")
                        : Cat(to, " += ", value, ";"));
    writer_.Close();
    // A mean is a sum that is divided at the end.
    const std::string scale = of.op == Operation::kReduceMean ? absl::StrFormat(" / (real)%.0f", count) : "";
    if (reduced[last])
      writer_.Line(Cat(element, " = sum", scale, ";"));
    else if (!scale.empty())
      writer_.Line(Cat(inner, " ", element, " = ", element, scale, ";"));
    writer_.Close();
  }

  // Prints a slice, a concatenation, a pad or windows: for each element a loop over the elements that it is
  // made of, of which a copy has one.
  void ComputeAlongAxis(int node) {
    const GraphNode& of = graph_.at(node);
    const std::vector<uint32_t>& dims = of.type.dims;
    const size_t axis = of.axes.front();
    const uint32_t size = graph_.at(of.inputs[0]).type.dims[axis];
    const AxisOptions& steps = of.along.steps;
    Names index = writer_.OpenLoops(dims, dims.size());
    const std::string element = writer_.Element(writer_.ViewOf(node), index), to = index[axis];
    const bool greatest = of.op == Operation::kWindowMax;
    const double around = NumberAround(of);
    const std::string type = IsFloating(of.type.dtype) ? "real" : "int32_t";
    writer_.Line(Cat(
        type, " made = (", type, ")",
        std::isinf(around) ? around < 0 ? "-INFINITY" : "INFINITY" : absl::StrFormat("%.17g", around), ";"));
    writer_.Open(writer_.For("tap", of.along.size));
    writer_.Line(Cat("const ptrdiff_t at = ", int64_t{of.along.from} - int64_t{steps.before}, " + (", to,
                     ") * ", steps.stride, " + tap * ", steps.dilation, ";"));
    index[axis] = std::string("at");
    const std::string x = writer_.Value(of.inputs[0], index);
    writer_.Line(Cat("if (at >= 0 && at < ", size, ") ",
                     greatest          ? Cat("{ const ", type, " x = ", x, "; made = x > made ? x : made; }")
                     : IsWindow(of.op) ? Cat("made += ", x, ";")
                                       : Cat("made = ", x, ";")));
    if (of.inputs.size() > 1) {
      index[axis] = Cat("at - ", size);
      writer_.Line(Cat("if (at >= ", size, ") made = ", writer_.Value(of.inputs[1], index), ";"));
    }
    writer_.Close();
    writer_.Line(Cat(element, " = ", Stored(of, "made"), ";"));
    writer_.Close();
  }

  // Prints the place of the largest or the smallest along an axis.
  void ComputePlace(int node) {
    const GraphNode& of = graph_.at(node);
    const size_t axis = of.axes.front();
    Names index = writer_.OpenLoops(of.type.dims, of.type.dims.size());
    const std::string element = writer_.Element(writer_.ViewOf(node), index);
    writer_.Line("int32_t place = 0;");
    writer_.Line("real most = -HIGHEST;");
    index[axis] = std::string("at");
    const char* const sign = of.op == Operation::kArgmin ? "-" : "";
    writer_.Open(writer_.For("at", graph_.at(of.inputs[0]).type.dims[axis]));
    writer_.Line(Cat("const real x = ", sign, "(", writer_.Value(of.inputs[0], index), ");"));
    writer_.Line("if (x > most) { most = x; place = (int32_t)at; }");
    writer_.Close();
    writer_.Line(Cat(element, " = place;"));
    writer_.Close();
  }

  // Prints running sums, each from its beginning: plain, not fast.
  void ComputeCumsum(int node) {
    const GraphNode& of = graph_.at(node);
    const size_t axis = of.axes.front();
    Names index = writer_.OpenLoops(of.type.dims, of.type.dims.size());
    const std::string element = writer_.Element(writer_.ViewOf(node), index), to = index[axis];
    writer_.Line(Cat(IsFloating(of.type.dtype) ? "real" : "int32_t", " made = 0;"));
    index[axis] = std::string("at");
    writer_.Line(Cat("for (ptrdiff_t at = 0; at <= (ptrdiff_t)(", to,
                     "); ++at) made += ", writer_.Value(of.inputs[0], index), ";"));
    writer_.Line(Cat(element, " = ", Stored(of, "made"), ";"));
    writer_.Close();
  }

  void ComputeTake(int node) {
    const GraphNode& of = graph_.at(node);
    const size_t axis = of.axes.front();
    const std::vector<uint32_t>& of_indices = graph_.at(of.inputs[1]).type.dims;
    Names index = writer_.OpenLoops(of.type.dims, of.type.dims.size());
    const std::string element = writer_.Element(writer_.ViewOf(node), index);
    Names place;
    for (size_t i = axis + 1 - of_indices.size(); i <= axis; ++i) place.push_back(index[i]);
    writer_.Line(Cat("const ptrdiff_t given = ", writer_.Value(of.inputs[1], place),
                     ", last = ", graph_.at(of.inputs[0]).type.dims[axis] - 1, ";"));
    index[axis] = std::string("(given < 0 ? 0 : given > last ? last : given)");
    writer_.Line(Cat(element, " = ", Stored(of, writer_.Value(of.inputs[0], index)), ";"));
    writer_.Close();
  }

  // Prints a copy: for each element of the result, where it is in the input.
  void ComputeRearranged(int node) {
    const GraphNode& of = graph_.at(node);
    const std::vector<uint32_t>&from = graph_.at(of.inputs[0]).type.dims, &to = of.type.dims;
    Names index = writer_.OpenLoops(to, to.size());
    Names source(from.size(), "0");
    if (of.op == Operation::kPermute) {
      for (size_t axis = 0; axis < to.size(); ++axis) source[of.axes[axis]] = index[axis];
    } else if (of.op == Operation::kBroadcast) {
      for (size_t axis = 0; axis < from.size(); ++axis)
        if (from[axis] > 1) source[axis] = index[to.size() - from.size() + axis];
    } else {
      std::string place = "0";
      for (size_t axis = 0; axis < to.size(); ++axis)
        place = Cat("(", place, ") * ", to[axis], " + (", index[axis], ")");
      writer_.Line(Cat("const size_t place = ", place, ";"));
      for (size_t axis = from.size(), inner = 1; axis-- > 0; inner *= from[axis])
        source[axis] = Cat("place / ", inner, " % ", from[axis]);
    }
    const std::string element = writer_.Element(writer_.ViewOf(node), index);
    writer_.Line(Cat(element, " = ", Stored(of, writer_.Value(of.inputs[0], source)), ";"));
    writer_.Close();
  }

  // Prints softmax, layernorm or rmsnorm: several loops along a row.
  void ComputeRows(int node) {
    const GraphNode& of = graph_.at(node);
    const std::vector<uint32_t>& dims = of.type.dims;
    Names index = writer_.OpenLoops(dims, dims.size() - 1);
    index.push_back("j");
    const std::string loop = writer_.For("j", dims.back());
    const std::string x = writer_.Value(of.inputs[0], index),
                      y = writer_.Element(writer_.ViewOf(node), index);
    const auto operand = [&](size_t i) { return writer_.Value(of.inputs[i], index); };
    const std::string eps = absl::StrFormat("(real)%.9g", of.number);
    // The maximum is subtracted first, so that no exponential overflows. The output holds the exponentials in
    // between.
    if (of.op == Operation::kSoftmax) {
      writer_.Line(Cat("real most = -HIGHEST, sum = 0;"));
      writer_.Line(Cat(loop, " { const real x = ", x, "; most = x > most ? x : most; }"));
      writer_.Line(Cat(loop, " { const real e = M(exp)(", x, " - most); ", y, " = e; sum += e; }"));
      writer_.Line("const real scale = 1 / sum;");
      writer_.Line(Cat(loop, " ", y, " *= scale;"));
      return writer_.Close();
    }
    // A layernorm subtracts the mean; for an rmsnorm the mean stays 0.
    const bool centred = of.op == Operation::kLayernorm;
    // The sum of squares is of differences to the mean, in a loop of its own, which is more exact than a sum
    // of squares.
    writer_.Line("real mean = 0, squares = 0;");
    if (centred) writer_.Line(Cat(loop, " mean += ", x, ";"));
    writer_.Line(Cat("mean /= ", dims.back(), ";"));
    writer_.Line(Cat(loop, " { const real d = ", x, " - mean; squares += d * d; }"));
    writer_.Line(Cat("const real scale = 1 / M(sqrt)(squares / ", dims.back(), " + ", eps, ");"));
    writer_.Line(Cat(loop, " ", y, " = (", x, " - mean) * scale * ", operand(1),
                     centred ? Cat(" + ", operand(2)) : "", ";"));
    writer_.Close();
  }

 private:
  // A value as it is stored: bf16 has no type in C, so it is rounded by hand.
  std::string Stored(const GraphNode& node, const std::string& value) const {
    return node.type.dtype == Dtype::kBf16 ? Cat("to_bf16(", value, ")") : value;
  }

  LoopsWriter& writer_;
  const Graph& graph_;
};

}  // namespace

LoopsCode PrintLoops(const Graph& graph, LoopsKind kind, bool parallel) {
  LoopsWriter writer(graph, kind, parallel);
  const int count = static_cast<int>(graph.nodes.size());
  // First a pointer for each value in memory, then the loops in the order of the graph.
  for (int node = 0; node < count; ++node) writer.Declare(node);
  NestPrinter nests(writer);
  for (int node = 0; node < count; ++node)
    if (writer.HasLoops(node)) nests.Compute(node);
  for (size_t i = 0; i < graph.results.size(); ++i)
    if (!writer.HasLoops(graph.results[i].value)) nests.CopyResult(i);
  return std::move(writer).Finish();
}

}  // namespace kirsch
