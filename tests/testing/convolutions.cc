// SPDX-License-Identifier: Apache-2.0
#include "tests/testing/convolutions.h"

#include <algorithm>

#include "spec/canonical.h"

namespace kirsch::testing {
namespace {

bool HasPixels(const ConvShape& shape) {
  return std::all_of(shape.axes.begin(), shape.axes.end(),
                     [](const ConvAxis& axis) { return axis.window() <= axis.size; });
}

// Calls use(i) for 1 .. last.
template <typename Use>
void UpTo(int64_t last, const Use& use) {
  for (int64_t i = 1; i <= last; ++i) use(i);
}

// Strides and dilations are those of both axes.
void AppendKernels(ConvShape shape, std::vector<ConvShape>* shapes) {
  auto& [depth, height, width] = shape.axes;
  UpTo(3, [&](int64_t high) {
    UpTo(3, [&](int64_t wide) {
      UpTo(2, [&](int64_t stride) {
        UpTo(2, [&](int64_t dilation) {
          height.kernel = high, width.kernel = wide;
          height.stride = width.stride = stride, height.dilation = width.dilation = dilation;
          if (HasPixels(shape)) shapes->push_back(shape);
        });
      });
    });
  });
}

int64_t Below(int64_t end, std::mt19937_64* random) {
  return static_cast<int64_t>((*random)() % static_cast<uint64_t>(end));
}

// Short sides about as often as long ones.
int64_t Side(int64_t most, std::mt19937_64* random) { return 1 + Below(1 + Below(most, random), random); }

void SpreadOut(ConvShape* shape, std::mt19937_64* random) {
  const auto gap = [&] { return Below(3, random); };
  const bool nhwc = shape->layout == ImageLayout::kNhwc;
  auto& [depth, height, width] = shape->axes;
  if (nhwc) width.pitch = shape->channels + gap();
  height.pitch = width.size * (nhwc ? width.pitch : 1) + gap();
  depth.pitch = height.size * height.pitch + gap();
  (nhwc ? shape->input_image : shape->input_plane) = depth.size * depth.pitch + gap();
  shape->filters_row = (nhwc ? shape->filters : shape->taps()) + gap();
  // Some columns of a larger kernel.
  if (shape->lanewise() && depth.size == 1 && width.kernel < width.size)
    shape->filters_run = (width.kernel + gap()) * shape->group * shape->filters_row;
  shape->out_row = (nhwc ? shape->filters : shape->pixels()) + gap();
}

ConvAxis RandomAxis(int64_t most, int64_t kernel, std::mt19937_64* random) {
  return {Side(most, random), Side(kernel, random), Side(3, random), Side(3, random)};
}

}  // namespace

std::vector<ConvShape> SmallConvolutions() {
  std::vector<ConvShape> shapes;
  ConvShape shape;
  for (ImageLayout layout : {ImageLayout::kNhwc, ImageLayout::kNchw})
    UpTo(6, [&](int64_t height) {
      UpTo(6, [&](int64_t width) {
        UpTo(3, [&](int64_t channels) {
          UpTo(3, [&](int64_t filters) {
            shape.layout = layout;
            shape.axes[ImageAxes::kHeight].size = height, shape.axes[ImageAxes::kWidth].size = width;
            shape.channels = channels, shape.filters = filters;
            AppendKernels(shape, &shapes);
          });
        });
      });
    });
  shape = {.group = 1};
  UpTo(6, [&](int64_t height) {
    UpTo(6, [&](int64_t width) {
      for (int64_t channels : {1, 2, 3, 15, 16, 17, 31, 32, 33}) {
        shape.axes[ImageAxes::kHeight].size = height, shape.axes[ImageAxes::kWidth].size = width;
        shape.channels = shape.filters = channels;
        AppendKernels(shape, &shapes);
      }
    });
  });
  for (int64_t group : {2, 4, 8})
    for (int64_t groups : {1, 2, 5})
      for (int64_t side : {2, 5}) {
        shape.group = group, shape.channels = shape.filters = group * groups;
        shape.axes[ImageAxes::kHeight].size = side, shape.axes[ImageAxes::kWidth].size = 6;
        AppendKernels(shape, &shapes);
      }
  return shapes;
}

ConvShape RandomConvolution(double most, std::mt19937_64* random) {
  while (true) {
    ConvShape shape;
    shape.layout = Below(2, random) == 0 ? ImageLayout::kNhwc : ImageLayout::kNchw;
    shape.images = shape.layout == ImageLayout::kNhwc ? Side(3, random) : 1;
    shape.channels = Side(70, random), shape.filters = Side(70, random);
    if (shape.layout == ImageLayout::kNhwc && Below(3, random) == 0) {
      shape.group = int64_t{1} << (Below(2, random) * Below(4, random));
      shape.channels = shape.filters = (shape.channels + shape.group - 1) / shape.group * shape.group;
    }
    if (Below(4, random) == 0) shape.axes[ImageAxes::kDepth] = RandomAxis(8, 4, random);
    for (size_t axis : {ImageAxes::kHeight, ImageAxes::kWidth}) shape.axes[axis] = RandomAxis(40, 7, random);
    if (Below(3, random) == 0) SpreadOut(&shape, random);
    if (!HasPixels(shape)) continue;
    if (static_cast<double>(shape.pixels()) * static_cast<double>(shape.taps() * shape.filters) <= most)
      return shape;
  }
}

Spec SpecOf(const ConvShape& shape, const MatmulTypes& types) {
  return Canonicalise(ConvolutionSpec(shape, shape.group > 1 ? kF32 : types)).spec;
}

}  // namespace kirsch::testing
