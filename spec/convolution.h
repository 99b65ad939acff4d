// SPDX-License-Identifier: Apache-2.0
// Makes convolutions into matmuls one of whose operands is a window view of the input. So tiles, moves, packs
// and costs are those of matmuls.
#ifndef KIRSCH_SPEC_CONVOLUTION_H_
#define KIRSCH_SPEC_CONVOLUTION_H_

#include <array>
#include <cstdint>

#include "spec/epilogue.h"
#include "spec/layout.h"
#include "spec/matmul_types.h"
#include "spec/spec.h"

namespace kirsch {

// The sizes along one axis of an image, which is padded already.
struct ConvAxis {
  int64_t size = 1, kernel = 1;  // pixels of the input, taps
  int64_t stride = 1, dilation = 1;
  // Elements from one pixel of the input to the next, where it is part of a larger one; 0: as it is dense.
  // Along the width kNhwc only.
  int64_t pitch = 0;

  int64_t window() const { return (kernel - 1) * dilation + 1; }  // pixels from the first tap to the last
  int64_t out() const { return (size - window()) / stride + 1; }
};

// A convolution of an input that is padded already, in one group:
//
//   out[image][od][oh][ow][filter] = sum over kd, kh, kw, channel of
//       input[image][od * stride + kd * dilation][oh * stride + kh * dilation][ow * stride + kw * dilation]
//            [channel] * filters[kd][kh][kw][channel][filter]
//
// Strides and dilations are each axis's own.
//
//   kNhwc      the three lie with their axes as written
//   kNchw      input[channel][d][h][w], filters[filter][channel][kd][kh][kw], out[filter][od][oh][ow], of one
//              image: those of several are computed one after the other
//   group      channels are in groups of so many, and so are filters. A filter sums the channels of its own
//              group; filters[kd][kh][kw][channel of the group][filter]. A group of 1 is a depthwise one.
//   block      input[channels / block][d][h][w][block], filters[channels / block][kd][kh][kw][block][filter],
//              of one image, kNhwc only
struct ConvShape {
  ImageLayout layout = ImageLayout::kNhwc;
  int64_t group = 0;  // 0: all channels are one; else kNhwc only, filters == channels
  int64_t block = 0;  // 0: a pixel's channels are neighbours; else it divides the channels
  int64_t images = 1, channels = 1, filters = 1;
  std::array<ConvAxis, ImageAxes::kCount> axes = {};
  // Elements between neighbours, where the operands are parts of larger ones; 0: as they are dense. Of the
  // input: planes of channels (kNchw) or of blocks; images (kNhwc only). Of the filters: rows of the matrix
  // they are, [kd, kh, kw, channel][filter], or [filter][channel, kd, kh, kw]. Of the output: pixels (kNhwc),
  // planes (kNchw).
  int64_t input_plane = 0, input_image = 0;
  int64_t filters_row = 0;
  int64_t filters_run = 0;  // lanewise: from one of the kernel's rows to the next
  int64_t out_row = 0;

  int64_t pixels() const {
    return images * Product([](const ConvAxis& axis) { return axis.out(); });
  }
  int64_t input_pixels() const {
    return Product([](const ConvAxis& axis) { return axis.size; });
  }
  int64_t kernel_pixels() const {
    return Product([](const ConvAxis& axis) { return axis.kernel; });
  }
  bool lanewise() const { return group != 0; }
  int64_t taps() const { return (lanewise() ? group : channels) * kernel_pixels(); }  // terms of a sum

  // The product of a number for each axis.
  template <typename Along>
  int64_t Product(const Along& along) const {
    int64_t product = 1;
    for (const ConvAxis& axis : axes) product *= along(axis);
    return product;
  }
};

// The operands of the matmul that the input and the filters are; out is out.
constexpr int InputOperand(ImageLayout layout) {
  return layout == ImageLayout::kNhwc ? MatmulDims::kLhs : MatmulDims::kRhs;
}
constexpr int FiltersOperand(ImageLayout layout) {
  return layout == ImageLayout::kNhwc ? MatmulDims::kRhs : MatmulDims::kLhs;
}

// Returns the spec of a convolution.
// kNhwc: a matmul (or lanewise operation) of pixels x taps x filters; kNchw: a matmul of filters x taps x
// pixels. An epilogue's rows and columns are those of that matmul. `types`: of the input, the filters and the
// output.
// It is a root spec, for Canonicalise. More may be asked for in its fields (accumulate, constant,
// fixed_order). The output has one pixel at least, its sides are as of matmuls, and there are several images
// in kNhwc only.
Spec ConvolutionSpec(const ConvShape& shape, const MatmulTypes& types, const Epilogue& epilogue = {});

}  // namespace kirsch

#endif  // KIRSCH_SPEC_CONVOLUTION_H_
