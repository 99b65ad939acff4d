// SPDX-License-Identifier: Apache-2.0
#include "rewrites/graph/convolution_parts.h"

#include <algorithm>

#include "rewrites/graph/registry.h"

namespace kirsch {
namespace {

constexpr size_t kMostAlong = 5;  // parts: two on either side of the whole windows

// Walks along the output. A pixel that meets other taps than the one before it begins a part.
std::vector<PartAlong> PartsAlong(const ConvolutionSizes::Axis& sizes, const AxisOptions& options) {
  const int64_t dilation = options.dilation, size = sizes.image, kernel = sizes.kernel;
  std::vector<PartAlong> parts;
  for (int64_t out = 0; out < sizes.out; ++out) {
    const int64_t first = out * options.stride - int64_t{options.before};  // where its first tap is
    // Taps from `tap` on lie in the image, those from `end` on behind it.
    const int64_t tap = first >= 0 ? 0 : (-first + dilation - 1) / dilation;
    const int64_t end = first >= size ? 0 : std::min(kernel, (size - 1 - first) / dilation + 1);
    if (end <= tap) return {};
    if (!parts.empty() && parts.back().tap == tap && parts.back().taps == end - tap) {
      ++parts.back().count;
    } else {
      parts.push_back({out, 1, tap, end - tap, first + tap * dilation});
    }
  }
  return parts;
}

// True if the taps of filters and image can be indexed alike. A part that leaves out columns of the kernel
// skips elements between the kernel's rows; the image has to skip some as well. Else the reduction would be
// one run in the image, but several in the filters.
bool FiltersLieAsTaps(const ConvolutionNode& node, const ConvolutionPart& part) {
  const ConvolutionSizes::Axis& width = node.sizes.axes[ImageAxes::kWidth];
  const int64_t dilation = node.node.conv.axes[ImageAxes::kWidth].dilation,
                rows_apart = node.node.conv.axes[ImageAxes::kHeight].dilation;
  return part.columns.taps == width.kernel || part.rows.taps == 1 ||
         part.columns.taps * dilation != rows_apart * width.image;
}

// The same stage for so many rows, one after the other. Each repeat begins a row further.
Stage Repeated(Stage stage, int64_t rows) {
  stage.repeats = rows;
  for (StageOperand& operand : stage.operands) operand.repeat_stride = operand.row_stride;
  return stage;
}

// An epilogue's operand that has an element for each pixel is no vector within parts of rows (TakesPixels).
bool Applies(const GroupProblem& problem) {
  if (!IsConvolution(problem)) return false;
  const FusedConvolution whole(problem.group, LanesOf(problem));
  const bool items = whole.block() == 0 || whole.sizes.images == 1;  // of one kind: images, or blocks
  return whole.node.conv.padded() && whole.lane_group() != 0 && items && !whole.has_depth() &&
         !whole.TakesPixels() && !PartsOf(whole).empty();
}

// Rows that lie apart are taken so many at a time.
std::vector<RewriteParameters> Enumerate(const GroupProblem&) { return {{1}, {2}, {4}, {8}}; }

// The operands begin where the part does: the image at the first pixel that it meets, the filters at its
// first tap, the result at its first pixel. Items are images, or the blocks of channels of a single one.
LoopNest MakeNest(const FusedConvolution& whole, const ConvolutionPart& part, int64_t tile) {
  const int64_t channels = whole.together(whole.sizes.channels), blocks = whole.sizes.channels / channels;
  const int64_t width = whole.sizes.axes[ImageAxes::kWidth].kernel;
  const StageOperand image{whole.image_value(), part.rows.in * whole.row() + part.columns.in * channels,
                           whole.plane(), whole.options_along().stride * whole.row()};
  const int64_t tap = part.rows.tap * width + part.columns.tap;
  const StageOperand filters{
      whole.filters_value(), tap * whole.lane_group() * channels,
      blocks > 1 ? width * whole.sizes.axes[ImageAxes::kHeight].kernel * channels : int64_t{0}, 0};
  const StageOperand result{whole.fused().result,
                            part.rows.out * whole.out_row() + part.columns.out * channels, whole.out_plane(),
                            whole.out_row()};
  LoopNest nest;
  nest.batch = whole.sizes.images * blocks;
  // Most parts are one convolution. Of others each row is one, and a trip of the nest computes `tile` of
  // them.
  nest.rows = part.one_by_one ? part.rows.count : 1;
  nest.tile = std::clamp<int64_t>(tile, 1, nest.rows);
  Stage row = whole.PartStage(ShapeOf(whole, part), image, filters, result);
  for (size_t i = 3; blocks > 1 && i < row.operands.size(); ++i)
    row.operands[i].batch_stride = row.operands[i].repeat_stride;
  nest.stages = {Repeated(row, nest.tile)};
  if (const int64_t left = nest.rows % nest.tile; left != 0) nest.rest = {Repeated(row, left)};
  return nest;
}

GroupShape Expand(const GroupProblem& problem, const GroupForm& form) {
  const FusedConvolution whole(problem.group, LanesOf(problem));
  GroupShape shape;
  if (!whole.IsAll(&shape)) return shape;
  if (form.parameters[0] < 1) shape.Fail(whole.id(), "a tile of a row at least");
  whole.Reserve(&shape);
  for (const ConvolutionPart& part : PartsOf(whole))
    shape.nests.push_back(MakeNest(whole, part, form.parameters[0]));
  return shape;
}

}  // namespace

const GraphRewrite kConvolutionParts = {"parts", {"tile"}, Applies, Enumerate, Expand};

std::vector<ConvolutionPart> PartsOf(const ConvolutionNode& node) {
  const ConvolutionSizes& sizes = node.sizes;
  const auto [height, width] = std::array{ImageAxes::kHeight, ImageAxes::kWidth};
  const std::vector<PartAlong> rows = PartsAlong(sizes.axes[height], node.node.conv.axes[height]),
                               columns = PartsAlong(sizes.axes[width], node.node.conv.axes[width]);
  if (rows.size() > kMostAlong || columns.size() > kMostAlong) return {};
  std::vector<ConvolutionPart> parts;
  for (const PartAlong& r : rows)
    for (const PartAlong& c : columns) {
      // A spec's output has one distance from pixel to pixel. Several rows of several pixels, narrower than
      // the output, have two: their rows are taken one by one.
      parts.push_back({r, c, r.count > 1 && c.count > 1 && c.count < sizes.axes[width].out});
      if (!FiltersLieAsTaps(node, parts.back())) return {};
    }
  return parts;
}

ConvShape ShapeOf(const ConvolutionNode& node, const ConvolutionPart& part) {
  const int64_t channels = node.together(node.sizes.channels),
                kernel = node.sizes.axes[ImageAxes::kWidth].kernel;
  // The pixels that so many windows of so many taps meet. The convolution sees no more of the image than
  // these.
  const auto meets = [&](size_t axis, int64_t pixels, int64_t taps, int64_t pitch) {
    const AxisOptions& options = node.node.conv.axes[axis];
    ConvAxis along{1, taps, options.stride, options.dilation, pitch};
    along.size = (pixels - 1) * along.stride + along.window();
    return along;
  };
  ConvShape conv;
  conv.layout = ImageLayout::kNhwc;
  conv.group = node.lane_group();
  conv.channels = conv.filters = conv.filters_row = channels;
  conv.axes[ImageAxes::kHeight] =
      meets(ImageAxes::kHeight, part.one_by_one ? 1 : part.rows.count, part.rows.taps, node.row());
  conv.axes[ImageAxes::kWidth] = meets(ImageAxes::kWidth, part.columns.count, part.columns.taps, channels);
  conv.filters_run = kernel * conv.group * channels;
  // Pixels of one column are rows apart.
  if (part.columns.count == 1) conv.out_row = node.out_row();
  return conv;
}

}  // namespace kirsch
