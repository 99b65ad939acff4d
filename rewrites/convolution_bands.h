// Convolutions of graphs as convolutions of copies with zeros around them, of whole images or of a few of
// their rows.
#ifndef KIRSCH_REWRITES_CONVOLUTION_BANDS_H_
#define KIRSCH_REWRITES_CONVOLUTION_BANDS_H_

#include <cstdint>
#include <vector>

#include "rewrites/iteration.h"
#include "spec/convolution.h"
#include "spec/graph.h"
#include "spec/plan.h"

namespace kirsch {

// A convolution's node and its sizes. Elements are counted as they lie in the layout.
struct ConvolutionNode {
  const GraphNode& node;
  ConvolutionSizes sizes;

  bool nhwc() const { return node.conv.layout == ImageLayout::kNhwc; }
  bool depthwise() const {
    return nhwc() && node.conv.groups > 1 && node.conv.groups == sizes.channels &&
           node.conv.groups == sizes.filters;
  }
  // That are computed one after the other.
  int64_t groups() const { return depthwise() ? 1 : node.conv.groups; }
  int64_t pad() const { return node.conv.pad; }
  // Elements of a row of an image and of the result, and of all of these.
  int64_t row() const { return int64_t{sizes.width} * (nhwc() ? sizes.channels : 1); }
  int64_t out_row() const { return int64_t{sizes.out_width} * (nhwc() ? sizes.filters : 1); }
  int64_t image() const { return row() * sizes.height * (nhwc() ? 1 : sizes.channels); }
  int64_t out_image() const { return out_row() * sizes.out_height * (nhwc() ? 1 : sizes.filters); }
};

// Of one group of the convolution, or of all of a depthwise one, with so many rows of padded images.
ConvShape ShapeOf(const ConvolutionNode& node, int64_t height);

// The stage that copies so many rows of one image, with rows of zeros before and after them; without
// operands.
Stage PadStage(const ConvolutionNode& node, int64_t height, int64_t before, int64_t after);

// Where an operand of the epilogue begins that has elements for the pixels of a part of the output;
// `strides`: those of the matrix that the output is.
StageOperand CutAs(const StageOperand& result, const ConvolutionNode& node, const MatrixStrides& strides,
                   int value);

// Neighbouring bands of the output with the same edges.
struct Bands {
  int64_t out = 0, in = 0;  // the first one's first row, and that of the image that it needs
  int64_t rows = 0;         // of all of them
  int64_t tile = 0;         // of each
  int64_t before = 0, inside = 0, after = 0;  // of each one's copy: rows of zeros, of the image, of zeros
};

// Bands of `tile` rows of the output, the last one perhaps of fewer. Copies are of what a multiple of so many
// rows needs.
std::vector<Bands> BandsOf(const ConvolutionNode& node, int64_t tile, int64_t multiple = 1);

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_CONVOLUTION_BANDS_H_
