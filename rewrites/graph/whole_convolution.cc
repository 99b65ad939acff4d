// SPDX-License-Identifier: Apache-2.0
// Computes a convolution with its epilogue by one spec, all rows at once. A padded image is copied first,
// with zeros around it: a window must not reach beyond the image.
//
//   before -> after, for an image f32[1,56,56,64], 3x3 filters, padding of 1:
//     conv2d(x, w)  ->  before all items: a copy of 58x58x64 with zeros around it
//                       a convolution of the copy, as a matmul of 3136 pixels x 576 taps x filters
//
// Groups are computed one after the other, or, of few channels, all at once by the lanes of vectors.
#include <utility>

#include "rewrites/graph/convolution_stages.h"
#include "rewrites/graph/registry.h"

namespace kirsch {
namespace {

// Returns the value that holds the images with zeros around them: a copy, which is made before all items, or
// the image itself if there is no padding.
int Padded(const FusedConvolution& whole, int next_value, GroupShape* shape) {
  if (!whole.node.conv.padded()) return whole.image_value();
  const AxisOptions& along = whole.options_along();
  Stage stage = PadStage(whole, whole.along().image, along.before, along.after);
  (whole.has_depth() ? stage.copy.images : stage.copy.planes) *= whole.sizes.images;
  stage.operands = {{whole.image_value(), 0, 0, 0}, {next_value, 0, 0, 0}};
  ReserveCopy(next_value, stage.copy, shape);
  shape->nests.front().before.push_back(std::move(stage));
  return next_value;
}

// Returns the stage for the item `first` and those after it. An item is an image, or a group of the
// convolution.
Stage StageOf(const FusedConvolution& whole, int image, int64_t first) {
  const bool nhwc = whole.nhwc(), by_group = whole.groups() > 1;
  const ConvShape conv = ShapeOf(whole, whole.padded(whole.first_axis()));
  const int64_t in = nhwc ? conv.channels : conv.channels * conv.input_pixels();
  const int64_t out = nhwc ? conv.filters : conv.filters * conv.pixels();
  StageOperand filters = whole.filters_operand(), result{whole.fused().result, first * out, out, 0};
  if (by_group) filters.batch_stride = conv.filters * (nhwc ? 1 : conv.taps());
  Stage stage = whole.WholeStage(conv, {image, first * in, in, 0}, filters, result);
  // Vectors of an epilogue are cut as the filters are.
  for (size_t i = 0; by_group && i < whole.fused().operands.size(); ++i) {
    const MatrixStrides strides = whole.StridesOf(i);
    StageOperand& operand = stage.operands[3 + i];
    operand.batch_stride = conv.filters * (nhwc ? strides.column : strides.row);
    operand.offset = first / whole.groups() * strides.batch;
  }
  return stage;
}

// Blocks of channels are the bands' business.
bool Applies(const GroupProblem& problem) {
  return IsConvolution(problem) && FusedConvolution(problem.group).block() == 0;
}

std::vector<RewriteParameters> Enumerate(const GroupProblem&) { return {{}}; }

bool HasLaneGroups(const GroupProblem& problem) {
  return IsConvolution(problem) && FusedConvolution(problem.group, LanesOf(problem)).lane_group() > 1;
}

// Items are the images of nchw, or the groups of the convolution. Groups of nchw differ from image to image,
// so each image has a nest of its own.
template <bool by_lanes>
GroupShape Expand(const GroupProblem& problem, const GroupForm& form) {
  const FusedConvolution whole(problem.group, by_lanes ? LanesOf(problem) : 1);
  GroupShape shape;
  if (!whole.IsAll(&shape)) return shape;
  whole.Reserve(&shape);
  shape.nests.emplace_back();
  const bool by_group = whole.groups() > 1;
  const int64_t alone = by_group && !whole.nhwc() ? whole.sizes.images : 1;
  const int input = Padded(whole, form.next_value, &shape);
  for (int64_t image = 0; image < alone; ++image) {
    if (image > 0) shape.nests.emplace_back();
    LoopNest& nest = shape.nests.back();
    nest.batch = by_group ? whole.groups() : whole.nhwc() ? 1 : whole.sizes.images;
    nest.stages.push_back(StageOf(whole, input, image * nest.batch));
  }
  return shape;
}

}  // namespace

const GraphRewrite kWholeConvolution = {"convolution", {}, Applies, Enumerate, Expand<false>};
const GraphRewrite kConvolutionByLanes = {"lanes", {}, HasLaneGroups, Enumerate, Expand<true>};

}  // namespace kirsch
