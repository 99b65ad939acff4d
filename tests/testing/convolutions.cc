// SPDX-License-Identifier: Apache-2.0
#include "tests/testing/convolutions.h"

#include "spec/canonical.h"

namespace kirsch::testing {
namespace {

bool HasPixels(const ConvShape& shape) {
  return (shape.kernel_height - 1) * shape.dilation < shape.height &&
         (shape.kernel_width - 1) * shape.dilation < shape.width;
}

// Calls use(i) for 1 .. last.
template <typename Use>
void UpTo(int64_t last, const Use& use) {
  for (int64_t i = 1; i <= last; ++i) use(i);
}

void AppendKernels(ConvShape shape, std::vector<ConvShape>* shapes) {
  UpTo(3, [&](int64_t height) {
    UpTo(3, [&](int64_t width) {
      UpTo(2, [&](int64_t stride) {
        UpTo(2, [&](int64_t dilation) {
          shape.kernel_height = height, shape.kernel_width = width;
          shape.stride = stride, shape.dilation = dilation;
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
  shape->input_pixel = shape->channels + gap();
  shape->input_row = shape->width * (nhwc ? shape->input_pixel : 1) + gap();
  (nhwc ? shape->input_image : shape->input_plane) = shape->height * shape->input_row + gap();
  shape->filters_row = (nhwc ? shape->filters : shape->taps()) + gap();
  // Some columns of a larger kernel.
  if (shape->depthwise && shape->kernel_width < shape->width)
    shape->filters_run = (shape->kernel_width + gap()) * shape->filters_row;
  shape->out_row = (nhwc ? shape->filters : shape->pixels()) + gap();
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
            shape.height = height, shape.width = width;
            shape.channels = channels, shape.filters = filters;
            AppendKernels(shape, &shapes);
          });
        });
      });
    });
  shape = {.depthwise = true};
  UpTo(6, [&](int64_t height) {
    UpTo(6, [&](int64_t width) {
      for (int64_t channels : {1, 2, 3, 15, 16, 17, 31, 32, 33}) {
        shape.height = height, shape.width = width;
        shape.channels = shape.filters = channels;
        AppendKernels(shape, &shapes);
      }
    });
  });
  return shapes;
}

ConvShape RandomConvolution(double most, std::mt19937_64* random) {
  while (true) {
    ConvShape shape;
    shape.layout = Below(2, random) == 0 ? ImageLayout::kNhwc : ImageLayout::kNchw;
    shape.images = shape.layout == ImageLayout::kNhwc ? Side(3, random) : 1;
    shape.channels = Side(70, random), shape.filters = Side(70, random);
    shape.depthwise = shape.layout == ImageLayout::kNhwc && Below(3, random) == 0;
    if (shape.depthwise) shape.filters = shape.channels;
    shape.height = Side(40, random), shape.width = Side(40, random);
    shape.kernel_height = Side(7, random), shape.kernel_width = Side(7, random);
    shape.stride = Side(3, random), shape.dilation = Side(3, random);
    if (Below(3, random) == 0) SpreadOut(&shape, random);
    if (!HasPixels(shape)) continue;
    if (static_cast<double>(shape.pixels()) * static_cast<double>(shape.taps() * shape.filters) <= most)
      return shape;
  }
}

Spec SpecOf(const ConvShape& shape, const MatmulTypes& types) {
  return Canonicalise(ConvolutionSpec(shape, types)).spec;
}

}  // namespace kirsch::testing
