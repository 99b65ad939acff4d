// SPDX-License-Identifier: Apache-2.0
#include "rewrites/graph/convolution_bands.h"

#include <algorithm>
#include <utility>

#include "rewrites/graph/registry.h"
#include "rewrites/spec/tile_sizes.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

// Without padding there is nothing to copy, and a single row is no band. Convolutions by groups that are not
// those of lanes are left to the other rewrites. Those with channels in blocks are all computed here.
bool Applies(const GroupProblem& problem) {
  if (!IsConvolution(problem)) return false;
  const FusedConvolution whole(problem.group, LanesOf(problem));
  return whole.block() != 0 || (whole.node.conv.padded() && whole.groups() == 1 && whole.along().out > 1);
}

// Layout nchw gets one height only, as its searches take longer. In blocks all rows may be one band.
std::vector<RewriteParameters> Enumerate(const GroupProblem& problem) {
  const FusedConvolution whole(problem.group, LanesOf(problem));
  const int64_t rows = whole.along().out;
  std::vector<RewriteParameters> all;
  for (int64_t tile : whole.nhwc()         ? Doublings(2, 32, rows)
                      : whole.block() != 0 ? Doublings(1, 32, rows)
                                           : Doublings(8, 8, rows))
    all.push_back({tile});
  if (whole.block() != 0) all.push_back({rows});
  return all;
}

// Makes the stage compute all blocks of a group's filters, one after the other. All read the same image. In a
// depthwise convolution each block of the result has one of the image: planes of these are `plane` apart.
void RepeatForBlocks(const FusedConvolution& whole, const ConvShape& conv, int64_t plane, Stage* stage) {
  StageOperand &image = stage->operands[MatmulDims::kLhs], &filters = stage->operands[MatmulDims::kRhs];
  stage->repeats = whole.blocks();
  if (conv.lanewise()) image.repeat_stride = plane;
  filters.repeat_stride = conv.taps() * conv.filters;
  if (whole.groups() > 1) filters.batch_stride = stage->repeats * filters.repeat_stride;
  stage->operands[MatmulDims::kOut].repeat_stride = whole.out_plane();
}

// The convolution of a band, as a spec. Planes of the input are `plane` apart where channels are in blocks.
ConvShape BandShape(const FusedConvolution& whole, const Bands& bands, int64_t* plane) {
  ConvShape conv = ShapeOf(whole, bands.before + bands.inside + bands.after);
  conv.images = 1;
  *plane = whole.node.conv.padded() ? conv.input_pixels() * whole.block() : whole.plane();
  if (conv.block != 0) conv.input_plane = *plane;
  // In layout nchw a band is a few rows of each plane of the output: planes are a whole image's apart.
  if (conv.layout == ImageLayout::kNchw) conv.out_row = whole.out_plane();
  return conv;
}

// The nest of bands that are alike: for each band a copy of its rows with the zeros around them, then the
// convolution of the copy. Without padding the image itself is read. `copy` is the buffer's number. Items are
// the images, or, if groups are computed one by one, those of the image `first`.
LoopNest MakeNest(const FusedConvolution& whole, const Bands& bands, int64_t first, int copy,
                  GroupShape* shape) {
  LoopNest nest;
  nest.batch = whole.groups() > 1 ? whole.groups() : whole.sizes.images;
  nest.rows = bands.rows;
  nest.tile = bands.tile;
  StageOperand input{whole.image_value(), first * whole.image() + bands.in * whole.row(),
                     whole.image() / whole.groups(), whole.options_along().stride * whole.row()};
  if (whole.node.conv.padded()) {
    Stage pad = PadStage(whole, bands.inside, bands.before, bands.after);
    ReserveCopy(copy, pad.copy, shape);
    pad.operands = {input, {copy, 0, 0, 0}};
    input = pad.operands[1];
    nest.stages.push_back(std::move(pad));
  }
  int64_t plane = 0;
  const ConvShape conv = BandShape(whole, bands, &plane);
  const StageOperand result{whole.fused().result, first * whole.out_image() + bands.out * whole.out_row(),
                            whole.out_image() / whole.groups(), whole.out_row()};
  nest.stages.push_back(whole.PartStage(conv, input, whole.filters_operand(), result));
  if (whole.block() != 0) RepeatForBlocks(whole, conv, plane, &nest.stages.back());
  return nest;
}

// Groups of a block's layout are computed one by one, and differ from image to image: each image has nests of
// its own then.
GroupShape Expand(const GroupProblem& problem, const GroupForm& form) {
  const FusedConvolution whole(problem.group, LanesOf(problem));
  GroupShape shape;
  if (!whole.IsAll(&shape)) return shape;
  const int64_t tile = form.parameters[0], most = whole.along().out - (whole.block() != 0 ? 0 : 1);
  if (tile < 1 || tile > most) {
    shape.Fail(whole.id(), Cat("bands of 1 to ", most, " rows"));
    return shape;
  }
  whole.Reserve(&shape);
  for (int64_t first = 0; first < (whole.groups() > 1 ? whole.sizes.images : 1); ++first)
    for (const Bands& bands : BandsOf(whole, tile))
      shape.nests.push_back(MakeNest(whole, bands, first, form.next_value, &shape));
  return shape;
}

}  // namespace

const GraphRewrite kConvolutionBands = {"bands", {"tile"}, Applies, Enumerate, Expand};

std::vector<Bands> BandsOf(const ConvolutionNode& node, int64_t tile, int64_t multiple) {
  // Row r of the output meets rows of the image from r * stride - before on, `window` of them.
  const AxisOptions& options = node.options_along();
  const int64_t rows = node.along().out, stride = options.stride;
  const int64_t window = int64_t{node.along().kernel - 1} * options.dilation + 1;
  std::vector<Bands> all;
  for (int64_t first = 0; first < rows; first += tile) {
    Bands band;
    band.out = first;
    band.rows = band.tile = std::min(tile, rows - first);
    // Rows of the padded image that the band needs: `begin` may be negative, and the end beyond the image.
    // What lies outside are rows of zeros.
    const int64_t whole = (band.tile + multiple - 1) / multiple * multiple;
    const int64_t begin = first * stride - options.before, height = (whole - 1) * stride + window;
    band.before = std::clamp<int64_t>(-begin, 0, height);
    band.after = std::clamp<int64_t>(begin + height - node.along().image, 0, height - band.before);
    band.inside = height - band.before - band.after;
    band.in = band.inside > 0 ? begin + band.before : 0;
    // A band that differs from the one before it only in its place joins it, so that one nest does for both.
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
