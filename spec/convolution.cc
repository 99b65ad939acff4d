// SPDX-License-Identifier: Apache-2.0
#include "spec/convolution.h"

#include <algorithm>

#include "absl/container/inlined_vector.h"
#include "spec/check.h"

namespace kirsch {
namespace {

// 0 stands for the distance in a dense operand.
int64_t Or(int64_t given, int64_t dense) { return given != 0 ? given : dense; }

// A digit before neighbours are joined: `count` values, `stride` elements apart.
struct Count {
  int64_t count, stride;
};
using Counts = absl::InlinedVector<Count, kMaxDigits>;  // the innermost first

// Makes an axis of some digits. Digits of a single value are left out, and neighbours that follow each other
// in memory become one, if they are to be joined: 4 channels and 3 columns of 4 elements each are 12
// elements.
DigitAxis AxisOf(const Counts& counts, bool joins = true) {
  DigitAxis axis;
  for (const Count& next : counts) {
    if (next.count == 1) continue;
    Digit* const last = axis.digits == 0 ? nullptr : &axis.digit[static_cast<size_t>(axis.digits - 1)];
    if (joins && last != nullptr && int64_t{last->count} * last->stride == next.stride) {
      last->count *= static_cast<uint32_t>(next.count);
    } else {
      KIRSCH_CHECK(axis.digits < kMaxDigits);
      axis.digit[static_cast<size_t>(axis.digits++)] = {static_cast<uint32_t>(next.count),
                                                        static_cast<uint32_t>(next.stride)};
    }
  }
  return axis.digits == 0 ? DigitAxis::Strided(1) : axis.Truncated(axis.digits);
}

// The view of the input: one axis for the output's pixels, one for the taps of a sum. The innermost digits
// come first.
Window WindowOf(const ConvShape& shape) {
  const bool nhwc = shape.layout == ImageLayout::kNhwc;
  Counts taps, out;
  const int64_t together = !nhwc ? 1 : shape.block != 0 ? shape.block : shape.channels;
  if (nhwc) taps.push_back(shape.lanewise() ? Count{shape.group, 0} : Count{together, 1});
  int64_t dense = together;  // of what is within
  // From the width out: `dense` is the distance between neighbours of a dense image along this axis.
  for (size_t axis = shape.axes.size(); axis-- > 0;) {
    const ConvAxis& along = shape.axes[axis];
    const int64_t pitch = Or(along.pitch, dense);
    taps.push_back({along.kernel, along.dilation * pitch});
    out.push_back({along.out(), along.stride * pitch});
    dense = along.size * pitch;
  }
  if (!nhwc || shape.block != 0) taps.push_back({shape.channels / together, Or(shape.input_plane, dense)});
  if (!nhwc) return {InputOperand(shape.layout), {AxisOf(taps), AxisOf(out)}};
  out.push_back({shape.images, Or(shape.input_image, dense)});
  return {InputOperand(shape.layout), {AxisOf(out), AxisOf(taps)}};
}

// Lays out the filters of a lanewise convolution: rows of filters, a row for each tap. Where they are a part
// of a larger kernel, the rows are not at one distance, and the window says how they lie.
void LayOutFilters(const ConvShape& shape, Window* window, Spec* spec) {
  if (shape.taps() == 1) return;
  const int64_t row = Or(shape.filters_row, shape.filters), pixel = shape.group * row;
  const auto& [depth, height, width] = shape.axes;
  const int64_t run = Or(shape.filters_run, width.kernel * pixel);
  const Counts counts = {
      {shape.group, row}, {width.kernel, pixel}, {height.kernel, run}, {depth.kernel, height.kernel * run}};
  DigitAxis rows = AxisOf(counts);
  spec->operand[MatmulDims::kRhs].layout.ld = static_cast<uint32_t>(rows.stride(0));
  if (rows.digits == 1) return;
  // The channel of a group is a digit of its own, as it is in the image.
  if (shape.group > 1) rows = AxisOf(counts, false);
  KIRSCH_CHECK(window->axes[1].digits == rows.digits &&
               window->axes[1].digit[0].count == rows.digit[0].count);
  window->filters = rows;
}

}  // namespace

Spec ConvolutionSpec(const ConvShape& shape, const MatmulTypes& types, const Epilogue& epilogue) {
  const bool nhwc = shape.layout == ImageLayout::kNhwc;
  KIRSCH_CHECK(
      std::ranges::all_of(shape.axes, [](const ConvAxis& axis) { return axis.size >= axis.window(); }));
  KIRSCH_CHECK((nhwc && shape.block == 0) || shape.images == 1);
  KIRSCH_CHECK(shape.block == 0 || (nhwc && !shape.lanewise() && shape.channels % shape.block == 0));
  KIRSCH_CHECK(!shape.lanewise() ||
               (nhwc && shape.filters == shape.channels && shape.channels % shape.group == 0));
  KIRSCH_CHECK(shape.group <= 1 || (types.lhs == Dtype::kF32 && types.rhs == Dtype::kF32));
  const auto input = static_cast<size_t>(InputOperand(shape.layout)),
             filters = static_cast<size_t>(FiltersOperand(shape.layout));
  Spec spec;
  spec.size[MatmulDims::kB] = 1;
  spec.size[MatmulDims::kM] = static_cast<uint32_t>(nhwc ? shape.pixels() : shape.filters);
  spec.size[MatmulDims::kK] = static_cast<uint32_t>(shape.taps());
  spec.size[MatmulDims::kN] = static_cast<uint32_t>(nhwc ? shape.filters : shape.pixels());
  spec.operand[input].dtype = types.lhs;
  spec.operand[filters].dtype = types.rhs;
  spec.out().dtype = types.out;
  spec.operand[filters].layout.ld =
      static_cast<uint32_t>(Or(shape.filters_row, nhwc ? shape.filters : shape.taps()));
  spec.out().layout.ld = static_cast<uint32_t>(Or(shape.out_row, spec.size[MatmulDims::kN]));
  Window window = WindowOf(shape);
  if (shape.lanewise()) LayOutFilters(shape, &window, &spec);
  // A 1x1 kernel with stride 1 over a dense image, for example, needs no window: the input is a matrix as any
  // other.
  const bool strided = window.IsStrided() && !shape.lanewise();
  spec.operand[input].layout =
      strided ? window.StridedLayout() : Layout{LayoutKind::kWindow, Order::kRow, 0, 1, 0};
  spec.op =
      OpWith(epilogue, strided ? Window{} : window, shape.lanewise() ? OpKind::kDepthwise : OpKind::kMatmul);
  return spec;
}

}  // namespace kirsch
