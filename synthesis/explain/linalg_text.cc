// SPDX-License-Identifier: Apache-2.0
#include "synthesis/explain/linalg_text.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "spec/language/plan_schedule.h"
#include "spec/text/cat.h"
#include "spec/text/status_macros.h"
#include "spec/text/text.h"

namespace kirsch {
namespace {

// An elementwise operation as lines of a body: $x and $y are its operands, $r its result, $t names of its
// own, $f the type. Constants are $c(NUMBER).
struct BodyRow {
  Operation op;
  std::string_view lines;
};

// As import/idioms.cc reads them back.
constexpr BodyRow kBodies[] = {
    {Operation::kAdd, "$r = arith.addf $x, $y : $f\n"},
    {Operation::kSub, "$r = arith.subf $x, $y : $f\n"},
    {Operation::kMul, "$r = arith.mulf $x, $y : $f\n"},
    {Operation::kDiv, "$r = arith.divf $x, $y : $f\n"},
    {Operation::kMax, "$r = arith.maximumf $x, $y : $f\n"},
    {Operation::kMin, "$r = arith.minimumf $x, $y : $f\n"},
    {Operation::kNeg, "$r = arith.negf $x : $f\n"},
    {Operation::kExp, "$r = math.exp $x : $f\n"},
    {Operation::kTanh, "$r = math.tanh $x : $f\n"},
    {Operation::kErf, "$r = math.erf $x : $f\n"},
    {Operation::kSqrt, "$r = math.sqrt $x : $f\n"},
    {Operation::kRsqrt, "$r = math.rsqrt $x : $f\n"},
    {Operation::kAbs, "$r = math.absf $x : $f\n"},
    {Operation::kFloor, "$r = math.floor $x : $f\n"},
    {Operation::kCeil, "$r = math.ceil $x : $f\n"},
    {Operation::kRound, "$r = math.roundeven $x : $f\n"},
    {Operation::kLog, "$r = math.log $x : $f\n"},
    {Operation::kLog1p, "$r = math.log1p $x : $f\n"},
    {Operation::kExpm1, "$r = math.expm1 $x : $f\n"},
    {Operation::kSin, "$r = math.sin $x : $f\n"},
    {Operation::kCos, "$r = math.cos $x : $f\n"},
    {Operation::kPow, "$r = math.powf $x, $y : $f\n"},
    {Operation::kRelu, "$t0 = arith.constant 0.0 : $f\n$r = arith.maximumf $x, $t0 : $f\n"},
    {Operation::kSigmoid,
     "$t0 = arith.constant 1.0 : $f\n$t1 = arith.negf $x : $f\n$t2 = math.exp $t1 : $f\n"
     "$t3 = arith.addf $t2, $t0 : $f\n$r = arith.divf $t0, $t3 : $f\n"},
    {Operation::kSilu,
     "$t0 = arith.constant 1.0 : $f\n$t1 = arith.negf $x : $f\n$t2 = math.exp $t1 : $f\n"
     "$t3 = arith.addf $t2, $t0 : $f\n$t4 = arith.divf $t0, $t3 : $f\n$r = arith.mulf $x, $t4 : $f\n"},
    {Operation::kGelu,
     "$t0 = arith.constant 0.5 : $f\n$t1 = arith.constant 1.0 : $f\n$t2 = arith.constant 0.70710678118654757 "
     ": $f\n"
     "$t3 = arith.mulf $x, $t2 : $f\n$t4 = math.erf $t3 : $f\n$t5 = arith.addf $t4, $t1 : $f\n"
     "$t6 = arith.mulf $x, $t0 : $f\n$r = arith.mulf $t6, $t5 : $f\n"},
};

// Numbers of narrower types would have to be rounded for their text.
bool IsWide(Dtype dtype) { return dtype == Dtype::kF32 || dtype == Dtype::kF64; }

const BodyRow* FindBody(Operation op) {
  const auto row =
      std::find_if(std::begin(kBodies), std::end(kBodies), [op](const auto& each) { return each.op == op; });
  return row == std::end(kBodies) ? nullptr : row;
}

// Loops d0, d1, ... as an affine map has them: "affine_map<(d0, d1) -> (d1)>". Axes of -1 are the index 0.
std::string MapText(size_t loops, const std::vector<int>& axes) {
  std::vector<std::string> from, to;
  for (size_t i = 0; i < loops; ++i) from.push_back(Cat("d", i));
  for (const int axis : axes) to.push_back(axis < 0 ? "0" : Cat("d", axis));
  return Cat("affine_map<(", Join(from, ", "), ") -> (", Join(to, ", "), ")>");
}

class LinalgWriter {
 public:
  explicit LinalgWriter(const Graph& graph) : graph_(graph) {}

  absl::StatusOr<LinalgFunction> Write() {
    std::vector<std::string> parameters;
    for (int node = 0; node < static_cast<int>(graph_.nodes.size()); ++node) {
      KIRSCH_RETURN_IF_ERROR(WriteNode(node));
      if (graph_.at(node).op == Operation::kInput)
        parameters.push_back(Cat(NameOf(node), ": ", TypeText(graph_.at(node).type)));
    }
    const auto name = [&](const GraphResult& result) { return NameOf(result.value); };
    const std::string type = Join(graph_.results, ", ",
                                  [&](const GraphResult& result) { return TypeText(graph_.TypeOf(result)); });
    function_.text = Cat("func.func @", graph_.name, "(", Join(parameters, ", "), ") -> (", type, ") {\n",
                         body_, "  return ", Join(graph_.results, ", ", name), " : ", type, "\n}\n");
    return std::move(function_);
  }

 private:
  using Loops = std::vector<LinalgContraction::Loop>;

  // Parameters have names of their authors', which may be those of other values.
  std::string NameOf(int node) const {
    const std::string name = NameOfValue(graph_, node);
    bool taken = false;
    for (int other = node + 1; graph_.at(node).op == Operation::kInput && other < std::ssize(graph_.nodes);
         ++other)
      taken |= NameOfValue(graph_, other) == name;
    return Cat("%", name, taken ? ".arg" : "");
  }
  std::string TypeOfNode(int node) const { return TypeText(graph_.at(node).type); }
  static std::string TypeText(const TensorType& type) {
    return Cat("tensor<", Join(type.dims, "x"), type.dims.empty() ? "" : "x", Info(type.dtype).name, ">");
  }

  absl::Status Refused(int node) const {
    return absl::InvalidArgumentError(Cat(
        "--emit transform: expected operations that it writes in linalg's words, dense and of floats, got ",
        Info(graph_.at(node).op).name, " of ", PrintTensorType(graph_.at(node).type)));
  }

  absl::Status WriteNode(int node) {
    const GraphNode& at = graph_.at(node);
    const OperationInfo& info = Info(at.op);
    if (at.op == Operation::kNumber) return absl::OkStatus();
    if (!at.type.dense() || !IsFloating(at.type.dtype) || IsOfBlocks(at.type.dtype)) return Refused(node);
    switch (info.kind) {
      case OperationKind::kLeaf:
        return absl::OkStatus();
      case OperationKind::kContraction:
        return at.op == Operation::kMatmul ? WriteMatmul(node) : WriteConvolution(node);
      case OperationKind::kTranspose:
        return WriteTranspose(node);
      case OperationKind::kElementwise:
        return WriteElementwise(node);
      case OperationKind::kReduction:
        return WriteReduction(node);
      case OperationKind::kRowwise:
        return WriteSoftmax(node);
      case OperationKind::kCast:
      case OperationKind::kAlongAxis:
      case OperationKind::kRearrange:
        break;
    }
    return Refused(node);
  }

  template <typename... Pieces>
  void Line(const Pieces&... pieces) {
    Append(&body_, "  ", pieces..., "\n");
  }

  // A tensor for a result to begin as: empty, or filled with a number. Returns its name.
  std::string Begin(int node, std::string_view number) {
    const std::string name = NameOf(node), type = TypeOfNode(node);
    const std::string_view element = Info(graph_.at(node).type.dtype).name;
    Line(name, ".empty = tensor.empty() : ", type);
    if (number.empty()) return Cat(name, ".empty");
    Line(name, ".number = arith.constant ", number, " : ", element);
    Line(name, ".init = linalg.fill ins(", name, ".number : ", element, ") outs(", name, ".empty : ", type,
         ") -> ", type);
    return Cat(name, ".init");
  }

  // "ins(%x, %w : ...) outs(%init : ...) -> ..."
  std::string Operands(const std::vector<int>& inputs, const std::string& out, int node) const {
    const auto name = [&](int input) { return NameOf(input); };
    const auto type = [&](int value) { return TypeOfNode(value); };
    return Cat("ins(", Join(inputs, ", ", name), " : ", Join(inputs, ", ", type), ") outs(", out, " : ",
               type(node), ")");
  }

  std::string Tag(int node, Loops loops) {
    const std::string name = NameOfValue(graph_, node);
    function_.contractions.push_back({node, name, std::move(loops)});
    return Cat("kirsch = \"", name, "\"");
  }

  // Batches that are the same on both sides have an operation of their own; others are a generic one.
  absl::Status WriteMatmul(int node) {
    const GraphNode& at = graph_.at(node);
    if (at.lhs_as != LhsAs::kItself) return Refused(node);
    const std::vector<uint32_t>& out = at.type.dims;
    const std::vector<uint32_t>&lhs = graph_.InputType(at, 0).dims, &rhs = graph_.InputType(at, 1).dims;
    Loops loops;
    for (size_t i = 0; i + 2 < out.size(); ++i) loops.push_back({LinalgDim::kItem, out[i]});
    loops.push_back({LinalgDim::kRow, out[out.size() - 2]});
    loops.push_back({LinalgDim::kColumn, out.back()});
    loops.push_back({LinalgDim::kStep, lhs.back()});
    const bool plain = lhs.size() == rhs.size() && out.size() <= 3 && (out.size() == 2 || lhs[0] == rhs[0]);
    const std::string init = Begin(node, "0.0"), tag = Tag(node, loops);
    const std::string operands = Operands(at.inputs, init, node), type = TypeOfNode(node);
    if (plain) {
      Line(NameOf(node), " = linalg.", out.size() == 3 ? "batch_" : "", "matmul {", tag, "} ", operands,
           " -> ", type);
      return absl::OkStatus();
    }
    const int m = static_cast<int>(out.size()) - 2, n = m + 1, k = m + 2;
    // Batches are repeated whole; what several of them share in turn is no map.
    for (const std::vector<uint32_t>* const dims : {&lhs, &rhs})
      for (size_t i = 0; i + 2 < dims->size(); ++i)
        if ((*dims)[i] != 1 && (*dims)[i] != out[i + out.size() - dims->size()]) return Refused(node);
    const auto axes = [&](const std::vector<uint32_t>& dims, int outer, int inner) {
      std::vector<int> made = Repeated(dims, out);
      made[made.size() - 2] = outer;
      made.back() = inner;
      return made;
    };
    const std::string_view f = Info(at.type.dtype).name;
    if (graph_.InputType(at, 0).dtype != at.type.dtype || graph_.InputType(at, 1).dtype != at.type.dtype)
      return Refused(node);
    std::vector<std::string> iterators(loops.size(), "\"parallel\"");
    iterators.back() = "\"reduction\"";
    Line(NameOf(node), " = linalg.generic {indexing_maps = [", MapText(loops.size(), axes(lhs, m, k)), ", ",
         MapText(loops.size(), axes(rhs, k, n)), ", ", MapText(loops.size(), axes(out, m, n)),
         "], iterator_types = [", Join(iterators, ", "), "]} ", operands, " attrs = {", tag, "} {");
    Line("^bb0(%.x: ", f, ", %.y: ", f, ", %.sum: ", f, "):");
    Line("  %.p = arith.mulf %.x, %.y : ", f);
    Line("  %.s = arith.addf %.sum, %.p : ", f);
    Line("  linalg.yield %.s : ", f);
    Line("} -> ", type);
    return absl::OkStatus();
  }

  // Zeros around the image are a tensor.pad before it.
  absl::Status WriteConvolution(int node) {
    const GraphNode& at = graph_.at(node);
    const size_t image_axes = Info(at.op).image_axes;
    const bool blocks = ChannelBlock(at.conv.layout) != 0;
    if (IsTransposedConvolution(at.op) || at.conv.groups != 1 || blocks) return Refused(node);
    const ConvolutionSizes sizes = SizesOfConvolution(graph_, at);
    const bool nhwc = at.conv.layout == ImageLayout::kNhwc;
    // Axes that images do not have come first, with the size 1.
    const size_t first = ImageAxes::kCount - image_axes;
    Loops image, taps;
    std::vector<std::string> strides, dilations;
    std::vector<uint32_t> low(at.type.dims.size()), high(at.type.dims.size());
    for (size_t axis = first; axis < ImageAxes::kCount; ++axis) {
      image.push_back({LinalgDim::kRow, sizes.axes[axis].out});
      taps.push_back({LinalgDim::kStep, sizes.axes[axis].kernel});
      const AxisOptions& options = at.conv.axes[axis];
      strides.push_back(Cat(options.stride));
      dilations.push_back(Cat(options.dilation));
      low[axis - first + (nhwc ? 1 : 2)] = options.before;
      high[axis - first + (nhwc ? 1 : 2)] = options.after;
    }
    const LinalgContraction::Loop filters{LinalgDim::kColumn, sizes.filters},
        channels{LinalgDim::kStep, sizes.channels};
    // Images are rows where their pixels follow each other in the output, and items where filters are
    // between.
    Loops loops = {{nhwc ? LinalgDim::kRow : LinalgDim::kItem, sizes.images}};
    if (!nhwc) loops.push_back(filters);
    loops.insert(loops.end(), image.begin(), image.end());
    loops.push_back(nhwc ? filters : channels);
    loops.insert(loops.end(), taps.begin(), taps.end());
    if (nhwc) loops.push_back(channels);
    std::string from = NameOf(at.inputs[0]), from_type = TypeOfNode(at.inputs[0]);
    if (at.conv.padded()) WritePad(node, low, high, &from, &from_type);
    constexpr std::array<std::array<std::string_view, 2>, 3> kNames = {
        {{"conv_1d_ncw_fcw", "conv_1d_nwc_wcf"},
         {"conv_2d_nchw_fchw", "conv_2d_nhwc_hwcf"},
         {"conv_3d_ncdhw_fcdhw", "conv_3d_ndhwc_dhwcf"}}};
    const std::string init = Begin(node, "0.0"), type = TypeOfNode(node),
                      axes = Cat(" : tensor<", image_axes, "xi64>");
    Line(NameOf(node), " = linalg.", kNames[image_axes - 1][nhwc ? 1 : 0], " {dilations = dense<[",
         Join(dilations, ", "), "]>", axes, ", strides = dense<[", Join(strides, ", "), "]>", axes, ", ",
         Tag(node, std::move(loops)), "} ins(", from, ", ", NameOf(at.inputs[1]), " : ", from_type, ", ",
         TypeOfNode(at.inputs[1]), ") outs(", init, " : ", type, ") -> ", type);
    return absl::OkStatus();
  }

  void WritePad(int node, const std::vector<uint32_t>& low, const std::vector<uint32_t>& high,
                std::string* from, std::string* from_type) {
    TensorType padded = graph_.InputType(graph_.at(node), 0);
    std::vector<std::string> indices;
    for (size_t i = 0; i < padded.dims.size(); ++i) {
      padded.dims[i] += low[i] + high[i];
      indices.push_back(Cat("%.i", i, ": index"));
    }
    const std::string name = NameOf(node), f(Info(padded.dtype).name);
    Line(name, ".zero = arith.constant 0.0 : ", f);
    Line(name, ".padded = tensor.pad ", *from, " low[", Join(low, ", "), "] high[", Join(high, ", "), "] {");
    Line("^bb0(", Join(indices, ", "), "):");
    Line("  tensor.yield ", name, ".zero : ", f);
    Line("} : ", *from_type, " to ", TypeText(padded));
    *from = Cat(name, ".padded");
    *from_type = TypeText(padded);
  }

  absl::Status WriteTranspose(int node) {
    const size_t rank = graph_.at(node).type.dims.size();
    std::vector<size_t> order;
    for (size_t i = 0; i < rank; ++i) order.push_back(i);
    std::swap(order[rank - 2], order[rank - 1]);
    const std::string out = Begin(node, ""), type = TypeOfNode(node);
    Line(NameOf(node), " = linalg.transpose ins(", NameOf(graph_.at(node).inputs[0]), " : ",
         TypeOfNode(graph_.at(node).inputs[0]), ") outs(", out, " : ", type, ") permutation = [",
         Join(order, ", "), "]");
    return absl::OkStatus();
  }

  // The axes of an operand that is repeated as NumPy does.
  static std::vector<int> Repeated(const std::vector<uint32_t>& dims, const std::vector<uint32_t>& out) {
    std::vector<int> axes;
    for (size_t i = 0; i < dims.size(); ++i) {
      const size_t axis = i + out.size() - dims.size();
      axes.push_back(dims[i] == 1 && out[axis] != 1 ? -1 : static_cast<int>(axis));
    }
    return axes;
  }

  absl::Status WriteElementwise(int node) {
    const GraphNode& at = graph_.at(node);
    const BodyRow* const row = FindBody(at.op);
    if (row == nullptr || !IsWide(at.type.dtype)) return Refused(node);
    const std::vector<uint32_t>& out = at.type.dims;
    std::vector<int> tensors;
    std::vector<std::string> maps, arguments, values;
    const std::string_view f = Info(at.type.dtype).name;
    std::string numbers;
    for (size_t i = 0; i < at.inputs.size(); ++i) {
      const GraphNode& input = graph_.at(at.inputs[i]);
      values.push_back(Cat("%.a", i));
      if (input.op == Operation::kNumber) {
        Append(&numbers, "    %.a", i, " = arith.constant ", NumberText(input.number, at.type.dtype), " : ",
               f, "\n");
        continue;
      }
      if (input.type.dtype != at.type.dtype) return Refused(node);
      tensors.push_back(at.inputs[i]);
      maps.push_back(MapText(out.size(), Repeated(input.type.dims, out)));
      arguments.push_back(Cat("%.a", i, ": ", f));
    }
    maps.push_back(MapText(out.size(), Repeated(out, out)));
    arguments.push_back(Cat("%.old: ", f));
    const std::string begin = Begin(node, "");
    WriteGenericHead(node, maps, std::vector<std::string>(out.size(), "\"parallel\""), tensors, begin,
                     arguments);
    std::vector<std::pair<std::string, std::string>> words = {
        {"$x", values[0]}, {"$y", values.back()}, {"$r", "%.r"}, {"$t", "%.t"}, {"$f", std::string(f)}};
    Append(&body_, numbers);
    for (const absl::string_view line : absl::StrSplit(ForAbsl(row->lines), '\n', absl::SkipEmpty()))
      Line("  ", absl::StrReplaceAll(line, words));
    Line("  linalg.yield %.r : ", f);
    Line("} -> ", TypeOfNode(node));
    return absl::OkStatus();
  }

  void WriteGenericHead(int node, const std::vector<std::string>& maps,
                        const std::vector<std::string>& iterators, const std::vector<int>& inputs,
                        const std::string& begin, const std::vector<std::string>& arguments) {
    Line(NameOf(node), " = linalg.generic {indexing_maps = [", Join(maps, ", "), "], iterator_types = [",
         Join(iterators, ", "), "]} ", Operands(inputs, begin, node), " {");
    Line("^bb0(", Join(arguments, ", "), "):");
  }

  // A sum or a maximum along axes, which stay with the size 1.
  absl::Status WriteReduction(int node) {
    const GraphNode& at = graph_.at(node);
    const bool sum = at.op == Operation::kReduceSum;
    if ((!sum && at.op != Operation::kReduceMax) || !IsWide(at.type.dtype)) return Refused(node);
    const std::vector<uint32_t>& dims = graph_.InputType(at, 0).dims;
    const std::string_view f = Info(at.type.dtype).name;
    std::vector<int> all, kept;
    std::vector<std::string> iterators;
    for (size_t i = 0; i < dims.size(); ++i) {
      const bool reduced = std::ranges::find(at.axes, i) != at.axes.end();
      all.push_back(static_cast<int>(i));
      kept.push_back(reduced ? -1 : static_cast<int>(i));
      iterators.emplace_back(reduced ? "\"reduction\"" : "\"parallel\"");
    }
    const std::string begin =
        Begin(node, NumberText(sum ? 0 : -std::numeric_limits<double>::infinity(), at.type.dtype));
    WriteGenericHead(node, {MapText(dims.size(), all), MapText(dims.size(), kept)}, iterators, at.inputs,
                     begin, {Cat("%.x: ", f), Cat("%.old: ", f)});
    Line("  %.r = arith.", sum ? "addf" : "maximumf", " %.old, %.x : ", f);
    Line("  linalg.yield %.r : ", f);
    Line("} -> ", TypeOfNode(node));
    return absl::OkStatus();
  }

  absl::Status WriteSoftmax(int node) {
    const GraphNode& at = graph_.at(node);
    if (at.op != Operation::kSoftmax) return Refused(node);
    const std::string begin = Begin(node, "");
    Line(NameOf(node), " = linalg.softmax dimension(", at.type.dims.size() - 1, ") ",
         Operands(at.inputs, begin, node), " -> ", TypeOfNode(node));
    return absl::OkStatus();
  }

  // MLIR wants a point in a float, and bits of what is no finite number.
  static std::string NumberText(double number, Dtype dtype) {
    const bool wide = dtype == Dtype::kF64;
    if (!std::isfinite(number)) {
      const uint64_t bits =
          wide ? std::bit_cast<uint64_t>(number) : std::bit_cast<uint32_t>(static_cast<float>(number));
      return Cat("0x", absl::Hex(bits, wide ? absl::kZeroPad16 : absl::kZeroPad8));
    }
    std::string text = wide ? PrintNumber(number) : PrintNumber(static_cast<float>(number));
    if (text.find('.') == std::string::npos) text.insert(std::min(text.find('e'), text.size()), ".0");
    return text;
  }

  const Graph& graph_;
  std::string body_;
  LinalgFunction function_;
};

}  // namespace

absl::StatusOr<LinalgFunction> WriteLinalg(const Graph& graph) { return LinalgWriter(graph).Write(); }

}  // namespace kirsch
