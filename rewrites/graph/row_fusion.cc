// SPDX-License-Identifier: Apache-2.0
#include "rewrites/graph/row_fusion.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "rewrites/graph/along_axis.h"
#include "spec/check.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

// Writes the graph's operations as values of a row program. Composed operations, as norms, are defined here
// once for all kernels.
class RowWriter {
 public:
  RowWriter(const Graph& graph, const IterationSpace& space) : graph_(graph), space_(space) {
    fused_.program.reduces_rows = space.reduces_rows;
  }

  // Writes all of them, in their order. First it notes which inputs are wanted as they are: an integer that
  // is only ever used as a float is loaded as one.
  void Add(const std::vector<int>& nodes) {
    for (int node : nodes)
      for (int input : graph_.at(node).inputs)
        if (!BecomesReal(node)) exact_.insert(input);
    for (int node : nodes) values_[node] = Write(node);
  }

  // Makes the node's value a result of the program, in the node's type.
  void Return(int node) {
    fused_.program.results.push_back({ValueNumber(node), graph_.at(node).type.dtype});
    fused_.results.push_back(node);
  }

  FusedRows Build() && { return std::move(fused_); }
  const std::string& error() const { return error_; }

 private:
  // These append a value, or find an equal one, and return its number.
  int Do(Operation op, int a, int b = -1, int c = -1) { return Push(ValueOf(fused_.program, op, a, b, c)); }
  int Number(double number, Dtype type) {
    return Push(
        {Operation::kNumber, -1, -1, -1, type == Dtype::kF32 ? static_cast<float>(number) : number, type});
  }
  // A number of the type of a value that it meets.
  int NumberBeside(int value, double number) { return Number(number, At(value).type); }
  int LoadOf(int input, Dtype type) { return Push({Operation::kLoad, -1, -1, input, 0, type}); }
  const RowValue& At(int value) const { return fused_.program.values[static_cast<size_t>(value)]; }
  // Equal values are made once.
  int Push(const RowValue& value) {
    std::vector<RowValue>& values = fused_.program.values;
    const auto known = std::ranges::find(values, value);
    if (known != values.end()) return static_cast<int>(known - values.begin());
    values.push_back(value);
    return static_cast<int>(values.size()) - 1;
  }

  // Returns the value that stands for a node. What the program does not make itself is loaded.
  int ValueNumber(int node) {
    if (const auto known = values_.find(node); known != values_.end()) return known->second;
    const GraphNode& at = graph_.at(node);
    if (at.op == Operation::kNumber) return Number(at.number, at.type.dtype);
    return values_[node] = Load(node, AccumulatorOf(at.type.dtype));
  }

  // True if the operation is a cast from integers to floats.
  bool BecomesReal(int node) const {
    const GraphNode& at = graph_.at(node);
    return at.op == Operation::kCast && IsFloating(at.type.dtype) &&
           !IsFloating(graph_.at(at.inputs[0]).type.dtype);
  }
  // True if the operation is a cast from narrower floats to f64.
  bool BecomesWide(int node) const {
    const GraphNode& at = graph_.at(node);
    return at.op == Operation::kCast && at.type.dtype == Dtype::kF64 &&
           graph_.at(at.inputs[0]).type.dtype != Dtype::kF64;
  }
  // Returns an integer node as an f32. An input that nobody wants as an integer is converted where it is
  // loaded.
  int RealOf(int node) {
    if (values_.contains(node) || exact_.contains(node)) return Do(Operation::kF32, ValueNumber(node));
    return LoadedAs(node, Dtype::kF32);
  }
  // A node that is loaded as another type than its own: that of a cast that reads it.
  int LoadedAs(int node, Dtype type) {
    const auto [real, is_new] = reals_.try_emplace(node, -1);
    if (is_new) real->second = Load(node, type);
    return real->second;
  }

  // Adds an input. Its strides say whether it has an element for each column, for each row, for both, or one.
  int Load(int node, Dtype type) { return Load(node, graph_.at(node).type, type); }
  // The same of what lies as `stored` says: a slice in its input.
  int Load(int node, const TensorType& stored, Dtype type) {
    const std::optional<MatrixStrides> strides = StridesIn(space_, stored);
    if (!strides)
      error_ = Cat("no rows for ", PrintTensorType(stored), " that is repeated along some axes only");
    const bool columns = strides && strides->column != 0, rows = strides && strides->row != 0;
    const int input = static_cast<int>(fused_.inputs.size());
    fused_.inputs.push_back(node);
    fused_.program.inputs.push_back({stored.dtype, columns, rows});
    return LoadOf(input, type);
  }

  // An algebra of spec/composition.h that writes row values, for ComposeArithmetic. Fma is two values: row
  // programs don't round a product that is only added.
  struct Math {
    RowWriter& writer;
    Dtype type;
    int Number(double number) { return writer.Number(number, type); }
    int Add(int a, int b) { return writer.Do(Operation::kAdd, a, b); }
    int Sub(int a, int b) { return writer.Do(Operation::kSub, a, b); }
    int Mul(int a, int b) { return writer.Do(Operation::kMul, a, b); }
    int Max(int a, int b) { return writer.Do(Operation::kMaxNum, a, b); }
    int Min(int a, int b) { return writer.Do(Operation::kMinNum, a, b); }
    int EitherNan(int, int) { KIRSCH_BUG("one instruction is no composition"); }
    int Fma(int a, int b, int c) { return Add(Mul(a, b), c); }
  };

  // Returns how many elements make one: those of a row, or of all axes that are reduced.
  double Length(const GraphNode& node) const {
    const TensorType& input = graph_.at(node.inputs[0]).type;
    if (Info(node.op).kind != OperationKind::kReduction) return input.dims.back();
    return static_cast<double>(input.elements() / node.type.elements());
  }

  // Writes an operation whose inputs have been written, and returns its value.
  int Write(int number) {
    const GraphNode& node = graph_.at(number);
    if (node.op == Operation::kSlice)
      return Load(number, ViewOfSlice(graph_, number).type, AccumulatorOf(node.type.dtype));
    if (BecomesReal(number)) return RealOf(node.inputs[0]);
    if (BecomesWide(number)) return LoadedAs(node.inputs[0], Dtype::kF64);
    std::vector<int> in;
    for (int input : node.inputs) in.push_back(ValueNumber(input));
    const int x = in[0];
    if (Info(node.op).kind == OperationKind::kElementwise) return Elementwise(node, in);
    switch (node.op) {
      case Operation::kCast:
        return x;
      case Operation::kReduceSum:
        return Do(Operation::kSum, x);
      case Operation::kReduceMax:
        return Greatest(x);
      case Operation::kReduceMean:
        return Mean(node, x);
      case Operation::kArgmax:
        return PlaceOfGreatest(x);
      case Operation::kArgmin:
        return PlaceOfGreatest(Do(Operation::kNeg, x));
      case Operation::kSoftmax:
        return Softmax(x, IsOfAttention(graph_, number));
      case Operation::kLayernorm:
        return Do(Operation::kAdd, Do(Operation::kMul, Standardised(node, x), in[1]), in[2]);
      case Operation::kRmsnorm:
        return Do(Operation::kMul, Normalised(node, x), in[1]);
      default:
        break;
    }
    KIRSCH_BUG("does not go by rows");
  }

  // Writes an elementwise operation: as one value where row programs have it, else as its composition.
  int Elementwise(const GraphNode& node, const std::vector<int>& in) {
    const OperationInfo& info = Info(node.op);
    const int y = in.size() > 1 ? in[1] : info.operands() == 2 ? Number(node.number, node.type.dtype) : -1;
    const int z = in.size() > 2 ? in[2] : -1;
    const Dtype type = node.type.dtype;
    if (IsChoice(node.op) || (info.latency != LatencyClass::kFewInstructions && IsFloating(type)))
      return Do(node.op, in[0], y, z);
    Math math{*this, type};
    return ComposeArithmetic(math, node.op, in[0], y);
  }

  // The largest of a row, or a NaN if one is in it. Row programs' maximum passes over NaNs. So a zero is
  // added that is a NaN if the sum of the squares is one.
  int Greatest(int x) {
    const int squares = Do(Operation::kSum, Do(Operation::kMul, x, x));
    return Do(Operation::kAdd, Do(Operation::kMaximum, x),
              Do(Operation::kMinNum, NumberBeside(x, 0), squares));
  }

  // The first place where x is the largest, or no number if some x is none: the largest of -place there.
  int PlaceOfGreatest(int x) {
    const int is = Do(Operation::kSelect, Do(Operation::kEqual, x, x), Do(Operation::kEqual, x, Greatest(x)),
                      NumberBeside(x, 1));
    const int place = Push({Operation::kIndex});
    const int least = Do(Operation::kSelect, is, Do(Operation::kNeg, place),
                         NumberBeside(x, -std::numeric_limits<double>::infinity()));
    return Do(Operation::kNeg, Do(Operation::kMaximum, least));
  }

  // exp(x - maximum) / sum of it. In attention, a row that is -inf throughout gives zeros: the maximum and
  // the sum have bounds, so that nothing is inf - inf or divided by 0.
  int Softmax(int x, bool of_attention) {
    const bool wide = At(x).type == Dtype::kF64;
    const auto bounded = [&](double least, int value) {
      return of_attention ? Do(Operation::kMaxNum, NumberBeside(x, least), value) : value;
    };
    const double lowest = wide ? std::numeric_limits<double>::lowest() : std::numeric_limits<float>::lowest(),
                 least = wide ? std::numeric_limits<double>::min() : std::numeric_limits<float>::min();
    const int maximum = bounded(lowest, Do(Operation::kMaximum, x));
    const int exp = Do(Operation::kExp, Do(Operation::kSub, x, maximum));
    const int sum = bounded(least, Do(Operation::kSum, exp));
    return Do(Operation::kMul, exp, Do(Operation::kDiv, NumberBeside(x, 1), sum));
  }

  int Mean(const GraphNode& node, int x) {
    return Do(Operation::kMul, Do(Operation::kSum, x), NumberBeside(x, 1 / Length(node)));
  }

  // Returns the value for the row's first element: the same operations on an input that is loaded once for
  // the row.
  int First(int value) {
    const RowValue v = fused_.program.values[static_cast<size_t>(value)];
    if (v.op == Operation::kNumber || Info(v.op).reduces) return value;
    const auto first_of = [this](int argument) { return argument < 0 ? -1 : First(argument); };
    if (v.op != Operation::kLoad) return Do(v.op, First(v.a), first_of(v.b), first_of(v.c));
    const RowInput input = fused_.program.inputs[static_cast<size_t>(v.input)];
    if (!input.along_columns) return value;
    const auto [first, is_new] = firsts_.try_emplace(value, -1);
    if (is_new) {
      first->second = LoadOf(static_cast<int>(fused_.inputs.size()), v.type);
      fused_.inputs.push_back(fused_.inputs[static_cast<size_t>(v.input)]);
      fused_.program.inputs.push_back({input.dtype, false, input.along_rows});
    }
    return first->second;
  }

  // 1 / the largest magnitude of a row, so that squares neither overflow nor all underflow.
  int ScaleOf(int x) {
    constexpr double kLeast = 0x1p-50;  // what is less is small beside any eps but the smallest
    const int largest = Do(Operation::kMaximum, Do(Operation::kAbs, x));
    return Do(Operation::kDiv, NumberBeside(x, 1), Do(Operation::kMaxNum, largest, NumberBeside(x, kLeast)));
  }
  // scale / sqrt(mean of scaled^2 + scale^2 * eps)
  int FactorOf(const GraphNode& node, int scaled, int scale, double eps) {
    const int squares = Do(Operation::kSum, Do(Operation::kMul, scaled, scaled));
    const int added = Do(Operation::kMul, Do(Operation::kMul, scale, scale), NumberBeside(scale, eps));
    const int mean =
        Do(Operation::kAdd, Do(Operation::kMul, squares, NumberBeside(scale, 1 / Length(node))), added);
    return Do(Operation::kDiv, scale, Do(Operation::kSqrt, mean));
  }
  // x / sqrt(mean of x^2 + eps)
  int Normalised(const GraphNode& node, int x) {
    const int scale = ScaleOf(x);
    return Do(Operation::kMul, x, FactorOf(node, Do(Operation::kMul, x, scale), scale, node.number));
  }
  // The same of x - mean. The mean is that of the differences from the first element, which are exact where x
  // varies little. They are of halves of x, so that they don't overflow; eps is a fourth then. The sum is of
  // quotients, for the same reason.
  int Standardised(const GraphNode& node, int x) {
    const int half = NumberBeside(x, 0.5);
    const int y = Do(Operation::kSub, Do(Operation::kMul, x, half), Do(Operation::kMul, First(x), half));
    const int mean = Do(Operation::kSum, Do(Operation::kMul, y, NumberBeside(x, 1 / Length(node)))),
              scale = ScaleOf(y);
    const auto centred = [&](int factor) {
      return Do(Operation::kSub, Do(Operation::kMul, y, factor), Do(Operation::kMul, mean, factor));
    };
    return centred(FactorOf(node, centred(scale), scale, node.number / 4));
  }

  const Graph& graph_;
  const IterationSpace& space_;
  std::map<int, int> values_;  // of nodes
  std::map<int, int> reals_;   // of nodes that are loaded as the type of a cast
  std::set<int> exact_;        // nodes that are wanted as they are, not only as f32s
  std::map<int, int> firsts_;  // of loads: those of the first element
  FusedRows fused_;
  std::string error_;
};

}  // namespace

std::optional<ReducedAxes> FindReducedAxes(const Graph& graph, int node) {
  const GraphNode& at = graph.at(node);
  if (Info(at.op).kind == OperationKind::kRowwise) return ReducedAxes{};
  if (Info(at.op).kind != OperationKind::kReduction) return std::nullopt;
  const size_t rank = graph.at(at.inputs[0]).type.dims.size();
  // Every axis between the first and the last one has to be reduced, too.
  const auto [least, most] = std::ranges::minmax_element(at.axes);
  for (uint32_t axis = *least; axis <= *most; ++axis)
    if (std::ranges::find(at.axes, axis) == at.axes.end()) return std::nullopt;
  return ReducedAxes{rank - *least, rank - *most - 1};
}

bool GoesByRows(const Graph& graph, int node) {
  const GraphNode& at = graph.at(node);
  switch (Info(at.op).kind) {
    case OperationKind::kCast:
    case OperationKind::kElementwise:
    case OperationKind::kRowwise:
      return true;
    case OperationKind::kReduction:
      return FindReducedAxes(graph, node).has_value();
    default:
      return false;
  }
}

bool GoesAlongRows(const Graph& graph, int node) {
  return GoesByRows(graph, node) && FindReducedAxes(graph, node).value_or(ReducedAxes{}) == ReducedAxes{};
}

bool IsNarrowed(const Graph& graph, int node) {
  const GraphNode& at = graph.at(node);
  if (IsPlace(at.op)) return true;
  if (at.op != Operation::kCast || at.type.dtype == Dtype::kF64) return false;
  const Dtype from = graph.at(at.inputs[0]).type.dtype;
  if (at.type.dtype == Dtype::kF32) return from == Dtype::kF64;
  return at.type.dtype != Dtype::kS32 || IsFloating(graph.at(at.inputs[0]).type.dtype);
}

FusedRows FuseRows(const GraphUses& uses, const std::vector<int>& nodes, const std::vector<int>& wanted,
                   const IterationSpace& space, std::string* error) {
  RowWriter writer(uses.graph(), space);
  writer.Add(nodes);
  for (int node : wanted) writer.Return(node);
  *error = writer.error();
  FusedRows fused = std::move(writer).Build();
  // Vectors of f64 have other lanes than those of words.
  const Dtype real = RealOf(fused.program);
  const bool mixed =
      std::ranges::any_of(fused.program.values, [&](const RowValue& value) { return value.type != real; });
  if (real == Dtype::kF64 && mixed) *error = "no values of f64 and of other types in one program";
  return fused;
}

}  // namespace kirsch
