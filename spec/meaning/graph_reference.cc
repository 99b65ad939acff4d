// SPDX-License-Identifier: Apache-2.0
#include "spec/meaning/graph_reference.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "spec/block.h"
#include "spec/check.h"
#include "spec/element.h"
#include "spec/element_array.h"
#include "spec/sum_blocks.h"
#include "spec/uncertain.h"
#include "spec/winograd.h"

namespace kirsch {
namespace {

using Dims = std::vector<uint32_t>;
using ElementIndex = std::vector<int64_t>;

// The index of a row's first element. All axes but the last number the rows.
ElementIndex IndexOfRow(const Dims& dims, int64_t row) {
  ElementIndex index(dims.size(), 0);
  for (size_t axis = dims.size(); axis-- > 0;) {
    if (axis + 1 == dims.size()) continue;
    index[axis] = row % dims[axis];
    row /= dims[axis];
  }
  return index;
}

// The row's number; inverse of IndexOfRow.
int64_t RowAt(const Dims& dims, const ElementIndex& index) {
  int64_t row = 0;
  for (size_t axis = 0; axis + 1 < dims.size(); ++axis) row = row * dims[axis] + index[axis];
  return row;
}

// The index into a tensor of shape `dims` that broadcasting reads where the result's index is `index`:
// missing axes are dropped, axes of one element stay at 0.
ElementIndex Repeated(const Dims& dims, const ElementIndex& index) {
  ElementIndex own(index.end() - static_cast<std::ptrdiff_t>(dims.size()), index.end());
  for (size_t axis = 0; axis < dims.size(); ++axis)
    if (dims[axis] == 1) own[axis] = 0;
  return own;
}

// The type that a node's floats are computed in.
Dtype ComputedIn(const GraphNode& node) { return node.type.dtype == Dtype::kF64 ? Dtype::kF64 : Dtype::kF32; }

// The largest error of a product, given those of its factors.
double ProductError(const Uncertain& a, const Uncertain& b) {
  return std::abs(a.value) * b.error + std::abs(b.value) * a.error + a.error * b.error;
}

// Adds up sums of products for the elements of one row, with the sums of magnitudes and of errors that bound
// what rounding may do.
class Products {
 public:
  explicit Products(size_t length) : sum_(length), magnitude_(length), error_(length) {}

  void Add(size_t i, Uncertain a, Uncertain b) {
    const double product = a.value * b.value;
    sum_[i] += product;
    magnitude_[i] += std::abs(product);
    error_[i] += ProductError(a, b);
  }
  std::vector<Uncertain> Sums(double terms, Dtype type) const {
    std::vector<Uncertain> sums;
    for (size_t i = 0; i < sum_.size(); ++i)
      sums.push_back(SumOf(sum_[i], magnitude_[i], error_[i], terms, type));
    return sums;
  }
  // The sums, where a kernel computes them by another algorithm (Winograd's). `errors` is then what its
  // roundings make, instead of those of a plain sum.
  std::vector<Uncertain> Others(const std::vector<double>& errors) const {
    std::vector<Uncertain> others;
    for (size_t i = 0; i < sum_.size(); ++i)
      others.push_back(RoundedToFloat({sum_[i], error_[i] + errors[i]}));
    return others;
  }

 private:
  std::vector<double> sum_, magnitude_, error_;
};

// The sum of a row. `roundings`: how many roundings a term goes through at most; this bounds the error.
Uncertain Total(const std::vector<Uncertain>& row, double roundings, Dtype type) {
  double sum = 0, magnitude = 0, error = 0;
  for (const Uncertain& x : row) {
    sum += x.value;
    magnitude += std::abs(x.value);
    error += x.error;
  }
  return SumOf(sum, magnitude, error, roundings, type);
}
// In blocks, as kernels add up long sums: a term then goes through few roundings. The sum above goes through
// all of them, which count where its type is the kernel's.
Uncertain Total(const std::vector<Uncertain>& row, Dtype type) {
  const auto terms = static_cast<double>(row.size());
  return Total(row, type == Dtype::kF64 ? terms : RoundingsInBlocks(terms), type);
}

// The largest element; NaN if an element is NaN.
Uncertain Greatest(const std::vector<Uncertain>& row) {
  Uncertain greatest = row.front();
  for (const Uncertain& x : row) {
    if (std::isnan(x.value)) return x;
    greatest = Max(x, greatest);
  }
  return greatest;
}

// The index of the first that is largest, of the first NaN if there is one. The error allows any that may be
// it.
Uncertain PlaceOfGreatest(const std::vector<Uncertain>& row) {
  const auto none = [](const Uncertain& x) { return std::isnan(x.value); };
  const auto no_number = std::ranges::find_if(row, none);
  if (no_number != row.end()) return {static_cast<double>(no_number - row.begin()), 0};
  const auto greatest = std::ranges::max_element(row, {}, &Uncertain::value);
  double least = -HUGE_VAL;
  for (const Uncertain& x : row) least = std::max(least, x.value - x.error);
  const double place = static_cast<double>(greatest - row.begin());
  double error = 0;
  for (size_t i = 0; i < row.size(); ++i)
    if (row[i].error > 0 || greatest->error > 0)
      if (!(row[i].value + row[i].error < least))
        error = std::max(error, std::abs(static_cast<double>(i) - place));
  return {place, error};
}

// Multiplies by the rounded reciprocal.
Uncertain Mean(const std::vector<Uncertain>& row, Dtype type) {
  return Mul(Total(row, type), RoundedToFloat({1.0 / static_cast<double>(row.size()), 0}, type), type);
}

// What an operation along an axis makes of the elements that there are, of all that it looks at for one of
// its own. A copy looks at one.
Uncertain MadeOfWindow(const GraphNode& node, const std::vector<Uncertain>& window) {
  if (window.empty()) return {NumberAround(node), 0};
  if (IsFloating(node.type.dtype) && node.op == Operation::kWindowMax) return Greatest(window);
  if (IsFloating(node.type.dtype) && node.op == Operation::kWindowSum)
    return Total(window, static_cast<double>(window.size()), ComputedIn(node));
  Uncertain made = window.front();
  for (size_t i = 1; i < window.size(); ++i)
    made = ApplyToIntegers(node.op == Operation::kWindowMax ? Operation::kMax : Operation::kAdd, made,
                           window[i]);
  return made;
}

// Multiplies by a power of two, which is exact.
Uncertain Times(double factor, Uncertain x) { return {factor * x.value, factor * x.error}; }

// The mean as the sum of quotients, which cannot overflow where the sum of the elements might.
Uncertain MeanOfQuotients(std::vector<Uncertain> row, Dtype type) {
  const Uncertain share = RoundedToFloat({1.0 / static_cast<double>(row.size()), 0}, type);
  for (Uncertain& x : row) x = Mul(x, share, type);
  return Total(row, type);
}

// The power of two that brings the row's largest element between 1 and 2, so that squares cannot overflow. A
// largest element below 2^-50 is taken for that. NaN if an element is infinite or NaN.
double ScaleFor(const std::vector<Uncertain>& row) {
  double largest = 0x1p-50;
  for (const Uncertain& x : row)
    largest = std::isfinite(x.value) ? std::max(largest, std::abs(x.value)) : NAN;
  return std::isnan(largest) ? NAN : std::ldexp(1, -std::ilogb(largest));
}

// An element that an engine may round to bf16, or not: the error allows both. A result that is subnormal may
// also be 0.
Uncertain PerhapsBf16(Uncertain x) {
  return {x.value, x.error + (std::abs(x.value) + x.error) * 0x1p-8 + 0x1p-126};
}

// The same for f16. 65504 is its largest number: values that would round beyond may become infinite.
Uncertain PerhapsF16(Uncertain x) {
  const double most = std::abs(x.value) + x.error;
  return {x.value, most >= 65520 ? HUGE_VAL : x.error + std::max(most * 0x1p-11, 0x1p-25)};
}

// A row of lhs that matmuls may round to bf16, f16 or integers (LhsAs). An integer is off by at most half of
// a scale. The scale belongs to the largest element of those that share it. If one of these is not finite,
// none of them is a number.
std::vector<Uncertain> PerhapsRounded(LhsAs as, std::vector<Uncertain> row) {
  if (as == LhsAs::kF16) {
    for (Uncertain& x : row) x = PerhapsF16(x);
    return row;
  }
  constexpr double kHalfOfScale = (1 + 0x1p-20) / (2 * kLargestQ8Code);
  // A little more than half, because the scale itself is rounded.
  const size_t shared = as == LhsAs::kQ8 ? static_cast<size_t>(BlockOf(Dtype::kQ8)) : 1;
  for (size_t first = 0; first < row.size(); first += shared) {
    // Elements that share a scale, or each element alone.
    const auto begin = row.begin() + static_cast<std::ptrdiff_t>(first),
               end = begin + static_cast<std::ptrdiff_t>(std::min(shared, row.size() - first));
    double largest = kLeastQ8Magnitude;
    for (auto x = begin; x != end; ++x)
      largest = std::isfinite(x->value) ? std::max(largest, std::abs(x->value) + x->error) : NAN;
    const double by_scale = shared > 1 ? largest * kHalfOfScale : 0;
    for (auto x = begin; x != end; ++x)
      *x = std::isnan(by_scale) ? Uncertain{NAN, HUGE_VAL}
                                : Uncertain{x->value, std::max(PerhapsBf16(*x).error, x->error + by_scale)};
  }
  return row;
}

}  // namespace

int64_t GraphReference::StartOfRow(const TensorType& type, int64_t row) {
  const ElementIndex index = IndexOfRow(type.dims, row);
  const std::vector<int64_t> strides = type.Strides();
  int64_t start = 0;
  for (size_t axis = 0; axis < index.size(); ++axis) start += index[axis] * strides[axis];
  return start;
}

GraphReference::GraphReference(const Graph& graph, std::vector<const void*> inputs,
                               std::map<int, int> winograd)
    : GraphReference(
          graph,
          [&graph, inputs = std::move(inputs)](int parameter, int64_t first, int64_t count, double* to) {
            LoadRun(graph.at(parameter).type.dtype, inputs[static_cast<size_t>(parameter)], first, 1, count,
                    to);
          },
          std::move(winograd)) {}

GraphReference::GraphReference(const Graph& graph, ReadParameter read, std::map<int, int> winograd)
    : graph_(graph), read_(std::move(read)), winograd_(std::move(winograd)), rows_(graph.nodes.size()) {
  for (int i = 0; i < graph.num_inputs(); ++i) strides_.push_back(graph.at(i).type.Strides());
}

std::vector<Uncertain> GraphReference::ResultRow(const GraphResult& result, int64_t row) {
  std::vector<Uncertain> elements = RowOf(result.value, row);
  for (Uncertain& x : elements) x = StoredAsElement(graph_.TypeOf(result).dtype, x);
  return elements;
}

const GraphReference::Row& GraphReference::RowOf(int node, int64_t row) {
  std::map<int64_t, Row>& known = rows_[static_cast<size_t>(node)];
  const auto found = known.find(row);
  if (found != known.end()) return found->second;
  const bool is_input = graph_.at(node).op == Operation::kInput;
  // Only one row of a parameter is kept (see the header).
  if (is_input) known.clear();
  Row computed = Compute(node, row);
  // A computed value beyond its type's range may be infinite in a kernel.
  if (!is_input)
    for (Uncertain& x : computed) x = InRange(x, ComputedIn(graph_.at(node)));
  return known.emplace(row, std::move(computed)).first->second;
}

Uncertain GraphReference::Element(int node, const ElementIndex& index) {
  // Elements of a parameter are read one by one, as a transpose would otherwise read a whole row for each.
  if (graph_.at(node).op == Operation::kInput) {
    const std::vector<int64_t>& strides = strides_[static_cast<size_t>(node)];
    double element = 0;
    read_(node, std::inner_product(index.begin(), index.end(), strides.begin(), int64_t{0}), 1, &element);
    return {element, 0};
  }
  const Dims& dims = graph_.at(node).type.dims;
  return RowOf(node, RowAt(dims, index))[dims.empty() ? 0 : static_cast<size_t>(index.back())];
}

GraphReference::Row GraphReference::Compute(int node, int64_t row) {
  const GraphNode& at = graph_.at(node);
  switch (Info(at.op).kind) {
    case OperationKind::kLeaf:
      return at.op == Operation::kInput ? InputRow(node, row) : Row{{at.number, 0}};
    case OperationKind::kContraction:
      return at.op == Operation::kMatmul ? MatmulRow(at, row) : ConvolutionRow(node, row);
    case OperationKind::kTranspose:
      return ByElements(at, row, &GraphReference::TransposedElement);
    case OperationKind::kCast: {
      Row cast = RowOf(at.inputs[0], row);
      const Dtype from = graph_.at(at.inputs[0]).type.dtype;
      const bool whole = IsFloating(at.type.dtype) && !IsFloating(from);
      // Narrower floats come from f64 by way of f32.
      if (from == Dtype::kF64 && at.type.dtype != from)
        for (Uncertain& x : cast) x = RoundedToFloat(x);
      for (Uncertain& x : cast)  // of an integer f32 holds the nearest
        x = StoredAsElement(at.type.dtype, whole && x.error == 0 ? Uncertain{static_cast<float>(x.value), 0}
                                           : whole               ? RoundedToFloat(x)
                                                                 : x);
      return cast;
    }
    case OperationKind::kElementwise:
      return ElementwiseRow(at, row);
    case OperationKind::kReduction:
      return ByElements(at, row, &GraphReference::ReducedElement);
    case OperationKind::kRowwise:
      return at.op == Operation::kSoftmax ? SoftmaxRow(node, row) : NormRow(at, row);
    case OperationKind::kAlongAxis:
      return ByElements(at, row,
                        at.op == Operation::kCumsum ? &GraphReference::CumsumElement
                        : at.op == Operation::kTake ? &GraphReference::TakenElement
                                                    : &GraphReference::AlongAxisElement);
    case OperationKind::kRearrange:
      return ByElements(at, row, &GraphReference::RearrangedElement);
  }
  KIRSCH_BUG("no such operation");
}

// Parameters are exact: their elements are whatever they are as doubles.
GraphReference::Row GraphReference::InputRow(int node, int64_t row) const {
  const TensorType& type = graph_.at(node).type;
  std::vector<double> values(static_cast<size_t>(RowLength(type)));
  read_(node, StartOfRow(type, row), RowLength(type), values.data());
  Row elements(values.size());
  std::transform(values.begin(), values.end(), elements.begin(),
                 [](double value) { return Uncertain{value, 0}; });
  return elements;
}

// A row, each element of which is found by its index alone.
GraphReference::Row GraphReference::ByElements(const GraphNode& node, int64_t row, OneElement element) {
  ElementIndex index = IndexOfRow(node.type.dims, row);
  Row elements;
  for (int64_t i = 0; i < RowLength(node.type); ++i) {
    if (!index.empty()) index.back() = i;
    elements.push_back((this->*element)(node, index));
  }
  return elements;
}

// A row of the transpose is a column of the input.
Uncertain GraphReference::TransposedElement(const GraphNode& node, ElementIndex index) {
  std::swap(index.back(), index[index.size() - 2]);
  return Element(node.inputs[0], index);
}

// The sums of the factors' products with others(i), modulo 2^32. They are exact if all factors are.
template <typename Others>
GraphReference::Row GraphReference::IntegerSums(const Row& factors, const Others& others) {
  const auto word = [](const Uncertain& x) { return static_cast<uint32_t>(static_cast<int64_t>(x.value)); };
  std::vector<uint32_t> sums;
  Row unbounded;  // sums as they were if nothing wrapped around
  for (size_t i = 0; i < factors.size(); ++i) {
    const Row& row = others(static_cast<int64_t>(i));
    sums.resize(row.size());
    unbounded.resize(row.size());
    for (size_t j = 0; j < row.size(); ++j) {
      sums[j] += word(factors[i]) * word(row[j]);
      unbounded[j].value += factors[i].value * row[j].value;
      unbounded[j].error += ProductError(factors[i], row[j]);
    }
  }
  Row result;
  for (size_t j = 0; j < sums.size(); ++j) {
    // If the factors are uncertain, any integer between the bounds may be the sum.
    const auto [value, error] = unbounded[j];
    const double sum = static_cast<int32_t>(sums[j]);
    result.push_back(error == 0 ? Uncertain{sum, 0} : IntegerBetween(sum, value - error, value + error));
  }
  return result;
}

// An operand with fewer matrices along an axis of the batch has each for as many neighbours.
GraphReference::Row GraphReference::MatmulRow(const GraphNode& node, int64_t row) {
  const Dims &lhs = graph_.at(node.inputs[0]).type.dims, &rhs = graph_.at(node.inputs[1]).type.dims;
  const ElementIndex index = IndexOfRow(node.type.dims, row);
  const auto row_in = [&](const Dims& dims, int64_t row_of_matrix) {
    ElementIndex own = index;
    for (size_t axis = 0; axis + 2 < dims.size(); ++axis)
      own[axis] = index[axis] * dims[axis] / node.type.dims[axis];
    own[dims.size() - 2] = row_of_matrix;
    return RowAt(dims, own);
  };
  const int64_t k = rhs[rhs.size() - 2], first = row_in(rhs, 0);
  Row factors = RowOf(node.inputs[0], row_in(lhs, index[lhs.size() - 2]));
  if (!IsFloating(node.type.dtype))
    return IntegerSums(factors, [&](int64_t i) -> const Row& { return RowOf(node.inputs[1], first + i); });
  // A matmul that may round its lhs may also round an rhs of blocks (LhsAs).
  const bool rounds = node.lhs_as != LhsAs::kItself,
             rounds_rhs = rounds && IsOfBlocks(graph_.at(node.inputs[1]).type.dtype);
  if (rounds) factors = PerhapsRounded(node.lhs_as, std::move(factors));
  Products products(rhs.back());
  for (int64_t i = 0; i < k; ++i) {
    const Row& others = RowOf(node.inputs[1], first + i);
    for (size_t j = 0; j < others.size(); ++j)
      products.Add(j, factors[static_cast<size_t>(i)], rounds_rhs ? PerhapsBf16(others[j]) : others[j]);
  }
  return products.Sums(static_cast<double>(k), node.type.dtype);
}

// One output row from the definition: for each element every tap of the kernel, and for each tap every
// channel.
GraphReference::Row GraphReference::ConvolutionRow(int convolution, int64_t row) {
  const GraphNode& node = graph_.at(convolution);
  const ConvolutionSizes sizes = SizesOfConvolution(graph_, node);
  const ConvolutionOptions& conv = node.conv;
  const bool nhwc = conv.layout == ImageLayout::kNhwc;
  const int64_t block = ChannelBlock(conv.layout);
  const size_t axes = Info(node.op).image_axes, unused = ImageAxes::kCount - axes;
  const ElementIndex first = IndexOfRow(node.type.dims, row);
  const int64_t channels = sizes.channels / conv.groups, filters = sizes.filters / conv.groups;
  const bool transposed = IsTransposedConvolution(node.op);
  int64_t taps = 1;
  for (const ConvolutionSizes::Axis& along : sizes.axes) taps *= along.kernel;
  Products products(node.type.dims.back());
  for (size_t i = 0; i < node.type.dims.back(); ++i) {
    ElementIndex out = first;
    out.back() = static_cast<int64_t>(i);
    const int64_t filter = block != 0 ? out[1] * block + out.back() : out[nhwc ? axes + 1 : 1];
    for (int64_t tap = 0; tap < taps; ++tap) {
      // The tap's position along each axis, the last axis fastest.
      ElementIndex pixel(axes), of_kernel(axes);
      bool inside = true;
      int64_t rest = tap;
      for (size_t axis = axes; axis-- > 0;) {
        const ConvolutionSizes::Axis& along = sizes.axes[unused + axis];
        const AxisOptions& options = conv.axes[unused + axis];
        of_kernel[axis] = rest % along.kernel;
        rest /= along.kernel;
        const int64_t at = out[nhwc ? axis + 1 : axis + 2], tap_at = of_kernel[axis] * options.dilation;
        if (transposed) {
          // The pixel that goes through this tap to here, if there is one.
          const int64_t strides = at + options.before - tap_at;
          inside = inside && strides >= 0 && strides % options.stride == 0;
          pixel[axis] = strides / options.stride;
        } else {
          pixel[axis] = at * options.stride + tap_at - options.before;
        }
        inside = inside && pixel[axis] >= 0 && pixel[axis] < along.image;
      }
      // A tap on the zeros around the image adds nothing; nor does one between its pixels.
      if (!inside) continue;
      for (int64_t c = 0; c < channels; ++c) {
        // Both operands have their channels where the layout puts them.
        ElementIndex image = pixel, weight = of_kernel;
        const int64_t channel = filter / filters * channels + c;
        if (block != 0) image.push_back(channel % block);
        image.insert(nhwc ? image.end() : image.begin(), block != 0 ? channel / block : channel);
        image.insert(image.begin(), first[0]);
        if (block != 0) {
          weight.insert(weight.begin(), {filter / block, c / block});
          weight.insert(weight.end(), {c % block, filter % block});
        } else if (nhwc) {
          weight.insert(weight.end(), {c, filter});
        } else {
          weight.insert(weight.begin(), {transposed ? c : filter, transposed ? filter : c});
        }
        products.Add(i, Element(node.inputs[0], image), Element(node.inputs[1], weight));
      }
    }
  }
  return winograd_.contains(convolution) ? products.Others(WinogradRow(convolution, row))
                                         : products.Sums(TermsOf(graph_, node), node.type.dtype);
}

// What the roundings of Winograd's algorithm may make of a row of the output, which is one pixel.
std::vector<double> GraphReference::WinogradRow(int convolution, int64_t row) {
  const GraphNode& node = graph_.at(convolution);
  const ConvolutionSizes sizes = SizesOfConvolution(graph_, node);
  const int tile = winograd_.at(convolution);
  // The filters' transforms are computed once for each convolution.
  if (!errors_.contains(convolution)) {
    Row filters;
    for (int64_t i = 0; i < Rows(graph_.at(node.inputs[1]).type); ++i)
      for (const Uncertain& x : RowOf(node.inputs[1], i)) filters.push_back(x);
    errors_.emplace(convolution, WinogradErrors(tile, sizes.channels, sizes.filters, filters));
  }
  const ElementIndex pixel = IndexOfRow(node.type.dims, row);
  const auto& [depth, height, width] = sizes.axes;
  // The corner of the square of inputs that the pixel's square of outputs is computed from.
  const int64_t top = pixel[1] / tile * tile - int64_t{node.conv.axes[ImageAxes::kHeight].before},
                left = pixel[2] / tile * tile - int64_t{node.conv.axes[ImageAxes::kWidth].before};
  Row inputs;
  for (int64_t y = top; y < top + WinogradInputs(tile); ++y)
    for (int64_t x = left; x < left + WinogradInputs(tile); ++x)
      for (int64_t c = 0; c < sizes.channels; ++c) {
        const bool inside = y >= 0 && y < height.image && x >= 0 && x < width.image;
        inputs.push_back(inside ? Element(node.inputs[0], {pixel[0], y, x, c}) : Uncertain{});
      }
  return errors_.at(convolution)
      .At(inputs, static_cast<size_t>(pixel[1] % tile), static_cast<size_t>(pixel[2] % tile));
}

// Finds the row that broadcasting reads of each input, and applies the operation to their elements.
GraphReference::Row GraphReference::ElementwiseRow(const GraphNode& node, int64_t row) {
  ElementIndex index = IndexOfRow(node.type.dims, row);
  // The second row stays the operation's option, if there is only one input. Few operations have a third.
  std::array<Row, 3> rows = {Row{}, Row{{node.number, 0}}, Row{Uncertain{}}};
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const Dims& dims = graph_.at(node.inputs[i]).type.dims;
    rows[i] = RowOf(node.inputs[i], RowAt(dims, Repeated(dims, index)));
  }
  // Rows of one element broadcast along the row.
  const auto at = [&](const Row& from, size_t i) { return from[from.size() == 1 ? 0 : i]; };
  Row results;
  for (size_t i = 0; i < static_cast<size_t>(RowLength(node.type)); ++i) {
    const Uncertain a = at(rows[0], i), b = at(rows[1], i), c = at(rows[2], i);
    results.push_back(IsFloating(node.type.dtype) ? ApplyOperation(node.op, a, b, c, ComputedIn(node))
                                                  : ApplyToIntegers(node.op, a, b));
  }
  return results;
}

Uncertain GraphReference::ReducedElement(const GraphNode& node, ElementIndex index) {
  const Dims& from = graph_.at(node.inputs[0]).type.dims;
  Row reduced;
  // Goes over all indices that differ along the reduced axes only, the last one fastest.
  for (bool more = true; more;) {
    reduced.push_back(Element(node.inputs[0], index));
    more = false;
    for (auto axis = node.axes.rbegin(); axis != node.axes.rend() && !more; ++axis) {
      more = ++index[*axis] < from[*axis];
      if (!more) index[*axis] = 0;
    }
  }
  if (node.op == Operation::kArgmin)
    for (Uncertain& x : reduced) x.value = -x.value;
  return IsPlace(node.op)                   ? PlaceOfGreatest(reduced)
         : node.op == Operation::kReduceSum ? Total(reduced, ComputedIn(node))
         : node.op == Operation::kReduceMax ? Greatest(reduced)
                                            : Mean(reduced, ComputedIn(node));
}

// Made of the elements at the indices of the axis that it is a copy of, or that its window has.
Uncertain GraphReference::AlongAxisElement(const GraphNode& node, ElementIndex index) {
  const size_t axis = node.axes.front();
  const AxisOptions& steps = node.along.steps;
  const int64_t begin = index[axis] * steps.stride + node.along.from - steps.before;
  Row window;
  for (int64_t t = 0; t < node.along.size; ++t) {
    index[axis] = begin + t * steps.dilation;
    int input = node.inputs[0];
    if (const int64_t size = graph_.at(input).type.dims[axis];
        index[axis] >= size && node.inputs.size() > 1) {
      index[axis] -= size;
      input = node.inputs[1];
    }
    if (index[axis] >= 0 && index[axis] < graph_.at(input).type.dims[axis])
      window.push_back(Element(input, index));
  }
  const Uncertain made = MadeOfWindow(node, window);
  return IsWindow(node.op) ? made : StoredAsElement(node.type.dtype, made);
}

// The sum of all elements that are not behind it, added up in their order.
Uncertain GraphReference::CumsumElement(const GraphNode& node, ElementIndex index) {
  const size_t axis = node.axes.front();
  Row added;
  for (const int64_t last = std::exchange(index[axis], 0); index[axis] <= last; ++index[axis])
    added.push_back(Element(node.inputs[0], index));
  if (IsFloating(node.type.dtype)) return Total(added, static_cast<double>(added.size()), ComputedIn(node));
  Uncertain sum;
  for (const Uncertain& x : added) sum = ApplyToIntegers(Operation::kAdd, sum, x);
  return sum;
}

// The element at the index that there is for it, moved to the nearest that exists. Where that is uncertain,
// it may be any of those that it may be the index of.
Uncertain GraphReference::TakenElement(const GraphNode& node, ElementIndex index) {
  const size_t axis = node.axes.front();
  const TensorType &x = graph_.at(node.inputs[0]).type, &indices = graph_.at(node.inputs[1]).type;
  const auto last = static_cast<double>(x.dims[axis] - 1);
  const auto end = index.begin() + static_cast<std::ptrdiff_t>(axis) + 1;
  const Uncertain at = Element(node.inputs[1], {end - static_cast<std::ptrdiff_t>(indices.dims.size()), end});
  const auto element = [&](double place) {
    index[axis] = static_cast<int64_t>(std::clamp(place, 0.0, last));
    return Element(node.inputs[0], index);
  };
  Uncertain taken = element(at.value);
  for (double place = std::max(at.value - at.error, 0.0); place <= std::min(at.value + at.error, last);
       ++place) {
    const Uncertain other = element(place);
    taken.error = std::max(taken.error, std::abs(other.value - taken.value) + other.error);
  }
  return taken;
}

// The element of its place: in the order of rows, or with the input's axes.
Uncertain GraphReference::RearrangedElement(const GraphNode& node, ElementIndex index) {
  const Dims &from = graph_.at(node.inputs[0]).type.dims, &to = node.type.dims;
  ElementIndex source(from.size(), 0);
  if (node.op == Operation::kPermute) {
    for (size_t axis = 0; axis < to.size(); ++axis) source[node.axes[axis]] = index[axis];
  } else if (node.op == Operation::kBroadcast) {
    source = Repeated(from, index);
  } else {
    int64_t place = to.empty() ? 0 : RowAt(to, index) * to.back() + index.back();
    for (size_t axis = from.size(); axis-- > 0; place /= from[axis]) source[axis] = place % from[axis];
  }
  return StoredAsElement(node.type.dtype, Element(node.inputs[0], source));
}

// exp(x - greatest) / sum of these, as kernels compute it, so that the bound follows their steps.
GraphReference::Row GraphReference::SoftmaxRow(int softmax, int64_t row) {
  const Dtype type = ComputedIn(graph_.at(softmax));
  Row result = RowOf(graph_.at(softmax).inputs[0], row);
  const Uncertain greatest = Greatest(result);
  // A row in which no key may be seen: see IsOfAttention.
  if (greatest.value == -HUGE_VAL && IsOfAttention(graph_, softmax))
    return Row(result.size(), {0, greatest.error});
  const bool bounded = std::ranges::all_of(result, [](const Uncertain& e) {
    return (std::isfinite(e.value) && std::isfinite(e.error)) || (e.value == -HUGE_VAL && e.error == 0);
  });
  for (Uncertain& e : result) e = FunctionOf(Operation::kExp, Sub(e, greatest, type), 0, type);
  // Online sums rescale as they go, so each term may go through as many roundings as there are terms.
  const Uncertain total = Total(result, static_cast<double>(result.size()), type);  // as if without blocks
  for (Uncertain& e : result) e = Div(e, total, type);
  // However far the elements are off, a share of the total is between 0 and 1, but for the total's roundings.
  const double roundings = static_cast<double>(result.size() + 8) * 4 * PrecisionOf(type).unit;
  if (bounded && greatest.value != -HUGE_VAL)
    for (Uncertain& e : result) e.error = std::min(e.error, std::max(e.value, 1 - e.value) + roundings);
  return result;
}

// Computes rmsnorm, or layernorm if the row is centred first. docs/exactness.md has the steps and their
// bounds.
GraphReference::Row GraphReference::NormRow(const GraphNode& node, int64_t row) {
  const Dtype type = ComputedIn(node);
  const Row x = RowOf(node.inputs[0], row);
  Row result = x;
  const bool centred = node.op == Operation::kLayernorm;
  if (centred)
    // The mean is that of the differences from the row's first element (docs/exactness.md). Halves of both
    // keep a difference finite.
    for (Uncertain& e : result) e = Sub(Times(0.5, e), Times(0.5, x.front()), type);
  const double scale = ScaleFor(result);
  if (std::isnan(scale)) return Row(x.size(), {NAN, HUGE_VAL});
  if (centred) {
    const Uncertain mean = MeanOfQuotients(result, type);
    for (Uncertain& e : result) e = Sub(e, mean, type);
  }
  for (Uncertain& e : result) e = Times(scale, e);
  Row squares = result;
  for (Uncertain& e : squares) e = Mul(e, e, type);
  // eps is scaled as the squares are: by the square of the scale, and by 1/4 where elements were halved.
  const double eps = node.number * (centred ? 0.25 : 1) * scale * scale;
  const Uncertain deviation = Sqrt(Add(Mean(squares, type), {eps, 0}, type), type);
  for (size_t i = 0; i < result.size(); ++i) {
    result[i] = Mul(Div(result[i], deviation, type), RowOf(node.inputs[1], 0)[i], type);
    if (node.op == Operation::kLayernorm) result[i] = Add(result[i], RowOf(node.inputs[2], 0)[i], type);
  }
  return result;
}

}  // namespace kirsch
