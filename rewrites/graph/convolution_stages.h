// SPDX-License-Identifier: Apache-2.0
// Convolutions of graphs, with their epilogues, and the stages that all rewrites of them are made of.
#ifndef KIRSCH_REWRITES_GRAPH_CONVOLUTION_STAGES_H_
#define KIRSCH_REWRITES_GRAPH_CONVOLUTION_STAGES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "rewrites/analysis/fusion_group.h"
#include "rewrites/analysis/iteration.h"
#include "rewrites/graph/epilogue_fusion.h"
#include "rewrites/graph/graph_rewrite.h"
#include "spec/convolution.h"
#include "spec/graph/graph.h"
#include "spec/program/plan.h"

namespace kirsch {

// A convolution's node and its sizes. Elements are counted as they lie in the layout. Steps of an image's
// first axis are its rows: slices of those that have a depth; an image of one axis is a row.
struct ConvolutionNode {
  const GraphNode& node;
  ConvolutionSizes sizes;

  size_t first_axis() const {
    return Info(node.op).image_axes == ImageAxes::kCount ? ImageAxes::kDepth : ImageAxes::kHeight;
  }
  const ConvolutionSizes::Axis& along() const { return sizes.axes[first_axis()]; }
  const AxisOptions& options_along() const { return node.conv.axes[first_axis()]; }
  bool has_depth() const { return first_axis() == ImageAxes::kDepth; }

  bool nhwc() const { return node.conv.layout == ImageLayout::kNhwc; }
  bool depthwise() const {
    return nhwc() && node.conv.groups > 1 && node.conv.groups == sizes.channels &&
           node.conv.groups == sizes.filters;
  }
  // That are computed one after the other.
  int64_t groups() const { return depthwise() ? 1 : node.conv.groups; }
  int64_t padded(size_t axis) const {
    const AxisOptions& options = node.conv.axes[axis];
    return int64_t{options.before} + sizes.axes[axis].image + options.after;
  }
  // Elements of a row of an image and of the result, and of all of these.
  int64_t row() const { return Within(&ConvolutionSizes::Axis::image) * (nhwc() ? sizes.channels : 1); }
  int64_t out_row() const { return Within(&ConvolutionSizes::Axis::out) * (nhwc() ? sizes.filters : 1); }
  int64_t image() const { return row() * along().image * (nhwc() ? 1 : sizes.channels); }
  int64_t out_image() const { return out_row() * along().out * (nhwc() ? 1 : sizes.filters); }

 private:
  // Pixels of a row.
  int64_t Within(uint32_t ConvolutionSizes::Axis::* size) const {
    int64_t pixels = 1;
    for (size_t axis = first_axis() + 1; axis < sizes.axes.size(); ++axis) pixels *= sizes.axes[axis].*size;
    return pixels;
  }
};

// Of one group of the convolution, or of all of a depthwise one, with so many rows of padded images.
ConvShape ShapeOf(const ConvolutionNode& node, int64_t rows);

// The stage that copies so many rows of one image, with rows of zeros before and after them; without
// operands.
Stage PadStage(const ConvolutionNode& node, int64_t rows, int64_t before, int64_t after);

// A group that is a convolution, and what its epilogue does.
class FusedConvolution : public ConvolutionNode {
 public:
  // Of a group that begins with one.
  explicit FusedConvolution(const FusionGroup& group);

  // Is the group no more than this? Else the shape's error says so.
  bool IsAll(GroupShape* shape) const;

  const FusionGroup& group() const { return group_; }
  const FusedEpilogue& fused() const { return fused_; }
  int id() const { return group_.at(0); }
  // What it reads and writes, as it lies in memory.
  int image_value() const { return group_.uses().Stored(node.inputs[0]); }
  int filters_value() const { return group_.uses().Stored(node.inputs[1]); }
  StageOperand filters_operand() const { return {filters_value(), 0, 0, 0}; }
  Dtype stored() const { return group_.graph().at(fused_.result).type.dtype; }
  // Does the epilogue take an element for each pixel? (In parts of rows those are no vector.)
  bool TakesPixels() const;
  // Of an operand of the epilogue, in the matrix that the output is.
  MatrixStrides StridesOf(size_t operand) const;

  // The convolution, and what its epilogue takes as it begins for the whole output.
  Stage WholeStage(const ConvShape& conv, const StageOperand& input, const StageOperand& filters,
                   const StageOperand& out) const;
  // The same for a part of the output, from where `result` begins.
  Stage PartStage(const ConvShape& conv, const StageOperand& input, const StageOperand& filters,
                  const StageOperand& result) const;
  // Notes the memory of the result.
  void Reserve(GroupShape* shape) const;

 private:
  StageOperand CutAs(const StageOperand& result, size_t operand) const;

  const FusionGroup& group_;
  const IterationSpace space_;
  const FusedEpilogue fused_;
};

// Does the group begin with a convolution?
bool IsConvolution(const GroupProblem& problem);

// Notes the memory of a copy.
void ReserveCopy(int value, const CopyShape& copy, GroupShape* shape);

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_GRAPH_CONVOLUTION_STAGES_H_
