// SPDX-License-Identifier: Apache-2.0
// Holds a convolution with an epilogue as a user asks for it, whichever text says it: a shorthand, or a
// kernel of the kernel language. It knows whether the convolution is a single contraction, and makes the spec
// if it is.
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

// The names of a shorthand's parameters.
inline constexpr char kImageName[] = "image", kFiltersName[] = "filters";

// Why a convolution is not a single contraction, in the order in which limit() looks:
//
//   kTransposed it is transposed, so several contractions
//   kPad        zeros around the image, which lie nowhere in memory
//   kGroups     several groups; a spec has one
//   kBlocks     channels in blocks, whose filters are computed block by block
//   kImages     several images in nchw, which are computed one after the other
//   kSides      more pixels, or terms in a sum, than a side of a matmul may have (kMaxSide)
//   kElements   more elements in out than an operand may have (kMaxElements)
enum class ConvolutionLimit : uint8_t {
  kNone,
  kTransposed,
  kPad,
  kGroups,
  kBlocks,
  kImages,
  kSides,
  kElements
};

// A value. Whoever makes one has checked that the padded image holds the kernel, and that `groups` divides
// the channels and the filters.
struct ConvolutionRequest {
  Operation op = Operation::kConv2d;
  MatmulTypes types = {};
  ConvolutionSizes sizes = {};
  ConvolutionOptions options = {};
  Epilogue epilogue = {};
  bool accumulate = false, constant_filters = false, fixed_order = false;

  size_t axes() const { return Info(op).image_axes; }
  bool transposed() const { return Info(op).transposed; }
  bool nhwc() const { return options.layout == ImageLayout::kNhwc; }
  uint32_t block() const { return ChannelBlock(options.layout); }  // of channels; 0: not in blocks
  // The shapes of the parameters, in the order of `options.layout`.
  std::vector<uint32_t> image_dims() const;
  std::vector<uint32_t> filters_dims() const;
  // The shapes that the epilogue's operands have. Its rows and columns are those of the matmul that each
  // convolution is: of nhwc and of blocks pixels and filters, of nchw filters and pixels.
  EpilogueShapes output_shapes() const;

  // kNone: the convolution is a single contraction, which AsSpec makes.
  ConvolutionLimit limit() const;
};

// The shorthand in its shortest form: options that have their usual value are left out.
std::string PrintConvolution(const ConvolutionRequest& request);

// The single contraction that it is; limit() must be kNone. Its parameters are the image, the filters, the
// epilogue's operands, and out, called as in shorthands.
ParsedSpec AsSpec(const ConvolutionRequest& request);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_LANGUAGE_CONVOLUTION_REQUEST_H_
