// SPDX-License-Identifier: Apache-2.0
#include "spec/language/convolution_request.h"

#include "spec/canonical.h"
#include "spec/check.h"
#include "spec/graph/types.h"
#include "spec/language/epilogue_parser.h"
#include "spec/language/printer.h"
#include "spec/language/shorthand.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

using Dims = std::vector<uint32_t>;

ConvShape ShapeOf(const ConvolutionRequest& request) {
  ConvShape shape;
  shape.layout = request.options.layout;
  shape.images = request.images;
  shape.channels = request.channels;
  shape.height = request.height;
  shape.width = request.width;
  shape.filters = request.filters;
  shape.kernel_height = request.kernel_height;
  shape.kernel_width = request.kernel_width;
  shape.stride = request.options.stride;
  shape.dilation = request.options.dilation;
  return shape;
}

std::vector<Parameter> MakeParameters(const ConvolutionRequest& request, bool swapped) {
  const auto operand = [&](int of_matmul) { return SwappedOperand(of_matmul, swapped); };
  const ImageLayout layout = request.options.layout;
  const ConvShape shape = ShapeOf(request);
  const EpilogueShapes shapes = request.output_shapes(static_cast<uint32_t>(shape.out_height()),
                                                      static_cast<uint32_t>(shape.out_width()));
  const Epilogue& epilogue = request.epilogue;
  std::vector<Parameter> parameters = {
      {kImageName, operand(InputOperand(layout)), TensorType{request.types.lhs, request.image_dims()}},
      {kFiltersName, operand(FiltersOperand(layout)), TensorType{request.types.rhs, request.filters_dims()}}};
  const std::vector<std::string> names = EpilogueNames(epilogue);
  for (int i = 0; i < epilogue.count; ++i) {
    const EpilogueStep& step = epilogue.steps[static_cast<size_t>(i)];
    if (!step.HasOperand()) continue;
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
  return nhwc() ? Dims{images, height, width, channels} : Dims{images, channels, height, width};
}

std::vector<uint32_t> ConvolutionRequest::filters_dims() const {
  const uint32_t per_group = channels / options.groups;
  return nhwc() ? Dims{kernel_height, kernel_width, per_group, filters}
                : Dims{filters, per_group, kernel_height, kernel_width};
}

EpilogueShapes ConvolutionRequest::output_shapes(uint32_t out_height, uint32_t out_width) const {
  const uint32_t n = images, f = filters, h = out_height, w = out_width;
  if (nhwc()) return {{n, h, w, 1}, {f}, {n, h, w, f}};
  return {{f, 1, 1}, {n, 1, h, w}, {n, f, h, w}};
}

ConvolutionLimit ConvolutionRequest::limit() const {
  if (options.pad.any()) return ConvolutionLimit::kPad;
  if (options.groups > 1) return ConvolutionLimit::kGroups;
  if (!nhwc() && images > 1) return ConvolutionLimit::kImages;
  const ConvShape shape = ShapeOf(*this);
  if (shape.pixels() > kMaxSide || shape.taps() > kMaxSide) return ConvolutionLimit::kSides;
  return shape.pixels() * shape.filters > kMaxElements ? ConvolutionLimit::kElements
                                                       : ConvolutionLimit::kNone;
}

std::string PrintConvolution(const ConvolutionRequest& request) {
  const ConvolutionOptions& options = request.options;
  std::string text =
      Cat(kConvolutionWord, " ", PrintTypes(request.types), " ", request.images, "x", request.channels, "x",
          request.height, "x", request.width, " filters=", request.filters, " kernel=", request.kernel_height,
          "x", request.kernel_width);
  if (options.stride > 1) Append(&text, " stride=", options.stride);
  if (options.pad.any()) Append(&text, " pad=", PrintPadding(options.pad));
  if (options.dilation > 1) Append(&text, " dilation=", options.dilation);
  if (options.groups > 1) Append(&text, " groups=", options.groups);
  Append(&text, " layout=", kImageLayouts[static_cast<size_t>(options.layout)]);
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
