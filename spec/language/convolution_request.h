// SPDX-License-Identifier: Apache-2.0
// A convolution with an epilogue as a user asks for it, whichever text says it.
#ifndef KIRSCH_SPEC_LANGUAGE_CONVOLUTION_REQUEST_H_
#define KIRSCH_SPEC_LANGUAGE_CONVOLUTION_REQUEST_H_

#include <cstdint>
#include <string>
#include <vector>

#include "spec/convolution.h"
#include "spec/epilogue.h"
#include "spec/graph/epilogue_operations.h"
#include "spec/graph/graph.h"
#include "spec/language/parser.h"
#include "spec/matmul_types.h"
#include "spec/operation.h"

namespace kirsch {

// What parameters of a shorthand are called.
inline constexpr char kImageName[] = "image", kFiltersName[] = "filters";

// Why a convolution is not a single contraction.
enum class ConvolutionLimit : uint8_t { kNone, kPad, kGroups, kImages, kSides, kElements };

// A value. The padded image holds the kernel.
struct ConvolutionRequest {
  Operation op = Operation::kConv2d;
  MatmulTypes types = {};
  ConvolutionSizes sizes = {};
  ConvolutionOptions options = {};
  Epilogue epilogue = {};
  bool accumulate = false, constant_filters = false, fixed_order = false;

  size_t axes() const { return Info(op).image_axes; }
  bool nhwc() const { return options.layout == ImageLayout::kNhwc; }
  std::vector<uint32_t> image_dims() const;
  std::vector<uint32_t> filters_dims() const;
  // An epilogue's rows and columns are those of the matmul that each convolution is: of nhwc pixels and
  // filters, of nchw filters and pixels.
  EpilogueShapes output_shapes() const;

  // kNone: AsSpec has one.
  ConvolutionLimit limit() const;
};

// The shorthand, in its shortest form.
std::string PrintConvolution(const ConvolutionRequest& request);

// The single contraction that it is: its parameters are the image, the filters, what the epilogue takes, and
// out, called as in shorthands.
ParsedSpec AsSpec(const ConvolutionRequest& request);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_LANGUAGE_CONVOLUTION_REQUEST_H_
