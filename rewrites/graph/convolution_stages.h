// SPDX-License-Identifier: Apache-2.0
// Describes convolutions of graphs with their epilogues, and makes the stages that all rewrites of them
// share. A convolution is a matmul one of whose operands is a window of the image (spec/convolution.h).
//
//   layout nhwc: pixels x taps x filters    lhs is the window of the image, rhs the filters
//   layout nchw: filters x taps x pixels    lhs is the filters, rhs the window; one image at a time
//   in blocks:   pixels x taps x a block    as nhwc; one block of the filters of one image at a time
#ifndef KIRSCH_REWRITES_GRAPH_CONVOLUTION_STAGES_H_
#define KIRSCH_REWRITES_GRAPH_CONVOLUTION_STAGES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "rewrites/analysis/fusion_group.h"
#include "rewrites/analysis/iteration.h"
#include "rewrites/graph/epilogue_fusion.h"
#include "rewrites/graph/graph_rewrite.h"
#include "spec/convolution.h"
#include "spec/graph/graph.h"
#include "spec/program/plan.h"

namespace kirsch {

// A convolution's node and its sizes. Elements are counted as they lie in the layout. Steps of an image's
// first axis are its rows: slices, if images have a depth; an image of one axis is a row of pixels.
struct ConvolutionNode {
  const GraphNode& node;
  ConvolutionSizes sizes;

  // The axis whose steps are the rows.
  size_t first_axis() const {
    return Info(node.op).image_axes == ImageAxes::kCount ? ImageAxes::kDepth : ImageAxes::kHeight;
  }
  const ConvolutionSizes::Axis& along() const { return sizes.axes[first_axis()]; }
  const AxisOptions& options_along() const { return node.conv.axes[first_axis()]; }
  bool has_depth() const { return first_axis() == ImageAxes::kDepth; }

  bool nhwc() const { return node.conv.layout == ImageLayout::kNhwc; }
  int64_t block() const { return ChannelBlock(node.conv.layout); }  // 0: channels are not in blocks
  // Of so many channels, or filters: those of a pixel that lie side by side.
  int64_t together(int64_t channels) const { return nhwc() ? channels : std::max<int64_t>(block(), 1); }
  int64_t lanes = 1;  // groups whose channels divide it are computed as a depthwise convolution is

  // Channels of a group, and filters, where all groups are one spec in layout nhwc, or all of a block; 0
  // where they are not. If each filter is of one channel alone, that is always so. Vectors are whole groups.
  int64_t lane_group() const {
    const int64_t group = sizes.channels / node.conv.groups;
    const bool alike = node.conv.groups > 1 && sizes.channels == sizes.filters;
    const bool may = block() != 0 ? IsDepthwise(sizes, node.conv) : nhwc() && alike;
    return may && lanes % group == 0 ? group : 0;
  }
  // The groups that are computed one after the other, each by a spec.
  int64_t groups() const { return lane_group() != 0 ? 1 : node.conv.groups; }
  // Blocks of filters that a group has.
  int64_t blocks() const { return sizes.filters / groups() / block(); }
  // Pixels of an image along the axis, the zeros around it included.
  int64_t padded(size_t axis) const {
    const AxisOptions& options = node.conv.axes[axis];
    return int64_t{options.before} + sizes.axes[axis].image + options.after;
  }
  // Elements in a row of the image, and in a row of the result. In layout nchw a row is of one channel's
  // plane, in blocks of one block's.
  int64_t row() const { return Within(&ConvolutionSizes::Axis::image) * together(sizes.channels); }
  int64_t out_row() const { return Within(&ConvolutionSizes::Axis::out) * together(sizes.filters); }
  // Elements in a plane, and in a whole image and result.
  int64_t plane() const { return row() * along().image; }
  int64_t out_plane() const { return out_row() * along().out; }
  int64_t image() const { return plane() * (sizes.channels / together(sizes.channels)); }
  int64_t out_image() const { return out_plane() * (sizes.filters / together(sizes.filters)); }

 private:
  // Pixels in a row: those along all axes but the first.
  int64_t Within(uint32_t ConvolutionSizes::Axis::* size) const {
    int64_t pixels = 1;
    for (size_t axis = first_axis() + 1; axis < sizes.axes.size(); ++axis) pixels *= sizes.axes[axis].*size;
    return pixels;
  }
};

// Returns the convolution of padded images of `rows` rows: of one group, or of all that are one spec. In
// blocks it makes one block of the result.
ConvShape ShapeOf(const ConvolutionNode& node, int64_t rows);

// Returns the stage that copies `rows` rows of one image, with `before` rows of zeros before and `after`
// behind them, and with the padding of the other axes around each. The caller adds the operands: from, to. In
// blocks the copy is of one group's channels, or of all that are one spec.
Stage PadStage(const ConvolutionNode& node, int64_t rows, int64_t before, int64_t after);

// A group that begins with a convolution, and as many of the operations after it as its epilogue does.
class FusedConvolution : public ConvolutionNode {
 public:
  // The group's first operation is a convolution. The group must outlive this.
  explicit FusedConvolution(const FusionGroup& group, int64_t lanes = 1);

  // True if the group has no operation beyond the epilogue, and everything is dense. Else the shape's error
  // says what was expected.
  bool IsAll(GroupShape* shape) const;

  const FusionGroup& group() const { return group_; }
  const FusedEpilogue& fused() const { return fused_; }
  int id() const { return group_.at(0); }
  // The values that the convolution reads, as they lie in memory.
  int image_value() const { return group_.uses().Stored(node.inputs[0]); }
  int filters_value() const { return group_.uses().Stored(node.inputs[1]); }
  StageOperand filters_operand() const { return {filters_value(), 0, 0, 0}; }
  // The type that the epilogue's result is stored as.
  Dtype stored() const { return group_.graph().at(fused_.result).type.dtype; }
  // True if an operand of the epilogue has an element for each pixel. Within a part of a row these are no
  // vector.
  bool TakesPixels() const;
  // Strides of the epilogue's `operand`-th operand, in the matrix that the output is.
  MatrixStrides StridesOf(size_t operand) const;

  // Returns the stage of the convolution, with the epilogue's operands from where they begin for the whole
  // output.
  Stage WholeStage(const ConvShape& conv, const StageOperand& input, const StageOperand& filters,
                   const StageOperand& out) const;
  // Does the same for the part of the output that begins where `result` does. Operands of the epilogue with
  // elements for pixels begin there, too.
  Stage PartStage(const ConvShape& conv, const StageOperand& input, const StageOperand& filters,
                  const StageOperand& result) const;
  // Adds the epilogue's operands for that part to a stage whose other operands are there.
  void AddEpilogueOperands(const StageOperand& result, Stage* stage) const;
  // Notes the memory of the result, which is stored whole.
  void Reserve(GroupShape* shape) const;

 private:
  StageOperand CutAs(const StageOperand& result, size_t operand) const;
  StageOperand CutByBlocks(const StageOperand& result, size_t operand) const;

  const FusionGroup& group_;
  const IterationSpace space_;
  const FusedEpilogue fused_;
};

// The f32 in the target's widest vectors: all groups of a convolution may be computed by them at once.
inline int64_t LanesOf(const GroupProblem& problem) {
  return problem.target.vectors.front().lanes(Dtype::kF32);
}

// True if the group's first operation is a convolution.
bool IsConvolution(const GroupProblem& problem);

// Notes the memory of a copy: of the padded images, however many tiles write there in turn.
void ReserveCopy(int value, const CopyShape& copy, GroupShape* shape);

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_GRAPH_CONVOLUTION_STAGES_H_
