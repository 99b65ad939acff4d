// SPDX-License-Identifier: Apache-2.0
#include "rewrites/graph/convolution_bands.h"

#include <algorithm>
#include <utility>

#include "rewrites/graph/registry.h"
#include "rewrites/spec/tile_sizes.h"

namespace kirsch {
namespace {

// Without padding there is nothing to copy, and a single row is no band. Convolutions by groups that are not
// those of lanes are left to the other rewrites.
bool Applies(const GroupProblem& problem) {
  if (!IsConvolution(problem)) return false;
  const FusedConvolution whole(problem.group, LanesOf(problem));
  return whole.node.conv.padded() && whole.groups() == 1 && whole.along().out > 1;
}

// Layout nchw gets one height only, as its searches take longer.
std::vector<RewriteParameters> Enumerate(const GroupProblem& problem) {
  const FusedConvolution whole(problem.group, LanesOf(problem));
  const int64_t rows = whole.along().out;
  std::vector<RewriteParameters> all;
  for (int64_t tile : whole.nhwc() ? Doublings(2, 32, rows) : Doublings(8, 8, rows)) all.push_back({tile});
  return all;
}

// The nest of bands that are alike: for each band a copy of its rows with the zeros around them, then the
// convolution of the copy. `copy` is the buffer's number.
LoopNest MakeNest(const FusedConvolution& whole, const Bands& bands, int copy, GroupShape* shape) {
  Stage pad = PadStage(whole, bands.inside, bands.before, bands.after);
  ReserveCopy(copy, pad.copy, shape);
  pad.operands = {{whole.image_value(), bands.in * whole.row(), whole.image(),
                   whole.options_along().stride * whole.row()},
                  {copy, 0, 0, 0}};
  ConvShape conv = ShapeOf(whole, bands.before + bands.inside + bands.after);
  conv.images = 1;
  // In layout nchw a band is a few rows of each plane of the output: planes are a whole image's apart.
  if (!whole.nhwc()) conv.out_row = whole.out_row() * whole.along().out;
  const StageOperand result{whole.fused().result, bands.out * whole.out_row(), whole.out_image(),
                            whole.out_row()};
  LoopNest nest;
  nest.batch = whole.sizes.images;
  nest.rows = bands.rows;
  nest.tile = bands.tile;
  nest.stages = {std::move(pad), whole.PartStage(conv, {copy, 0, 0, 0}, whole.filters_operand(), result)};
  return nest;
}

GroupShape Expand(const GroupProblem& problem, const GroupForm& form) {
  const FusedConvolution whole(problem.group, LanesOf(problem));
  GroupShape shape;
  if (!whole.IsAll(&shape)) return shape;
  const int64_t tile = form.parameters[0];
  if (tile < 1 || tile >= whole.along().out) {
    shape.Fail(whole.id(), "bands of fewer rows than the output has");
    return shape;
  }
  whole.Reserve(&shape);
  for (const Bands& bands : BandsOf(whole, tile))
    shape.nests.push_back(MakeNest(whole, bands, form.next_value, &shape));
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
