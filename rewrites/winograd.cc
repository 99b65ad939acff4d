#include "rewrites/winograd.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "spec/canonical.h"
#include "spec/winograd.h"

namespace kirsch {
namespace {

class WinogradShaper {
 public:
  WinogradShaper(const WinogradConvolution& winograd, const GroupChoice& choice)
      : winograd_(winograd), node_(winograd.convolution), choice_(choice), m_(choice.winograd) {}

  GroupShape Shape() && {
    if (choice_.by_filters)
      ByFilters();
    else
      ByBands();
    return std::move(shape_);
  }

 private:
  int64_t channels() const { return node_.sizes.channels; }
  int64_t filters() const { return node_.sizes.filters; }

  // Buffers: the transformed filters and inputs, and the matmuls' results.
  int transformed_filters() const { return winograd_.next_value; }
  int transformed_inputs() const { return winograd_.next_value + 1; }
  int products() const { return winograd_.next_value + 2; }

  void AddBuffer(int value, int64_t elements) { shape_.Reserve(value, elements, Dtype::kF32); }

  // All filters are transformed at first.
  void ByBands() {
    for (const Bands& bands : BandsOf(node_, choice_.tile, m_)) {
      Group group;
      group.batch = node_.sizes.images;
      group.rows = bands.rows;
      group.tile = bands.tile;
      if (shape_.groups.empty())
        (winograd_.constant_filters ? shape_.ahead : group.before) = {FiltersTransform(filters())};
      group.stages = {InputTransform(bands), Matmuls(bands, filters()), OutputTransform(bands, filters())};
      shape_.groups.push_back(std::move(group));
    }
  }

  // All of an image is transformed at first. Rows are filters.
  void ByFilters() {
    const Bands all = BandsOf(node_, node_.sizes.out_height, m_).front();
    const bool constant = winograd_.constant_filters;
    if (constant) shape_.ahead = {FiltersTransform(filters())};
    const auto stages = [&](int64_t block) {
      std::vector<Stage> list = {Matmuls(all, block), OutputTransform(all, block)};
      if (!constant) list.insert(list.begin(), FiltersTransform(block));
      return list;
    };
    Group group;
    group.batch = node_.sizes.images;
    group.rows = filters();
    group.tile = choice_.tile;
    group.once = {InputTransform(all)};
    group.stages = stages(group.tile);
    if (const int64_t rest = group.rows % group.tile; rest != 0) group.rest = stages(rest);
    shape_.groups.push_back(std::move(group));
  }

  Stage Transform(WinogradStep step) const {
    Stage stage;
    stage.kind = StageKind::kTransform;
    stage.transform.step = step;
    stage.transform.tile = m_;
    stage.transform.node = winograd_.node;
    return stage;
  }

  int64_t Squares(int64_t outputs) const { return (outputs + m_ - 1) / m_; }

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
    stage.operands = {{winograd_.filters, 0, 0, choice_.by_filters ? 1 : 0},
                      {transformed_filters(), 0, 0, 0}};
    AddBuffer(transformed_filters(), shape.transformed());
    return stage;
  }

  Stage InputTransform(const Bands& bands) {
    Stage stage = Transform(WinogradStep::kInput);
    TransformShape& shape = stage.transform;
    shape.axes = {TransformAxis{Squares(bands.tile), bands.before, bands.inside, node_.row()},
                  TransformAxis{Squares(node_.sizes.out_width), node_.pad(), node_.sizes.width, channels()}};
    shape.columns = channels();
    stage.operands = {{winograd_.image, bands.in * node_.row(), node_.image(), node_.row()},
                      {transformed_inputs(), 0, 0, 0}};
    AddBuffer(transformed_inputs(), shape.transformed());
    return stage;
  }

  Stage Matmuls(const Bands& bands, int64_t block) {
    const int64_t squares = Squares(bands.tile) * Squares(node_.sizes.out_width);
    const uint32_t m = static_cast<uint32_t>(squares), k = node_.sizes.channels,
                   n = static_cast<uint32_t>(block);
    Spec asked;
    asked.size = {1, m, k, n};
    // All filters, of which this takes a block; or that block alone.
    const int64_t transformed = winograd_.constant_filters ? filters() : block;
    asked.operand[0].layout.ld = k;
    asked.operand[1].layout.ld = static_cast<uint32_t>(transformed);
    asked.operand[2].layout.ld = n;
    const CanonicalSpec canonical = Canonicalise(asked);
    Stage stage;
    stage.kind = StageKind::kContraction;
    stage.spec = canonical.spec;
    stage.repeats = WinogradMatmuls(m_);
    stage.operands = {Matrices(transformed_inputs(), squares * k),
                      Matrices(transformed_filters(), transformed * k),
                      Matrices(products(), squares * block)};
    if (winograd_.constant_filters && choice_.by_filters) stage.operands[1].row_stride = 1;
    if (canonical.swapped) std::swap(stage.operands[0], stage.operands[1]);
    AddBuffer(products(), WinogradMatmuls(m_) * MatrixStride(squares * block));
    return stage;
  }

  // One for each repeat.
  static StageOperand Matrices(int value, int64_t elements) {
    return {value, 0, 0, 0, MatrixStride(elements)};
  }

  Stage OutputTransform(const Bands& bands, int64_t block) const {
    Stage stage = Transform(WinogradStep::kOutput);
    TransformShape& shape = stage.transform;
    shape.axes = {TransformAxis{Squares(bands.tile), 0, bands.tile, node_.out_row()},
                  TransformAxis{Squares(node_.sizes.out_width), 0, node_.sizes.out_width, filters()}};
    shape.columns = block;
    shape.epilogue = winograd_.fused.epilogue;
    shape.stored = winograd_.stored;
    stage.operands = {{products(), 0, 0, 0},
                      OutputOperand(winograd_.fused.result, EpilogueOperand::kAll, bands)};
    auto operand = winograd_.fused.operands.begin();
    for (const EpilogueStep& step : shape.epilogue)
      if (step.HasOperand()) stage.operands.push_back(OutputOperand(*operand++, step.operand, bands));
    return stage;
  }

  // The result, or what the epilogue takes, of which an element is for each of its elements, pixels or
  // filters.
  StageOperand OutputOperand(int value, EpilogueOperand operand, const Bands& bands) const {
    const bool pixels = operand == EpilogueOperand::kAll || operand == EpilogueOperand::kRows;
    const bool by_filter = operand == EpilogueOperand::kAll || operand == EpilogueOperand::kColumns;
    const int64_t row = pixels ? node_.sizes.out_width * (by_filter ? filters() : 1) : 0;
    const int64_t step = choice_.by_filters ? (by_filter ? 1 : 0) : row;
    return {value, bands.out * row, node_.sizes.out_height * row, step};
  }

  const WinogradConvolution& winograd_;
  const ConvolutionNode& node_;
  const GroupChoice& choice_;
  const int m_;
  GroupShape shape_;
};

}  // namespace

std::vector<GroupChoice> WinogradChoices(const ConvolutionNode& node, const GroupChoice& whole) {
  std::vector<GroupChoice> choices;
  const ConvolutionOptions& options = node.node.conv;
  if (!node.nhwc() || options.stride != 1 || options.dilation != 1 || options.groups != 1 ||
      node.sizes.kernel_height != kWinogradKernel || node.sizes.kernel_width != kWinogradKernel)
    return choices;
  for (int tile : kWinogradTiles) {
    const auto add = [&](int64_t size, int64_t all, bool by_filters) {
      if (size < all) choices.push_back({whole.first, whole.end, size, false, tile, by_filters});
    };
    choices.push_back({whole.first, whole.end, node.sizes.out_height, false, tile, false});
    for (int64_t squares : {1, 2, 4, 8, 16}) add(squares * tile, node.sizes.out_height, false);
    for (int64_t filters : {16, 32, 64, 128, 256}) add(filters, node.sizes.filters, true);
  }
  return choices;
}

GroupShape WinogradGroups(const WinogradConvolution& winograd, const GroupChoice& choice) {
  return WinogradShaper(winograd, choice).Shape();
}

}  // namespace kirsch
