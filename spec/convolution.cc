// SPDX-License-Identifier: Apache-2.0
#include "spec/convolution.h"

#include <initializer_list>

#include "spec/check.h"

namespace kirsch {
namespace {

int64_t Or(int64_t given, int64_t dense) { return given != 0 ? given : dense; }

struct Count {
  int64_t count, stride;
};

// Digits of a single value are none, and neighbours that follow each other are one.
DigitAxis AxisOf(std::initializer_list<Count> counts) {
  DigitAxis axis;
  for (const Count& next : counts) {
    if (next.count == 1) continue;
    Digit* const last = axis.digits == 0 ? nullptr : &axis.digit[static_cast<size_t>(axis.digits - 1)];
    if (last != nullptr && int64_t{last->count} * last->stride == next.stride) {
      last->count *= static_cast<uint32_t>(next.count);
    } else {
      axis.digit[static_cast<size_t>(axis.digits++)] = {static_cast<uint32_t>(next.count),
                                                        static_cast<uint32_t>(next.stride)};
    }
  }
  return axis.digits == 0 ? DigitAxis::Strided(1) : axis.Truncated(axis.digits);
}

Window WindowOf(const ConvShape& shape) {
  const int64_t dilation = shape.dilation, stride = shape.stride;
  const Count kernel_row{shape.kernel_width, dilation}, kernel{shape.kernel_height, dilation};
  const Count out_row{shape.out_width(), stride}, out{shape.out_height(), stride};
  const auto times = [](const Count& count, int64_t by) { return Count{count.count, count.stride * by}; };
  if (shape.layout == ImageLayout::kNchw) {
    const int64_t row = Or(shape.input_row, shape.width), plane = Or(shape.input_plane, shape.height * row);
    return {InputOperand(shape.layout),
            {AxisOf({kernel_row, times(kernel, row), {shape.channels, plane}}),
             AxisOf({out_row, times(out, row)})}};
  }
  const int64_t pixel = Or(shape.input_pixel, shape.channels), row = Or(shape.input_row, shape.width * pixel),
                image = Or(shape.input_image, shape.height * row);
  const Count channels{shape.depthwise ? 1 : shape.channels, 1};
  return {InputOperand(shape.layout),
          {AxisOf({times(out_row, pixel), times(out, row), {shape.images, image}}),
           AxisOf({channels, times(kernel_row, pixel), times(kernel, row)})}};
}

// Of a depthwise convolution.
void LayOutFilters(const ConvShape& shape, Window* window, Spec* spec) {
  if (shape.taps() == 1) return;
  const int64_t pixel = Or(shape.filters_row, shape.filters);
  const DigitAxis rows = AxisOf({{shape.kernel_width, pixel},
                                 {shape.kernel_height, Or(shape.filters_run, shape.kernel_width * pixel)}});
  spec->operand[MatmulDims::kRhs].layout.ld = static_cast<uint32_t>(rows.stride(0));
  if (rows.digits == 1) return;
  KIRSCH_CHECK(window->axes[1].digits == rows.digits &&
               window->axes[1].digit[0].count == rows.digit[0].count);
  window->filters = rows;
}

}  // namespace

Spec ConvolutionSpec(const ConvShape& shape, const MatmulTypes& types, const Epilogue& epilogue) {
  const bool nhwc = shape.layout == ImageLayout::kNhwc;
  KIRSCH_CHECK(shape.out_height() > 0 && shape.out_width() > 0 && (nhwc || shape.images == 1));
  KIRSCH_CHECK(!shape.depthwise || (nhwc && shape.filters == shape.channels));
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
  if (shape.depthwise) LayOutFilters(shape, &window, &spec);
  const bool strided = window.IsStrided() && !shape.depthwise;
  spec.operand[input].layout =
      strided ? window.StridedLayout() : Layout{LayoutKind::kWindow, Order::kRow, 0, 1, 0};
  spec.op =
      OpWith(epilogue, strided ? Window{} : window, shape.depthwise ? OpKind::kDepthwise : OpKind::kMatmul);
  return spec;
}

}  // namespace kirsch
