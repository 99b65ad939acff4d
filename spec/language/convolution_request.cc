// SPDX-License-Identifier: Apache-2.0
#include "spec/language/convolution_request.h"

#include "spec/canonical.h"
#include "spec/check.h"
#include "spec/language/convolution_options.h"
#include "spec/language/printer.h"
#include "spec/language/shorthand.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

using Dims = std::vector<uint32_t>;

// One member of the sizes along each axis that the images have.
Dims Along(const ConvolutionRequest& request, uint32_t ConvolutionSizes::Axis::* size) {
  return Along(AxesOf(request.sizes.axes, request.axes()), size);
}

// Axes that the images do not have are of one pixel and one tap, as in ConvolutionSizes.
ConvShape ShapeOf(const ConvolutionRequest& request) {
  ConvShape shape;
  shape.layout = request.options.layout;
  shape.images = request.sizes.images;
  shape.channels = request.sizes.channels;
  shape.filters = request.sizes.filters;
  for (size_t axis = 0; axis < shape.axes.size(); ++axis) {
    const ConvolutionSizes::Axis& sizes = request.sizes.axes[axis];
    const AxisOptions& options = request.options.axes[axis];
    shape.axes[axis] = {sizes.image, sizes.kernel, options.stride, options.dilation};
  }
  return shape;
}

// The parameters in the order of the text, and the operand of the spec that each is. `swapped`: the spec is
// the transposed problem.
std::vector<Parameter> MakeParameters(const ConvolutionRequest& request, bool swapped) {
  const auto operand = [&](int of_matmul) { return SwappedOperand(of_matmul, swapped); };
  const ImageLayout layout = request.options.layout;
  const EpilogueShapes shapes = request.output_shapes();
  const Epilogue& epilogue = request.epilogue;
  std::vector<Parameter> parameters = {
      {kImageName, operand(InputOperand(layout)), TensorType{request.types.lhs, request.image_dims()}},
      {kFiltersName, operand(FiltersOperand(layout)), TensorType{request.types.rhs, request.filters_dims()}}};
  const std::vector<std::string> names = EpilogueNames(epilogue);
  for (int i = 0; i < epilogue.count; ++i) {
    const EpilogueStep& step = epilogue.steps[static_cast<size_t>(i)];
    if (!step.HasOperand()) continue;
    // The operands of the epilogue follow out in a spec, and the two inputs here.
    const size_t number = parameters.size() - 2;
    parameters.push_back(
        {names[number], MatmulDims::kOut + 1 + static_cast<int>(number),
         TensorType{TypeBefore(epilogue, AccumulatorOf(request.types.lhs), i), shapes.Of(step.operand)}});
  }
  parameters.push_back({"out", MatmulDims::kOut, TensorType{request.types.out, shapes.all}});
  return parameters;
}

}  // namespace

std::vector<uint32_t> ConvolutionRequest::image_dims() const {
  return ImageDims(options.layout, sizes.images, Along(*this, &ConvolutionSizes::Axis::image),
                   sizes.channels);
}

std::vector<uint32_t> ConvolutionRequest::filters_dims() const {
  return FiltersDims(options, Along(*this, &ConvolutionSizes::Axis::kernel), sizes.channels / options.groups,
                     sizes.filters, transposed());
}

EpilogueShapes ConvolutionRequest::output_shapes() const {
  const Dims pixels = Along(*this, &ConvolutionSizes::Axis::out);
  const Dims all = ImageDims(options.layout, sizes.images, pixels, sizes.filters);
  // An operand with an element for each pixel has the output's shape with one filter, one with an element for
  // each filter that with one pixel.
  Dims by_pixel = all, by_filter = {sizes.filters};
  by_pixel[nhwc() ? all.size() - 1 : 1] = 1;
  if (nhwc()) return {by_pixel, by_filter, all};
  // Else filters come before the axes of the image, which are of size 1 then: [F,1,1], or [F/16,1,1,16].
  if (block() == 0) {
    by_filter.resize(axes() + 1, 1);
    return {by_filter, by_pixel, all};
  }
  by_pixel.back() = 1;
  by_filter = ImageDims(options.layout, 1, Dims(axes(), 1), sizes.filters);
  by_filter.erase(by_filter.begin());
  return {by_pixel, by_filter, all};
}

ConvolutionLimit ConvolutionRequest::limit() const {
  if (transposed()) return ConvolutionLimit::kTransposed;
  if (options.padded()) return ConvolutionLimit::kPad;
  if (options.groups > 1) return ConvolutionLimit::kGroups;
  if (block() != 0) return ConvolutionLimit::kBlocks;
  if (!nhwc() && sizes.images > 1) return ConvolutionLimit::kImages;
  // The matmul that it would be may have sides or an output that are too large for a spec.
  const ConvShape shape = ShapeOf(*this);
  if (shape.pixels() > kMaxSide || shape.taps() > kMaxSide) return ConvolutionLimit::kSides;
  return shape.pixels() * shape.filters > kMaxElements ? ConvolutionLimit::kElements
                                                       : ConvolutionLimit::kNone;
}

std::string PrintConvolution(const ConvolutionRequest& request) {
  std::string text =
      Cat(Name(request.op), " ", PrintTypes(request.types), " ", request.sizes.images, "x",
          request.sizes.channels, "x", Join(Along(request, &ConvolutionSizes::Axis::image), "x"),
          " filters=", request.sizes.filters,
          " kernel=", Join(Along(request, &ConvolutionSizes::Axis::kernel), "x"));
  for (const OptionText& option : PrintOptions(request.options, request.axes(), request.transposed()))
    if (!option.usual) Append(&text, " ", option.name, "=", option.value);
  if (request.accumulate) Append(&text, " ", kAccumulateWord);
  if (request.constant_filters) Append(&text, " ", kConstantFiltersWord);
  if (request.fixed_order) Append(&text, " ", kFixedOrderWord);
  if (!request.epilogue.empty())
    Append(&text, " ", kEpilogueWord, "=", PrintEpilogue(request.epilogue, AccumulatorOf(request.types.lhs)));
  return text;
}

ParsedSpec AsSpec(const ConvolutionRequest& request) {
  KIRSCH_CHECK(request.limit() == ConvolutionLimit::kNone);
  Spec spec = ConvolutionSpec(ShapeOf(request), request.types, request.epilogue);
  spec.accumulate = request.accumulate;
  spec.fixed_order = request.fixed_order ? 1 : 0;
  spec.tensor(FiltersOperand(request.options.layout)).constant = request.constant_filters ? 1 : 0;
  const CanonicalSpec canonical = Canonicalise(spec);
  return {canonical.spec, canonical.swapped, PrintConvolution(request),
          MakeParameters(request, canonical.swapped)};
}

}  // namespace kirsch
