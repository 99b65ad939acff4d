// SPDX-License-Identifier: Apache-2.0
// Convolutions as matmuls one of whose operands is a window view of the input.
#ifndef KIRSCH_SPEC_CONVOLUTION_H_
#define KIRSCH_SPEC_CONVOLUTION_H_

#include <cstdint>

#include "spec/epilogue.h"
#include "spec/matmul_types.h"
#include "spec/spec.h"

namespace kirsch {

// A convolution of an input that is padded already, in one group:
//
//   out[image][oh][ow][filter] = sum over kh, kw, channel of
//       input[image][oh * stride + kh * dilation][ow * stride + kw * dilation][channel] *
//       filters[kh][kw][channel][filter]
//
// kNhwc: the three lie with their axes as written. kNchw: input[channel][h][w],
// filters[filter][channel][kh][kw], out[filter][oh][ow], of one image: those of several are computed one
// after the other. Depthwise: there is no sum over channels, which are the filters; filters[kh][kw][channel].
struct ConvShape {
  ImageLayout layout = ImageLayout::kNhwc;
  bool depthwise = false;  // each filter is of its own channel alone; kNhwc only, filters == channels
  int64_t images = 1, channels = 1, height = 1, width = 1;  // of the input
  int64_t filters = 1, kernel_height = 1, kernel_width = 1;
  int64_t stride = 1, dilation = 1;
  // Elements between neighbours, where the operands are parts of larger ones; 0: as they are dense. Of the
  // input: rows; pixels of a row (kNhwc only); planes of channels (kNchw only); images (kNhwc only). Of the
  // filters: rows of the matrix they are, [kh, kw, channel][filter] ([kh, kw][channel]), or
  // [filter][channel, kh, kw]. Of the output: pixels (kNhwc), planes (kNchw).
  int64_t input_row = 0, input_pixel = 0, input_plane = 0, input_image = 0;
  int64_t filters_row = 0;
  int64_t filters_run = 0;  // depthwise: from one of the kernel's rows to the next
  int64_t out_row = 0;

  int64_t out_height() const { return (height - (kernel_height - 1) * dilation - 1) / stride + 1; }
  int64_t out_width() const { return (width - (kernel_width - 1) * dilation - 1) / stride + 1; }
  int64_t pixels() const { return images * out_height() * out_width(); }  // of the output
  int64_t kernel_pixels() const { return kernel_height * kernel_width; }
  int64_t taps() const { return (depthwise ? 1 : channels) * kernel_pixels(); }  // terms of a sum
};

// Which of the matmul's operands they are; out is out.
constexpr int InputOperand(ImageLayout layout) {
  return layout == ImageLayout::kNhwc ? MatmulDims::kLhs : MatmulDims::kRhs;
}
constexpr int FiltersOperand(ImageLayout layout) {
  return layout == ImageLayout::kNhwc ? MatmulDims::kRhs : MatmulDims::kLhs;
}

// kNhwc: a matmul (or depthwise convolution) of pixels x taps x filters; kNchw: a matmul of filters x taps x
// pixels. A root spec, for
// Canonicalise; more may be asked for in its fields (accumulate, constant, fixed_order). An epilogue's rows
// and columns are those of that matmul. `types`: of the input, the filters and the output. At least one
// pixel; sides as of matmuls; images only of kNhwc.
Spec ConvolutionSpec(const ConvShape& shape, const MatmulTypes& types, const Epilogue& epilogue = {});

}  // namespace kirsch

#endif  // KIRSCH_SPEC_CONVOLUTION_H_
