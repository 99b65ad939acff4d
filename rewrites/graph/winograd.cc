// SPDX-License-Identifier: Apache-2.0
// Computes a 3x3 convolution by Winograd's algorithm (spec/winograd.h), which takes fewer multiplications:
// for bands of the output's rows, or for blocks of the filters.
//
//   before -> after, for squares of 2x2 outputs, an output of 14x14, 64 channels and 128 filters:
//     conv2d(x, w)  ->  the filters, transformed: 16 matrices of 64x128; once, ahead, if they are constant
//                       the inputs, transformed:  16 matrices of 49x64, for 7x7 squares
//                       16 matmuls of 49x64x128
//                       the outputs, transformed back, with the epilogue
#include "spec/winograd.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "rewrites/graph/contraction_stage.h"
#include "rewrites/graph/convolution_bands.h"
#include "rewrites/graph/registry.h"
#include "rewrites/spec/tile_sizes.h"

namespace kirsch {
namespace {

// The parameters by their names: squares of m x m outputs; rows of the output at a time, or filters at a
// time. The other of these two is 0.
struct WinogradForm {
  int m;
  int64_t rows, filters;
};

WinogradForm FormOf(const RewriteParameters& parameters) {
  return {static_cast<int>(parameters[0]), parameters[1], parameters[2]};
}

// Writes the loop nests, whose parameters have been checked.
class WinogradShaper {
 public:
  WinogradShaper(const FusedConvolution& node, const GroupForm& form)
      : node_(node),
        form_(FormOf(form.parameters)),
        m_(form_.m),
        next_value_(form.next_value),
        constant_filters_(node.group().graph().IsConstant(node.filters_value())) {}

  GroupShape Shape() && {
    node_.Reserve(&shape_);
    if (by_filters())
      ByFilters();
    else
      ByBands();
    return std::move(shape_);
  }

 private:
  bool by_filters() const { return form_.filters != 0; }
  int64_t channels() const { return node_.sizes.channels; }
  int64_t filters() const { return node_.sizes.filters; }
  const ConvolutionSizes::Axis& width() const { return node_.sizes.axes[ImageAxes::kWidth]; }

  // Buffers: the transformed filters and inputs, and the matmuls' results.
  int transformed_filters() const { return next_value_; }
  int transformed_inputs() const { return next_value_ + 1; }
  int products() const { return next_value_ + 2; }

  void AddBuffer(int value, int64_t elements) { shape_.Reserve(value, elements, Dtype::kF32); }

  // Transforms all filters first, then goes band by band. What is between two stages is of one band.
  void ByBands() {
    for (const Bands& bands : BandsOf(node_, form_.rows, m_)) {
      LoopNest nest;
      nest.batch = node_.sizes.images;
      nest.rows = bands.rows;
      nest.tile = bands.tile;
      if (shape_.nests.empty())
        (constant_filters_ ? shape_.prepacks : nest.before) = {FiltersTransform(filters())};
      nest.stages = {InputTransform(bands), Matmuls(bands, filters()), OutputTransform(bands, filters())};
      shape_.nests.push_back(std::move(nest));
    }
  }

  // Transforms all of an image first, then goes by blocks of filters, which are the nest's rows. That suits
  // many filters and few pixels, as transformed filters need not all be in a cache.
  void ByFilters() {
    const Bands all = BandsOf(node_, node_.along().out, m_).front();
    const bool constant = constant_filters_;
    if (constant) shape_.prepacks = {FiltersTransform(filters())};
    const auto stages = [&](int64_t block) {
      std::vector<Stage> list = {Matmuls(all, block), OutputTransform(all, block)};
      if (!constant) list.insert(list.begin(), FiltersTransform(block));
      return list;
    };
    LoopNest nest;
    nest.batch = node_.sizes.images;
    nest.rows = filters();
    nest.tile = form_.filters;
    nest.once = {InputTransform(all)};
    nest.stages = stages(nest.tile);
    if (const int64_t rest = nest.rows % nest.tile; rest != 0) nest.rest = stages(rest);
    shape_.nests.push_back(std::move(nest));
  }

  Stage Transform(WinogradStep step) const {
    Stage stage;
    stage.kind = StageKind::kTransform;
    stage.transform.step = step;
    stage.transform.tile = m_;
    stage.transform.node = node_.id();
    return stage;
  }

  int64_t Squares(int64_t outputs) const { return (outputs + m_ - 1) / m_; }

  // Filters are a single square of 3x3 elements, all channels and filters side by side. A block of the
  // filters is a part of each channel's row.
  Stage FiltersTransform(int64_t block) {
    Stage stage = Transform(WinogradStep::kFilters);
    TransformShape& shape = stage.transform;
    const int64_t all = channels() * filters();
    shape.axes = {TransformAxis{1, 0, kWinogradKernel, kWinogradKernel * all},
                  TransformAxis{1, 0, kWinogradKernel, all}};
    const bool whole = block == filters();
    shape.rows = whole ? 1 : channels();
    shape.columns = whole ? all : block;
    shape.row_stride = whole ? 0 : filters();
    stage.operands = {{node_.filters_value(), 0, 0, by_filters() ? 1 : 0}, {transformed_filters(), 0, 0, 0}};
    AddBuffer(transformed_filters(), shape.transformed());
    return stage;
  }

  // Squares overlap: each reads m + 2 rows and columns of the image. Rows beyond it are zeros.
  Stage InputTransform(const Bands& bands) {
    Stage stage = Transform(WinogradStep::kInput);
    TransformShape& shape = stage.transform;
    shape.axes = {TransformAxis{Squares(bands.tile), bands.before, bands.inside, node_.row()},
                  TransformAxis{Squares(width().out), node_.node.conv.axes[ImageAxes::kWidth].before,
                                width().image, channels()}};
    shape.columns = channels();
    stage.operands = {{node_.image_value(), bands.in * node_.row(), node_.image(), node_.row()},
                      {transformed_inputs(), 0, 0, 0}};
    AddBuffer(transformed_inputs(), shape.transformed());
    return stage;
  }

  // For each of a square's (m + 2)^2 elements a matmul of squares x channels x filters. Where all filters
  // have been transformed ahead, a block of them is a part of their rows.
  Stage Matmuls(const Bands& bands, int64_t block) {
    const int64_t squares = Squares(bands.tile) * Squares(width().out);
    const uint32_t m = static_cast<uint32_t>(squares), k = node_.sizes.channels,
                   n = static_cast<uint32_t>(block);
    Spec asked;
    asked.size = {1, m, k, n};
    // All filters, of which this takes a block; or that block alone.
    const int64_t transformed = constant_filters_ ? filters() : block;
    asked.operand[0].layout.ld = k;
    asked.operand[1].layout.ld = static_cast<uint32_t>(transformed);
    asked.operand[2].layout.ld = n;
    StageOperand filters = Matrices(transformed_filters(), transformed * k);
    if (constant_filters_ && by_filters()) filters.row_stride = 1;
    Stage stage = ContractionStage(
        asked, {Matrices(transformed_inputs(), squares * k), filters, Matrices(products(), squares * block)});
    stage.repeats = WinogradMatmuls(m_);
    AddBuffer(products(), WinogradMatmuls(m_) * MatrixStride(squares * block));
    return stage;
  }

  // An operand with a matrix for each repeat.
  static StageOperand Matrices(int value, int64_t elements) {
    return {value, 0, 0, 0, MatrixStride(elements)};
  }

  // The last rows and columns of squares may be beyond the output; those are not stored. The epilogue's
  // operands follow the result.
  Stage OutputTransform(const Bands& bands, int64_t block) const {
    Stage stage = Transform(WinogradStep::kOutput);
    TransformShape& shape = stage.transform;
    shape.axes = {TransformAxis{Squares(bands.tile), 0, bands.tile, node_.out_row()},
                  TransformAxis{Squares(width().out), 0, width().out, filters()}};
    shape.columns = block;
    shape.epilogue = node_.fused().epilogue;
    shape.stored = node_.stored();
    stage.operands = {{products(), 0, 0, 0},
                      OutputOperand(node_.fused().result, EpilogueOperand::kAll, bands)};
    auto operand = node_.fused().operands.begin();
    for (const EpilogueStep& step : shape.epilogue)
      if (step.HasOperand()) stage.operands.push_back(OutputOperand(*operand++, step.operand, bands));
    return stage;
  }

  // The result, or an operand of the epilogue, which has an element for each result, each pixel or each
  // filter.
  StageOperand OutputOperand(int value, EpilogueOperand operand, const Bands& bands) const {
    const bool pixels = operand == EpilogueOperand::kAll || operand == EpilogueOperand::kRows;
    const bool by_filter = operand == EpilogueOperand::kAll || operand == EpilogueOperand::kColumns;
    const int64_t row = pixels ? width().out * (by_filter ? filters() : 1) : 0;
    const int64_t step = by_filters() ? (by_filter ? 1 : 0) : row;
    return {value, bands.out * row, node_.along().out * row, step};
  }

  const FusedConvolution& node_;
  const WinogradForm form_;
  const int m_;
  const int next_value_;         // the first of the buffers' numbers
  const bool constant_filters_;  // they are transformed ahead
  GroupShape shape_;
};

// True if the kernel has 3 taps along the axis, without gaps, and meets each pixel.
bool IsOfWinograd(const ConvolutionNode& node, size_t axis) {
  const AxisOptions& options = node.node.conv.axes[axis];
  return options.stride == 1 && options.dilation == 1 && node.sizes.axes[axis].kernel == kWinogradKernel;
}

// The algorithm rounds more, so callers have to allow it.
bool Applies(const GroupProblem& problem) {
  if (!problem.allow_winograd || !IsConvolution(problem)) return false;
  const FusedConvolution node(problem.group);
  return node.nhwc() && node.node.op == Operation::kConv2d && node.node.conv.groups == 1 &&
         IsOfWinograd(node, ImageAxes::kHeight) && IsOfWinograd(node, ImageAxes::kWidth) &&
         !node.fused().epilogue.HasFunctions();
}

std::vector<RewriteParameters> Enumerate(const GroupProblem& problem) {
  const FusedConvolution node(problem.group);
  const int64_t rows = node.along().out, filters = node.sizes.filters;
  const int64_t line = LineElements(problem.target);
  std::vector<RewriteParameters> all;
  for (int64_t m : kWinogradTiles) {
    all.push_back({m, rows, 0});
    for (int64_t band : Doublings(m, 16 * m, rows)) all.push_back({m, band, 0});
    for (int64_t block : Doublings(line, 16 * line, filters)) all.push_back({m, 0, block});
  }
  return all;
}

GroupShape Expand(const GroupProblem& problem, const GroupForm& form) {
  const FusedConvolution node(problem.group);
  const auto [m, rows, filters] = FormOf(form.parameters);
  GroupShape shape;
  if (!node.IsAll(&shape)) return shape;
  const bool known =
      std::find(std::begin(kWinogradTiles), std::end(kWinogradTiles), m) != std::end(kWinogradTiles);
  const bool by_rows = rows >= 1 && rows <= node.along().out && filters == 0;
  const bool by_filters = filters >= 1 && filters <= node.sizes.filters && rows == 0;
  if (!known || (!by_rows && !by_filters)) {
    shape.Fail(node.id(), "squares of 2 or 4, and rows of the output or filters at a time");
    return shape;
  }
  return WinogradShaper(node, form).Shape();
}

}  // namespace

const GraphRewrite kWinograd = {"winograd", {"squares", "rows", "filters"}, Applies, Enumerate, Expand};

}  // namespace kirsch
