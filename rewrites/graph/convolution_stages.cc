// SPDX-License-Identifier: Apache-2.0
#include "rewrites/graph/convolution_stages.h"

#include <utility>
#include <vector>

#include "rewrites/graph/contraction_stage.h"

namespace kirsch {
namespace {

// The matrix that the output is. Layout nhwc: rows are the pixels of all images, columns are filters. Layout
// nchw: each image is an item of the batch, its filters are rows, its pixels columns. In blocks: each block
// of filters is an item, its pixels are rows, its filters columns.
IterationSpace SpaceOf(const GraphNode& node) {
  if (ChannelBlock(node.conv.layout) != 0)
    return {.dims = node.type.dims,
            .rows_begin = 2,
            .columns_begin = node.type.dims.size() - 1,
            .batch_begin = 1};
  const bool nhwc = node.conv.layout == ImageLayout::kNhwc;
  return {node.type.dims, nhwc ? 0u : 1u, nhwc ? node.type.dims.size() - 1 : 2u};
}

}  // namespace

ConvShape ShapeOf(const ConvolutionNode& node, int64_t rows) {
  const ConvolutionSizes& sizes = node.sizes;
  ConvShape conv;
  conv.layout = node.node.conv.layout;
  conv.group = node.lane_group();
  conv.images = node.nhwc() ? sizes.images : 1;
  // A group has its share of the channels and of the filters.
  conv.channels = sizes.channels / node.groups();
  conv.filters = sizes.filters / node.groups();
  const bool part = node.nhwc() && node.groups() > 1;  // of the channels
  int64_t pitch = sizes.channels;
  for (size_t axis = conv.axes.size(); axis-- > 0;) {
    const AxisOptions& options = node.node.conv.axes[axis];
    ConvAxis& along = conv.axes[axis];
    along = {axis == node.first_axis() ? rows : node.padded(axis), sizes.axes[axis].kernel, options.stride,
             options.dilation};
    // A group's channels lie among those of the others. So pixels, rows and images are as far apart as in the
    // whole image: `pitch` grows axis by axis, from the innermost on.
    if (part) along.pitch = pitch;
    pitch *= along.size;
  }
  if (part) {
    conv.input_image = pitch;
    conv.filters_row = conv.out_row = sizes.filters;
  }
  if (node.block() != 0) {
    conv.layout = ImageLayout::kNhwc;
    conv.filters = node.block();
    (conv.lanewise() ? conv.channels : conv.block) = node.block();
  }
  return conv;
}

Stage PadStage(const ConvolutionNode& node, int64_t rows, int64_t before, int64_t after) {
  const auto& [depth, height, width] = node.node.conv.axes;
  const int64_t pixel = node.together(node.sizes.channels);
  Stage stage;
  stage.kind = StageKind::kPad;
  CopyShape& copy = stage.copy;
  copy.width = node.sizes.axes[ImageAxes::kWidth].image * pixel;
  copy.before = width.before * pixel;
  copy.after = width.after * pixel;
  // In layout nchw each channel, in blocks each block, is a plane with zeros of its own. In layout nhwc the
  // channels are a part of the row's width.
  const int64_t planes = node.sizes.channels / pixel / (node.block() != 0 ? node.groups() : 1),
                from = node.plane();
  if (node.has_depth()) {
    copy.images = planes;
    copy.from_image = from;
    copy.planes = rows;
    copy.planes_before = before;
    copy.planes_after = after;
    copy.from_plane = node.row();
    copy.height = node.sizes.axes[ImageAxes::kHeight].image;
    copy.rows_before = height.before;
    copy.rows_after = height.after;
  } else {
    copy.planes = planes;
    copy.from_plane = from;
    copy.height = rows;
    copy.rows_before = before;
    copy.rows_after = after;
  }
  return stage;
}

FusedConvolution::FusedConvolution(const FusionGroup& group, int64_t lanes)
    : ConvolutionNode{group.graph().at(group.at(0)),
                      SizesOfConvolution(group.graph(), group.graph().at(group.at(0))), lanes},
      group_(group),
      space_(SpaceOf(node)),
      fused_(FuseEpilogue(group, 0, space_, false)) {}

bool FusedConvolution::IsAll(GroupShape* shape) const {
  // Strided images and filters are copied before (materialize.h); the copy is dense.
  for (int node : {image_value(), filters_operand().value, fused_.result})
    if (!group_.graph().at(node).type.dense()) shape->Fail(group_.at(0), "what lies row by row");
  const size_t end = fused_.taken + 1;
  if (end != group_.size()) shape->Fail(group_.at(end), "what the convolution's epilogue can do");
  return shape->error.empty();
}

bool FusedConvolution::TakesPixels() const {
  for (size_t i = 0; i < fused_.operands.size(); ++i)
    if (StridesOf(i).row != 0 && StridesOf(i).column == 0) return true;
  return false;
}

MatrixStrides FusedConvolution::StridesOf(size_t operand) const {
  return StridesIn(space_, group_.graph().at(fused_.operands[operand]).type).value_or(MatrixStrides{});
}

Stage FusedConvolution::WholeStage(const ConvShape& conv, const StageOperand& input,
                                   const StageOperand& filters, const StageOperand& out) const {
  const Spec asked = ConvolutionSpec(conv, {Dtype::kF32, Dtype::kF32, stored()}, fused_.epilogue);
  std::vector<StageOperand> operands(3);
  operands[static_cast<size_t>(InputOperand(conv.layout))] = input;
  operands[static_cast<size_t>(FiltersOperand(conv.layout))] = filters;
  operands[2] = out;
  Stage stage = ContractionStage(asked, std::move(operands));
  for (size_t i = 0; i < fused_.operands.size(); ++i)
    stage.operands.push_back({fused_.operands[i], 0, StridesOf(i).batch, 0});
  return stage;
}

Stage FusedConvolution::PartStage(const ConvShape& conv, const StageOperand& input,
                                  const StageOperand& filters, const StageOperand& result) const {
  Stage stage = WholeStage(conv, input, filters, result);
  stage.operands.resize(3);
  AddEpilogueOperands(result, &stage);
  return stage;
}

// Only operands with elements for pixels differ from part to part; they begin where the result does.
void FusedConvolution::AddEpilogueOperands(const StageOperand& result, Stage* stage) const {
  for (size_t i = 0; i < fused_.operands.size(); ++i) {
    const MatrixStrides strides = StridesOf(i);
    const bool of_pixels = (nhwc() ? strides.row : strides.column) != 0;
    stage->operands.push_back(block() != 0 ? CutByBlocks(result, i)
                              : of_pixels  ? CutAs(result, i)
                                           : StageOperand{fused_.operands[i], 0, strides.batch, 0});
  }
}

// Returns where an operand of the epilogue begins for a part of the output, if it has elements for pixels.
// One that has an element for each pixel, not for each filter, moves on by 1 where the result moves on by all
// filters.
StageOperand FusedConvolution::CutAs(const StageOperand& result, size_t operand) const {
  StageOperand cut = result;
  cut.value = fused_.operands[operand];
  if (!nhwc()) {
    cut.batch_stride = StridesOf(operand).batch;
  } else if (StridesOf(operand).column == 0) {  // one for all filters
    cut.batch_stride = cut.batch_stride / sizes.filters;
    for (int64_t* elements : {&cut.offset, &cut.row_stride, &cut.repeat_stride}) *elements /= sizes.filters;
  }
  return cut;
}

// Returns the same where channels are in blocks. Repeats are the blocks; items are images, or one's groups.
StageOperand FusedConvolution::CutByBlocks(const StageOperand& result, size_t operand) const {
  const MatrixStrides strides = StridesOf(operand);
  const int64_t image = result.offset / out_image(), pixel = result.offset % out_image() / block();
  return {fused_.operands[operand], image * strides.outer + pixel * strides.row,
          groups() > 1 ? blocks() * strides.batch : strides.outer, result.row_stride / block() * strides.row,
          strides.batch};
}

void FusedConvolution::Reserve(GroupShape* shape) const {
  GroupMemory(group_, false).Reserve(fused_.result, 0, 0, shape);
}

bool IsConvolution(const GroupProblem& problem) {
  return IsConvolution(problem.group.graph().at(problem.group.at(0)).op);
}

void ReserveCopy(int value, const CopyShape& copy, GroupShape* shape) {
  shape->Reserve(value, copy.padded_elements(), copy.dtype);
}

}  // namespace kirsch
