#include "rewrites/convolution_bands.h"

#include <algorithm>

namespace kirsch {

ConvShape ShapeOf(const ConvolutionNode& node, int64_t height) {
  const ConvolutionOptions& options = node.node.conv;
  const ConvolutionSizes& sizes = node.sizes;
  ConvShape conv;
  conv.layout = options.layout;
  conv.depthwise = node.depthwise();
  conv.images = node.nhwc() ? sizes.images : 1;
  conv.channels = sizes.channels / node.groups();
  conv.height = height;
  conv.width = sizes.width + 2 * node.pad();
  conv.filters = sizes.filters / node.groups();
  conv.kernel_height = sizes.kernel_height;
  conv.kernel_width = sizes.kernel_width;
  conv.stride = options.stride;
  conv.dilation = options.dilation;
  if (node.nhwc() && node.groups() > 1) {
    conv.input_pixel = sizes.channels;
    conv.input_row = conv.width * sizes.channels;
    conv.input_image = conv.height * conv.input_row;
    conv.filters_row = conv.out_row = sizes.filters;
  }
  return conv;
}

Stage PadStage(const ConvolutionNode& node, int64_t height, int64_t before, int64_t after) {
  Stage stage;
  stage.kind = StageKind::kPad;
  stage.copy.planes = node.nhwc() ? 1 : node.sizes.channels;
  stage.copy.height = height;
  stage.copy.width = node.row();
  stage.copy.rows_before = before;
  stage.copy.rows_after = after;
  stage.copy.pad = node.pad() * (node.nhwc() ? node.sizes.channels : 1);
  stage.copy.from_plane = node.row() * node.sizes.height;
  return stage;
}

StageOperand CutAs(const StageOperand& result, const ConvolutionNode& node, const MatrixStrides& strides,
                   int value) {
  StageOperand cut = result;
  cut.value = value;
  if (!node.nhwc()) {
    cut.batch_stride = strides.batch;
  } else if (strides.column == 0) {  // one for all filters
    for (int64_t* elements : {&cut.offset, &cut.batch_stride, &cut.row_stride})
      *elements /= node.sizes.filters;
  }
  return cut;
}

std::vector<Bands> BandsOf(const ConvolutionNode& node, int64_t tile, int64_t multiple) {
  const int64_t rows = node.sizes.out_height, stride = node.node.conv.stride;
  const int64_t window = int64_t{node.sizes.kernel_height - 1} * node.node.conv.dilation + 1;
  std::vector<Bands> all;
  for (int64_t first = 0; first < rows; first += tile) {
    Bands band;
    band.out = first;
    band.rows = band.tile = std::min(tile, rows - first);
    const int64_t whole = (band.tile + multiple - 1) / multiple * multiple;
    const int64_t begin = first * stride - node.pad(), height = (whole - 1) * stride + window;
    band.before = std::clamp<int64_t>(-begin, 0, height);
    band.after = std::clamp<int64_t>(begin + height - node.sizes.height, 0, height - band.before);
    band.inside = height - band.before - band.after;
    band.in = band.inside > 0 ? begin + band.before : 0;
    const bool alike = !all.empty() && all.back().tile == band.tile && all.back().before == band.before &&
                       all.back().inside == band.inside;
    if (alike) {
      all.back().rows += band.rows;
    } else {
      all.push_back(band);
    }
  }
  return all;
}

}  // namespace kirsch
