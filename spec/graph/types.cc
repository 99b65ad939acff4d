// SPDX-License-Identifier: Apache-2.0
#include "spec/graph/types.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "spec/matmul_types.h"
#include "spec/spec.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

using Dims = std::vector<uint32_t>;

// Finds the shape of an elementwise result. Shapes are aligned at their last axes; missing axes count as 1.
// Along each axis the sizes are equal or one of them is 1. Example: [8,1,64] and [32,64] give [8,32,64].
bool Broadcast(const Dims& a, const Dims& b, Dims* result) {
  const size_t rank = std::max(a.size(), b.size());
  Dims dims(rank, 1);
  for (size_t axis = 0; axis < rank; ++axis) {
    const auto size = [&](const Dims& of) {
      const size_t missing = rank - of.size();
      return axis < missing ? 1u : of[axis - missing];
    };
    if (size(a) != size(b) && size(a) != 1 && size(b) != 1) return false;
    dims[axis] = std::max(size(a), size(b));
  }
  *result = std::move(dims);
  return true;
}

// An axis of a matmul's batch: its size, and how many matrices of each operand its indices are apart.
struct BatchAxis {
  int64_t size;
  std::array<int64_t, 2> steps;
};

// The axes of a batch, the outermost first; nothing if the operands' do not go together. Along each axis the
// sizes are the same, or one is 1, whose matrices are shared by all. Along the last one, one size may divide
// the other: several heads of queries can share the keys of one head. It is two axes then.
std::optional<std::vector<BatchAxis>> BatchAxes(const Dims& a, const Dims& b) {
  const size_t rank = a.size();
  if (rank < 2 || b.size() != rank) return std::nullopt;
  std::vector<BatchAxis> axes;
  std::array<int64_t, 2> step = {1, 1};
  for (size_t axis = rank - 2; axis-- > 0;) {
    const std::array<int64_t, 2> sizes = {a[axis], b[axis]};
    const int64_t most = std::max(sizes[0], sizes[1]), least = std::min(sizes[0], sizes[1]);
    if (least != 1 && least != most && (axis + 3 != rank || most % least != 0)) return std::nullopt;
    // The part along which one side has the same matrix, then the part along which both have several.
    std::array<int64_t, 2> inner, outer;
    for (size_t side = 0; side < 2; ++side) {
      inner[side] = sizes[side] == most ? step[side] : 0;
      outer[side] = sizes[side] == most ? step[side] * (most / least) : step[side];
      step[side] *= sizes[side];
    }
    axes.insert(axes.begin(), {{least, outer}, {most / least, inner}});
  }
  return axes;
}

// Joins neighbours that both operands go through evenly; nothing if more than two are left.
std::optional<MatmulBatch> JoinBatch(const std::vector<BatchAxis>& axes) {
  std::vector<BatchAxis> joined;
  for (const BatchAxis& axis : axes) {
    if (axis.size == 1) continue;
    const auto follows = [&](size_t side) {
      return joined.back().steps[side] == axis.steps[side] * axis.size;
    };
    if (!joined.empty() && follows(0) && follows(1))
      joined.back() = {joined.back().size * axis.size, axis.steps};
    else
      joined.push_back(axis);
  }
  if (joined.size() > 2) return std::nullopt;
  joined.resize(2, {1, {0, 0}});
  return MatmulBatch{joined[0].size, joined[1].size, joined[0].steps, joined[1].steps};
}

std::string InferMatmul(const Graph& graph, GraphNode* node) {
  const TensorType &lhs = graph.InputType(*node, 0), &rhs = graph.InputType(*node, 1);
  const size_t rank = lhs.dims.size();
  // Some row of kMatmulTypes must combine these operands; the output of a graph's matmul is its accumulator.
  const auto goes = [&](const MatmulTypes& row) { return IsSupported({lhs.dtype, rhs.dtype, row.out}); };
  const std::optional<std::vector<BatchAxis>> batch = BatchAxes(lhs.dims, rhs.dims);
  const bool fits = batch && lhs.dims[rank - 1] == rhs.dims[rank - 2];
  if (!fits || std::ranges::none_of(kMatmulTypes, goes))
    return "matrices [..,M,K] and [..,K,N] of types that go together";
  if (!JoinBatch(*batch)) return "batches of at most two runs of axes, each of both sides or of one alone";
  // A matmul that may round its lhs (to blocks of codes, say) limits both types further.
  if (const std::string_view wanted = WantedBesideRounding(node->lhs_as, lhs.dtype, rhs.dtype);
      !wanted.empty())
    return std::string(wanted);
  node->type = {AccumulatorOf(lhs.dtype), lhs.dims};
  node->type.dims[rank - 1] = rhs.dims[rank - 1];
  // The operand with fewer matrices is used several times (BatchOf).
  for (size_t axis = 0; axis + 2 < rank; ++axis)
    node->type.dims[axis] = std::max(lhs.dims[axis], rhs.dims[axis]);
  return "";
}

// The error text, which shows the operands as the layout has them. Example: "an f32 image [N,H,W,C] and f32
// filters [KH,KW,C/groups,F]".
std::string WantedOfConvolution(size_t axes, ImageLayout layout, bool transposed) {
  const uint32_t block = ChannelBlock(layout);
  if (block != 0 && transposed) return "a layout without blocks, as the convolution is transposed";
  std::string image, kernel;
  for (char axis : std::string_view("DHW").substr(ImageAxes::kCount - axes)) {
    Append(&image, ",", std::string(1, axis));
    Append(&kernel, ",K", std::string(1, axis));
  }
  if (block != 0)
    return Cat("an f32 image [N,C/", block, image, ",", block, "] and f32 filters [F/", block, ",C/groups/",
               block, kernel, ",", block, ",", block, "] (depthwise [C/", block, ",1", kernel, ",1,", block,
               "])");
  if (transposed)
    return layout == ImageLayout::kNhwc
               ? Cat("an f32 image [N", image, ",C] and f32 filters [", kernel.substr(1), ",C,F]")
               : Cat("an f32 image [N,C", image, "] and f32 filters [C,F", kernel, "]");
  return layout == ImageLayout::kNhwc
             ? Cat("an f32 image [N", image, ",C] and f32 filters [", kernel.substr(1), ",C/groups,F]")
             : Cat("an f32 image [N,C", image, "] and f32 filters [F,C/groups", kernel, "]");
}

std::string InferConvolution(const Graph& graph, GraphNode* node) {
  const TensorType &image = graph.InputType(*node, 0), &filters = graph.InputType(*node, 1);
  const ConvolutionOptions& conv = node->conv;
  const size_t axes = Info(node->op).image_axes;
  const bool transposed = IsTransposedConvolution(node->op);
  std::string expected = WantedOfConvolution(axes, conv.layout, transposed);
  const uint32_t block = ChannelBlock(conv.layout);
  const size_t more = block != 0 ? 1 : 0;  // axes
  if (image.dims.size() != axes + 2 + more || filters.dims.size() != axes + 2 + 2 * more ||
      image.dtype != Dtype::kF32 || filters.dtype != Dtype::kF32 || (block != 0 && transposed))
    return expected;
  // Ranks are known to be right from here on, so sizes can be looked up.
  const ConvolutionSizes sizes = SizesOfConvolution(graph, *node);
  Dims out, kernel;
  for (const ConvolutionSizes::Axis& axis : absl::MakeConstSpan(sizes.axes).last(axes))
    kernel.push_back(axis.kernel);
  if (sizes.channels % conv.groups != 0 || sizes.filters % conv.groups != 0 || !FitsBlocks(sizes, conv) ||
      (block != 0 && image.dims.back() != block) ||
      filters.dims != FiltersDims(conv, kernel, sizes.channels / conv.groups, sizes.filters, transposed))
    return expected;
  // A window has room for four digits: a block, the taps along each axis, the blocks. Taps along the width
  // follow a block's channels without a gap only if none are left out.
  if (block != 0 && axes == ImageAxes::kCount && conv.axes[ImageAxes::kWidth].dilation > 1)
    return "no dilation along the width, where images of three axes are in blocks";
  for (const ConvolutionSizes::Axis& axis : absl::MakeConstSpan(sizes.axes).last(axes)) {
    if (axis.out == 0)
      return transposed ? Cat("pads that leave from 1 to ", kMaxSide, " pixels of the output along each axis")
                        : "a kernel that fits the padded image";
    out.push_back(axis.out);
  }
  node->type.dims = ImageDims(conv.layout, sizes.images, out, sizes.filters);
  return "";
}

// Gives a number the type of the tensor that it meets. Returns false if that type cannot hold it. f32 needs
// no check: the number is one already.
bool TakeType(Dtype met, GraphNode* number) {
  number->type.dtype = AccumulatorOf(met);
  if (number->type.dtype == Dtype::kF32) return true;
  // Reads the text as the type has it: an s32 has no fraction and must fit, a double keeps all digits.
  const auto read = [number](auto value) {
    const char* const end = number->text.data() + number->text.size();
    const auto [stop, error] = std::from_chars(number->text.data(), end, value);
    number->number = value;
    return stop == end && error == std::errc();
  };
  if (!IsFloating(met)) return read(int32_t{});
  return std::isinf(number->number) || read(double{});
}

// The number that an operation has beside its arguments is one of its type.
void RoundOption(GraphNode* node) {
  if (node->type.dtype != Dtype::kF64) node->number = static_cast<float>(node->number);
}

std::string InferElementwise(Graph* graph, GraphNode* node) {
  const auto input = [&](int i) -> GraphNode& { return graph->nodes[static_cast<size_t>(i)]; };
  const auto is_number = [&](int i) { return input(i).op == Operation::kNumber; };
  const auto tensor = std::ranges::find_if_not(node->inputs, is_number);
  // Numbers alone leave nothing to take a type from.
  if (tensor == node->inputs.end()) return "a tensor";
  const Dtype dtype = input(*tensor).type.dtype;
  // Numbers get their type before types are compared.
  for (int i : node->inputs)
    if (is_number(i) && !TakeType(dtype, &input(i))) return "an s32 beside integers";
  // Integers have only a few operations (OperationInfo::integers).
  if (!IsFloating(dtype) && !Info(node->op).integers)
    return node->inputs.size() == 1 ? "floats" : "tensors of floats whose shapes go together";
  node->type.dims.clear();
  for (int i : node->inputs)
    if (AccumulatorOf(input(i).type.dtype) != AccumulatorOf(dtype) ||
        !Broadcast(node->type.dims, input(i).type.dims, &node->type.dims))
      return "tensors of one type whose shapes go together";
  if (AccumulatorOf(dtype) == Dtype::kF64 && !IsOfF64(node->op)) return "floats of 32 bits at most";
  node->type.dtype = AccumulatorOf(dtype);
  RoundOption(node);
  return "";
}

std::string InferReduction(const Graph& graph, GraphNode* node) {
  const TensorType& input = graph.InputType(*node, 0);
  if (!IsFloating(input.dtype)) return "floats";
  if (node->axes.empty()) return "an axis to reduce (axis=0)";
  const bool place = IsPlace(node->op);
  if (place && node->axes.size() > 1) return "one axis";
  if (place && input.dtype == Dtype::kF64) return "floats of 32 bits at most";
  node->type = {place ? Dtype::kS32 : AccumulatorOf(input.dtype), input.dims};
  // Reduced axes stay, with one element, so that the result broadcasts against the input.
  for (uint32_t axis : node->axes) {
    if (axis >= input.dims.size()) return Cat("axes below ", input.dims.size());
    node->type.dims[axis] = 1;
  }
  return "";
}

// Softmax and norms: a tensor, whose last axis is the row, and vectors of weights along that axis.
std::string InferRowwise(const Graph& graph, GraphNode* node) {
  const TensorType& input = graph.InputType(*node, 0);
  if (input.dims.empty() || !IsFloating(input.dtype)) return "floats with an axis at least";
  const Dtype type = AccumulatorOf(input.dtype);
  if (type == Dtype::kF64 && !IsOfF64(node->op)) return "floats of 32 bits at most";
  for (size_t i = 1; i < node->inputs.size(); ++i) {
    const TensorType& vector = graph.InputType(*node, i);
    if (AccumulatorOf(vector.dtype) != type || vector.dims != Dims{input.dims.back()})
      return "a tensor, and vectors of floats as long as its last axis";
  }
  node->type = {type, input.dims};
  RoundOption(node);
  return "";
}

// True if elements of the type can be the number: an integer has no fraction and is in its range.
bool MayBe(Dtype dtype, double number) {
  if (IsFloating(dtype)) return true;
  return number == std::nearbyint(number) && number >= static_cast<double>(LeastOf(dtype)) &&
         number <= static_cast<double>(MostOf(dtype));
}

std::string InferConcat(const Graph& graph, size_t axis, GraphNode* node) {
  const TensorType &x = graph.InputType(*node, 0), &y = graph.InputType(*node, 1);
  Dims rest = y.dims;
  if (axis < rest.size()) rest[axis] = x.dims[axis];
  if (x.dtype != y.dtype || rest != x.dims)
    return Cat("tensors of one type that differ along axis ", axis, " only");
  node->type.dims[axis] += y.dims[axis];
  return "";
}

std::string InferSlice(uint32_t* size, AlongAxis* along) {
  if (along->to == 0) along->to = *size;
  if (along->from >= along->to || along->to > *size)
    return Cat("from= below to=, and to= of at most ", *size, ", the axis's size");
  *size = (along->to - along->from - 1) / along->steps.stride + 1;
  return "";
}

// Indices are the same for all that is before the axis, or there are own ones for each part of it.
std::string InferTake(const Graph& graph, size_t axis, GraphNode* node) {
  const TensorType &x = graph.InputType(*node, 0), &indices = graph.InputType(*node, 1);
  const size_t rank = indices.dims.size();
  const bool own =
      rank == axis + 1 && std::equal(indices.dims.begin(), indices.dims.end() - 1, x.dims.begin());
  if (indices.dtype != Dtype::kS32 || (rank != 1 && !own))
    return Cat("s32 indices, in one axis",
               axis > 0 ? Cat(" or behind the first ", axis, " of the tensor") : "");
  node->type.dims[axis] = indices.dims.back();
  return "";
}

// The sizes of axes are at most kMaxSide, so their sums fit.
std::string InferAlongAxis(const Graph& graph, GraphNode* node) {
  const TensorType& input = graph.InputType(*node, 0);
  const bool computes = IsWindow(node->op) || node->op == Operation::kCumsum;
  if (input.dims.empty() || graph.at(node->inputs[0]).op == Operation::kNumber)
    return "a tensor with an axis";
  if (node->axes.size() != 1) return "an axis (axis=0)";
  const size_t axis = node->axes.front();
  if (axis >= input.dims.size()) return Cat("an axis below ", input.dims.size());
  if (!computes && !Info(input.dtype).is_result)
    return Cat("a tensor that is not of ", Info(input.dtype).name, ", which is only read");
  node->type = {computes ? AccumulatorOf(input.dtype) : input.dtype, input.dims};
  uint32_t& size = node->type.dims[axis];
  AlongAxis& along = node->along;
  std::string expected;
  if (node->op == Operation::kConcat) {
    expected = InferConcat(graph, axis, node);
  } else if (node->op == Operation::kSlice) {
    expected = InferSlice(&size, &along);
  } else if (node->op == Operation::kTake) {
    expected = InferTake(graph, axis, node);
  } else if (node->op == Operation::kPad) {
    size += along.steps.before + along.steps.after;
    if (!MayBe(input.dtype, node->number)) expected = Cat("a value= of ", Info(input.dtype).name);
    if (IsFloating(input.dtype)) RoundOption(node);
  } else if (IsWindow(node->op)) {
    size = PixelsAlong({size, along.size}, along.steps);
    if (size == 0) expected = "a window that fits the padded axis";
  }
  if (expected.empty() && size > kMaxSide)
    return Cat("a result of at most ", kMaxSide, " indices along axis ", axis);
  return expected;
}

// The caller has set the axes of a permutation, and the dims that any other has.
std::string InferRearrange(const Graph& graph, GraphNode* node) {
  const TensorType& input = graph.InputType(*node, 0);
  if (graph.at(node->inputs[0]).op == Operation::kNumber) return "a tensor";
  if (!Info(input.dtype).is_result)
    return Cat("a tensor that is not of ", Info(input.dtype).name, ", which is only read");
  node->type.dtype = input.dtype;
  if (node->op == Operation::kPermute) {
    std::vector<uint32_t> sorted = node->axes, all(input.dims.size());
    std::ranges::sort(sorted);
    std::iota(all.begin(), all.end(), 0);
    if (sorted != all) return "each axis of the tensor once";
    node->type.dims.clear();
    for (const uint32_t axis : node->axes) node->type.dims.push_back(input.dims[axis]);
    return "";
  }
  Dims wide;
  if (node->op == Operation::kReshape)
    return node->type.elements() == input.elements()
               ? ""
               : Cat("a tensor of ", node->type.elements(), " elements");
  const bool fits = Broadcast(input.dims, node->type.dims, &wide) && wide == node->type.dims;
  return fits ? "" : "a tensor that is repeated to this shape";
}

// f64 and integers meet by way of f32.
bool MayBeCast(Dtype from, Dtype to) {
  return IsFloating(from) == IsFloating(to) || (from != Dtype::kF64 && to != Dtype::kF64);
}

// True if the node may read this input, where that is of blocks. Blocks are only for parameters that a matmul
// reads along its rows, as matmul(x, transpose(w)): a block is contiguous there.
bool MayReadBlocks(const Graph& graph, const GraphNode& node, size_t input) {
  const GraphNode& read = graph.at(node.inputs[input]);
  if (!IsOfBlocks(read.type.dtype)) return true;
  const OperationKind kind = Info(node.op).kind, of_read = Info(read.op).kind;
  if (kind == OperationKind::kTranspose) return of_read == OperationKind::kLeaf;
  return node.op == Operation::kMatmul && input == 1 && of_read == OperationKind::kTranspose;
}

// Infers by the kind of operation, so that a new operation of a known kind needs no code here.
std::string InferByKind(Graph* graph, GraphNode* node) {
  for (size_t input = 0; input < node->inputs.size(); ++input)
    if (!MayReadBlocks(*graph, *node, input))
      return "tensors that are not of blocks (those are for matmul(x, transpose(w)) alone)";
  const bool number = graph->at(node->inputs[0]).op == Operation::kNumber;
  switch (Info(node->op).kind) {
    case OperationKind::kContraction:
      return node->op == Operation::kMatmul ? InferMatmul(*graph, node) : InferConvolution(*graph, node);
    case OperationKind::kTranspose:
      // Transposes swap the last two axes; all others are batches.
      node->type = graph->InputType(*node, 0);
      if (node->type.dims.size() < 2) return "two axes at least";
      std::swap(node->type.dims.back(), node->type.dims[node->type.dims.size() - 2]);
      return "";
    case OperationKind::kCast:
      // The caller has set the cast's type already.
      if (!MayBeCast(graph->InputType(*node, 0).dtype, node->type.dtype))
        return "no cast between f64 and integers";
      node->type.dims = graph->InputType(*node, 0).dims;
      return number ? "a tensor" : "";
    case OperationKind::kElementwise:
      return InferElementwise(graph, node);
    case OperationKind::kReduction:
      return InferReduction(*graph, node);
    case OperationKind::kRowwise:
      return InferRowwise(*graph, node);
    case OperationKind::kAlongAxis:
      return InferAlongAxis(*graph, node);
    case OperationKind::kRearrange:
      return InferRearrange(*graph, node);
    case OperationKind::kLeaf:
      break;
  }
  return "";
}

}  // namespace

bool IsTooLarge(const std::vector<uint32_t>& dims) {
  int64_t elements = 1;
  // The product saturates just above the limit, so it cannot overflow.
  for (uint32_t size : dims) elements = std::min(elements, kMaxElements + 1) * size;
  return elements > kMaxElements;
}

std::optional<WrongStride> CheckStrides(const TensorType& type) {
  if (type.dims.empty()) return std::nullopt;
  const size_t last = type.dims.size() - 1;
  // Kernels read rows as contiguous vectors.
  if (type.dims[last] > 1 && type.strides[last] != 1)
    return WrongStride{last, "1, as the elements of a row follow each other"};
  // Axes by ascending stride; of equal strides the inner one first. Each must step over everything that the
  // axes before it reach, or two elements would share a place.
  std::vector<size_t> axes(type.dims.size());
  std::iota(axes.rbegin(), axes.rend(), 0u);
  std::ranges::stable_sort(axes, [&](size_t a, size_t b) { return type.strides[a] < type.strides[b]; });
  int64_t reach = 1;  // of the axes so far
  for (size_t axis : axes) {
    if (type.dims[axis] == 1) continue;
    if (type.strides[axis] < reach)
      return WrongStride{axis, Cat(reach, " or more, so that no two elements are in the same place")};
    reach += int64_t{type.dims[axis] - 1} * type.strides[axis];
    if (reach > kMaxElements)
      return WrongStride{axis, Cat("at most ", kMaxElements, " elements from the first to the last")};
  }
  return std::nullopt;
}

void NormaliseStrides(TensorType* type) {
  // From the innermost axis on, so that each one finds its neighbour's stride done. The value of a stride
  // over one element means nothing; this choice is the one that a dense tensor has.
  const size_t rank = type->dims.size();
  for (size_t axis = rank; axis-- > 0;)
    if (type->dims[axis] == 1) {
      const int64_t following = axis + 1 == rank ? 1 : type->strides[axis + 1] * type->dims[axis + 1];
      type->strides[axis] = std::min<int64_t>(following, std::numeric_limits<uint32_t>::max());
    }
  // Drops the strides if they are those of a dense tensor.
  const std::vector<int64_t> dense = TensorType{type->dtype, type->dims}.Strides();
  const auto differs = [&](size_t axis) {
    return type->dims[axis] > 1 && type->strides[axis] != dense[axis];
  };
  bool is_dense = true;
  for (size_t axis = 0; axis < rank; ++axis) is_dense &= !differs(axis);
  if (is_dense) type->strides.clear();
}

MatmulBatch BatchOf(const Graph& graph, const GraphNode& matmul) {
  return *JoinBatch(*BatchAxes(graph.InputType(matmul, 0).dims, graph.InputType(matmul, 1).dims));
}

int64_t ItemsPerMatrix(const Graph& graph, const GraphNode& node, size_t input) {
  const MatmulBatch batch = BatchOf(graph, node);
  const std::array<int64_t, 2> steps = {batch.outer_step[input], batch.inner_step[input]};
  // One matrix for all of them, or for each of the outer ones; or one for each.
  if (steps[0] == 0 && steps[1] == 0) return batch.outer * batch.inner;
  if (steps[1] == 0 && batch.inner > 1) return steps[0] == 1 ? batch.inner : 0;
  return steps[0] == std::max<int64_t>(steps[1], 1) * batch.inner ? 1 : 0;
}

bool SharesRhsAlongAxis(const Graph& graph, const GraphNode& matmul) {
  const int64_t items = ItemsPerMatrix(graph, matmul, 1);
  const Dims& dims = matmul.type.dims;
  return items == 1 || (items > 1 && dims[dims.size() - 3] % items == 0);
}

std::string InferType(Graph* graph, GraphNode* node) {
  std::string expected = InferByKind(graph, node);
  node->type.strides.clear();
  if (expected.empty() && IsTooLarge(node->type.dims))
    expected = Cat("a result of at most ", kMaxElements, " elements");
  return expected;
}

}  // namespace kirsch
