#include "rewrites/graph_groups.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "rewrites/contraction_stage.h"
#include "rewrites/convolution_bands.h"
#include "rewrites/convolution_parts.h"
#include "rewrites/epilogue_fusion.h"
#include "rewrites/iteration.h"
#include "rewrites/online_attention.h"
#include "rewrites/rhs_prologue.h"
#include "rewrites/row_fusion.h"
#include "rewrites/row_schedules.h"
#include "rewrites/row_space.h"
#include "rewrites/winograd.h"
#include "spec/convolution.h"

namespace kirsch {
namespace {

// Tiles that are parts of one row are multiples of so many elements.
constexpr int64_t kFlatStep = 64;

bool IsContraction(const GraphNode& node) { return Info(node.op).kind == OperationKind::kContraction; }

class GroupShaper {
 public:
  GroupShaper(const GraphUses& uses, const GroupChoice& choice, int next_value)
      : uses_(uses), graph_(uses.graph()), choice_(choice), next_value_(next_value) {
    for (size_t place = choice.first; place < choice.end; ++place) made_[uses.operations()[place]] = place;
    shape_.groups.emplace_back();
  }

  GroupShape Shape() && {
    const int first = NodeAt(choice_.first);
    const bool contracts = std::any_of(
        made_.begin(), made_.end(), [&](const auto& made) { return IsContraction(graph_.at(made.first)); });
    if (graph_.at(first).op == Operation::kTranspose) {
      Transpose(first);
    } else if (graph_.at(first).op == Operation::kConv2d) {
      Convolution(first);
    } else if (choice_.keys != 0) {
      shape_ = OnlineAttentionGroup(uses_, choice_, next_value_);
    } else if (HasRhsPrologue(uses_, choice_)) {
      shape_ = RhsPrologueGroup(uses_, choice_);
    } else if (contracts) {
      Matmuls();
    } else {
      Rows();
    }
    return std::move(shape_);
  }

 private:
  Group& group() { return shape_.groups.front(); }

  int NodeAt(size_t place) const { return uses_.operations()[place]; }
  const TensorType& TypeOf(int node) const { return graph_.at(node).type; }
  bool failed() const { return shape_.error_node >= 0; }
  void Fail(int node, std::string error) {
    if (failed()) return;
    shape_.error = std::move(error);
    shape_.error_node = node;
  }

  bool IsMade(int node) const { return made_.contains(node); }
  // Is it a tile in scratch memory: made here, and needed by nobody else?
  bool IsLocal(int node) const { return IsMade(node) && uses_.LastUse(node) < static_cast<int>(choice_.end); }

  // The value whose memory holds the node.
  int MemoryOf(int node) const {
    const auto alias = alias_.find(node);
    return alias == alias_.end() ? node : alias->second;
  }

  StageOperand OperandFor(int node, int64_t batch_stride, int64_t row_stride) const {
    if (IsLocal(node)) return {MemoryOf(node), 0, 0, 0};
    return {node, 0, batch_stride, row_stride};
  }

  // The memory of a value that is made; `rows` and `columns` of a tile.
  void AddBuffer(int node, int64_t rows, int64_t columns) {
    if (node == graph_.result || alias_.contains(node)) return;
    const int64_t elements = IsLocal(node) ? rows * columns : TypeOf(node).elements();
    shape_.Reserve(node, elements, TypeOf(node).dtype);
  }

  void Transpose(int node) {
    if (choice_.end - choice_.first > 1) return Fail(node, "a copy stands alone");
    const int from = graph_.at(node).inputs[0];
    const IterationSpace space = MatrixSpace(TypeOf(from).dims);
    Stage stage;
    stage.kind = StageKind::kTranspose;
    stage.operands = {OperandFor(from, 0, 0), OperandFor(node, 0, 0)};
    stage.copy.planes = space.batch();
    stage.copy.height = space.rows();
    stage.copy.width = space.columns();
    stage.copy.dtype = TypeOf(node).dtype;
    AddBuffer(node, 0, 0);
    group().stages.push_back(std::move(stage));
  }

  // Row programs alone.
  void Rows() {
    std::vector<int> nodes;
    for (const auto& [node, place] : made_) nodes.push_back(node);
    std::string error;
    int error_node = -1;
    const std::optional<IterationSpace> space = RowSpaceOf(graph_, nodes, &error, &error_node);
    if (!space) return Fail(error_node, error);
    Group& group = this->group();
    if (space->flat) {
      group.rows = space->columns();
      group.tile = flat_ = choice_.tile == 0 ? group.rows : choice_.tile;
      group.stages = RowStages(choice_.first, choice_.end, 1, *space);
      flat_ = group.rows % group.tile;
      if (flat_ != 0) group.rest = RowStages(choice_.first, choice_.end, 1, *space);
      shape_.tile_step = kFlatStep;
      return;
    }
    group.batch = space->batch();
    if (space->reduces_rows) {  // no tiles
      group.stages = RowStages(choice_.first, choice_.end, space->rows(), *space);
      return;
    }
    group.rows = space->rows();
    group.tile = choice_.tile == 0 ? group.rows : choice_.tile;
    group.stages = RowStages(choice_.first, choice_.end, group.tile, *space);
    if (const int64_t rest = group.rows % group.tile; rest != 0)
      group.rest = RowStages(choice_.first, choice_.end, rest, *space);
  }

  // The operations from `first` on, all of which go by rows, as few stages as can be.
  std::vector<Stage> RowStages(size_t first, size_t end, int64_t rows, const IterationSpace& space) {
    std::vector<Stage> stages;
    std::vector<int> nodes;
    for (size_t place = first; place < end; ++place) {
      nodes.push_back(NodeAt(place));
      if (place + 1 < end && !IsNarrowed(graph_, nodes.back())) continue;
      stages.push_back(RowStage(std::exchange(nodes, {}), place + 1, rows, space));
    }
    return stages;
  }

  // `next`: the place after the last of the nodes.
  Stage RowStage(const std::vector<int>& nodes, size_t next, int64_t rows, const IterationSpace& space) {
    std::vector<int> wanted;
    std::copy_if(nodes.begin(), nodes.end(), std::back_inserter(wanted),
                 [&](int node) { return uses_.LastUse(node) >= static_cast<int>(next); });
    std::string error;
    FusedRows fused = FuseRows(uses_, nodes, wanted, space, &error);
    if (!error.empty()) Fail(nodes.front(), error);
    Stage stage;
    stage.kind = StageKind::kRows;
    stage.rows = rows;
    stage.columns = flat_ != 0 ? flat_ : space.columns();
    for (int node : fused.inputs) AddMatrix(node, space, &stage);
    for (int node : fused.results) {
      if (node == fused.results.front()) stage.in_place = Replace(node, fused, next, rows);
      AddMatrix(node, space, &stage);
      // What goes down the columns stores a vector of them.
      if (space.reduces_rows && space.columns() > 1 && StridesIn(space, TypeOf(node))->column == 0)
        Fail(node, "values for each column where columns are reduced");
      AddBuffer(node, rows, stage.columns);
    }
    stage.program = std::move(fused.program);
    return stage;
  }

  void AddMatrix(int node, const IterationSpace& space, Stage* stage) const {
    const MatrixStrides strides = StridesIn(space, TypeOf(node)).value_or(MatrixStrides{});
    stage->operands.push_back(OperandFor(node, strides.batch, flat_ != 0 ? strides.column : strides.row));
    stage->row_strides.push_back(strides.row);
  }

  // Can the first result have the memory of a tile that nobody needs any more? What is the same for all rows
  // is read again for the next one.
  bool Replace(int result, const FusedRows& fused, size_t next, int64_t rows) {
    if (alias_.contains(result)) return true;
    if (!IsLocal(result)) return false;
    for (size_t i = 0; i < fused.inputs.size(); ++i) {
      const int input = fused.inputs[i];
      if (IsLocal(input) && uses_.LastUse(input) < static_cast<int>(next) &&
          TypeOf(input) == TypeOf(result) && (rows == 1 || fused.program.inputs[i].along_rows) &&
          MayReplace(fused.program, 0, static_cast<int>(i))) {
        alias_[result] = MemoryOf(input);
        return true;
      }
    }
    return false;
  }

  void AddTiles(int64_t rows, std::initializer_list<int64_t> tiles) {
    for (int64_t tile : tiles)
      if (tile < rows) shape_.others.push_back({choice_.first, choice_.end, tile});
  }

  void Matmuls() {
    const IterationSpace space = MatrixSpace(TypeOf(NodeAt(choice_.end - 1)).dims);
    const int first = NodeAt(choice_.first);
    const bool leads = graph_.at(first).op == Operation::kMatmul;
    const size_t taken = leads ? FuseEpilogue(uses_, choice_.first, choice_.end, space, true).taken : 0;
    for (const auto& [node, place] : made_) {
      const IterationSpace own = MatrixSpace(TypeOf(node).dims);
      const bool fits = own.rows() == space.rows() && own.batch() == space.batch();
      const bool by_rows = (leads && place <= choice_.first + taken) ||  // as an epilogue, whatever its type
                           GoesAlongRows(graph_, node);
      if (!fits || (!IsContraction(graph_.at(node)) && !by_rows) || graph_.at(node).op == Operation::kConv2d)
        return Fail(node, "operations of a group with the same rows");
    }
    Group& group = this->group();
    // A matmul alone has its batch for itself.
    const bool alone = leads && taken + 1 == choice_.end - choice_.first;
    group.batch = alone && choice_.tile == 0 ? 1 : space.batch();
    group.rows = space.rows();
    group.tile = choice_.tile == 0 ? group.rows : choice_.tile;
    group.stages = MatmulStages(group.tile);
    if (const int64_t rest = group.rows % group.tile; rest != 0) group.rest = MatmulStages(rest);
    if (group.stages.size() > 1) AddTiles(group.rows, {8, 14, 16, 28, 32, 56, 64, 112, 128, 256});
    if (choice_.tile == 0)
      for (const GroupChoice& online : OnlineAttentionChoices(uses_, choice_))
        shape_.others.push_back(online);
  }

  std::vector<Stage> MatmulStages(int64_t rows) {
    std::vector<Stage> stages;
    for (size_t place = choice_.first; place < choice_.end && !failed();) {
      if (IsContraction(graph_.at(NodeAt(place)))) {
        stages.push_back(Matmul(&place, rows));
        continue;
      }
      const IterationSpace space = MatrixSpace(WidestOf(graph_, NodeAt(place)));
      size_t end = place;
      while (end < choice_.end && !IsContraction(graph_.at(NodeAt(end))) &&
             FitsRows(graph_, NodeAt(end), space))
        ++end;
      if (end == place) {
        Fail(NodeAt(place), "rows of one length");
        break;
      }
      for (Stage& stage : RowStages(place, end, rows, space)) stages.push_back(std::move(stage));
      place = end;
    }
    return stages;
  }

  // The matmul at *place and its epilogue; *place is then that of the next operation.
  Stage Matmul(size_t* place, int64_t rows) {
    const int node = NodeAt(*place), lhs = graph_.at(node).inputs[0], rhs = graph_.at(node).inputs[1];
    const bool lhs_turned = uses_.IsView(lhs), rhs_turned = uses_.IsView(rhs);
    if (IsMade(uses_.Stored(rhs)) || (IsMade(uses_.Stored(lhs)) && lhs_turned))
      Fail(node, "no matmul by what the same group makes");
    const IterationSpace space = MatrixSpace(TypeOf(node).dims);
    const bool batched = group().batch < space.batch();
    const FusedEpilogue fused = FuseEpilogue(uses_, *place, choice_.end, space, batched);
    *place += 1 + fused.taken;
    const auto m = static_cast<uint32_t>(space.rows()), n = static_cast<uint32_t>(space.columns());
    const uint32_t k = TypeOf(lhs).dims.back();
    Spec asked;
    asked.op = OpWith(fused.epilogue);
    asked.size = {static_cast<uint32_t>(batched ? space.batch() : 1), static_cast<uint32_t>(rows), k, n};
    SetMatrix(TypeOf(lhs).dtype, lhs_turned ? Order::kCol : Order::kRow, lhs_turned ? m : k, 0, &asked);
    SetMatrix(TypeOf(rhs).dtype, rhs_turned ? Order::kCol : Order::kRow, rhs_turned ? k : n, 1, &asked);
    SetMatrix(TypeOf(fused.result).dtype, Order::kRow, n, 2, &asked);
    const int64_t once = batched ? 0 : 1;
    std::vector<StageOperand> operands = {OperandFor(uses_.Stored(lhs), once * m * k, lhs_turned ? 1 : k),
                                          OperandFor(uses_.Stored(rhs), once * k * n, 0),
                                          OperandFor(fused.result, once * m * n, n)};
    AddBuffer(fused.result, rows, n);
    return Contraction(asked, std::move(operands), fused, space, once);
  }

  Stage Contraction(const Spec& asked, std::vector<StageOperand> operands, const FusedEpilogue& fused,
                    const IterationSpace& space, int64_t once) const {
    Stage stage = ContractionStage(asked, std::move(operands));
    for (int node : fused.operands) {
      const MatrixStrides strides = StridesIn(space, TypeOf(node)).value_or(MatrixStrides{});
      stage.operands.push_back(OperandFor(node, once * strides.batch, strides.row));
    }
    return stage;
  }

  void Convolution(int node) {
    const GraphNode& at = graph_.at(node);
    const bool nhwc = at.conv.layout == ImageLayout::kNhwc;
    const IterationSpace space{at.type.dims, nhwc ? 0u : 1u, nhwc ? 3u : 2u};
    const FusedEpilogue fused = FuseEpilogue(uses_, choice_.first, choice_.end, space, false);
    const FusedConvolution whole{{at, SizesOfConvolution(graph_, at)}, fused, space};
    if (fused.taken + 1 != choice_.end - choice_.first)
      return Fail(NodeAt(choice_.first + fused.taken + 1), "what the convolution's epilogue can do");
    if (choice_.winograd != 0) {
      shape_ = WinogradGroups(
          {whole, fused, node, uses_.Stored(at.inputs[0]), uses_.Stored(at.inputs[1]), next_value_,
           TypeOf(fused.result).dtype, graph_.IsConstant(uses_.Stored(at.inputs[1]))},
          choice_);
      return AddBuffer(fused.result, 0, 0);
    }
    const bool by_bands = whole.pad() > 0 && whole.groups() == 1;
    if (choice_.tile != 0 && !by_bands) return Fail(node, "a padded convolution in one group");
    AddBuffer(fused.result, 0, 0);
    if (choice_.by_parts) return Parts(whole);
    if (choice_.tile == 0) {
      if (whole.pad() > 0 && whole.depthwise() && !TakesPixels(whole) && !PartsOf(whole).empty())
        for (int64_t tile : {1, 2, 4, 8}) shape_.others.push_back({choice_.first, choice_.end, tile, true});
      if (!fused.epilogue.HasFunctions())
        for (const GroupChoice& winograd : WinogradChoices(whole, choice_)) shape_.others.push_back(winograd);
      // Searches of nchw take longer.
      if (by_bands && nhwc) AddTiles(whole.sizes.out_height, {2, 4, 8, 16, 32});
      if (by_bands && !nhwc) AddTiles(whole.sizes.out_height, {8});
      return WholeImages(whole);
    }
    shape_.groups.clear();
    for (const Bands& bands : BandsOf(whole, choice_.tile)) AddBands(whole, bands);
  }

  // A convolution with its epilogue.
  struct FusedConvolution : ConvolutionNode {
    const FusedEpilogue& fused;
    const IterationSpace& space;
  };

  // All rows at once; items are the images of nchw, or the groups of the convolution, of which each image of
  // nchw has its own.
  void WholeImages(const FusedConvolution& whole) {
    const bool by_group = whole.groups() > 1;
    const int64_t alone = by_group && !whole.nhwc() ? whole.sizes.images : 1;
    const int input = Padded(whole);
    for (int64_t image = 0; image < alone; ++image) {
      if (image > 0) shape_.groups.emplace_back();
      Group& group = shape_.groups.back();
      group.batch = by_group ? whole.groups() : whole.nhwc() ? 1 : whole.sizes.images;
      group.stages.push_back(WholeImage(whole, input, image * group.batch));
    }
  }

  // `first`: the item that the stage begins with.
  Stage WholeImage(const FusedConvolution& whole, int image, int64_t first) const {
    const bool nhwc = whole.nhwc(), by_group = whole.groups() > 1;
    const ConvShape conv = ShapeOf(whole, whole.sizes.height + 2 * whole.pad());
    const int64_t in = nhwc ? conv.channels : conv.channels * conv.height * conv.width;
    const int64_t out = nhwc ? conv.filters : conv.filters * conv.pixels();
    StageOperand filters = FiltersOf(whole), result = OperandFor(whole.fused.result, out, 0);
    if (by_group) filters.batch_stride = conv.filters * (nhwc ? 1 : conv.taps());
    result.offset = first * out;
    Stage stage = ConvolutionStage(whole, conv, {image, first * in, in, 0}, filters, result);
    // Vectors of an epilogue are cut as the filters are.
    for (size_t i = 0; by_group && i < whole.fused.operands.size(); ++i) {
      const MatrixStrides strides = StridesOf(whole, i);
      StageOperand& operand = stage.operands[3 + i];
      operand.batch_stride = conv.filters * (nhwc ? strides.column : strides.row);
      operand.offset = first / whole.groups() * strides.batch;
    }
    return stage;
  }

  // Does the epilogue take an element for each pixel? (In parts of rows those are no vector.)
  bool TakesPixels(const FusedConvolution& whole) const {
    for (size_t i = 0; i < whole.fused.operands.size(); ++i)
      if (StridesOf(whole, i).row != 0 && StridesOf(whole, i).column == 0) return true;
    return false;
  }

  // Of an operand of the epilogue.
  MatrixStrides StridesOf(const FusedConvolution& whole, size_t operand) const {
    return StridesIn(whole.space, TypeOf(whole.fused.operands[operand])).value_or(MatrixStrides{});
  }

  Stage ConvolutionStage(const FusedConvolution& whole, const ConvShape& conv, const StageOperand& input,
                         const StageOperand& filters, const StageOperand& out) const {
    const Spec asked = ConvolutionSpec(conv, {Dtype::kF32, Dtype::kF32, TypeOf(whole.fused.result).dtype},
                                       whole.fused.epilogue);
    std::vector<StageOperand> operands(3);
    operands[static_cast<size_t>(InputOperand(conv.layout))] = input;
    operands[static_cast<size_t>(FiltersOperand(conv.layout))] = filters;
    operands[2] = out;
    Stage stage = Contraction(asked, std::move(operands), whole.fused, whole.space, 1);
    for (size_t i = 3; i < stage.operands.size(); ++i) stage.operands[i].row_stride = 0;
    return stage;
  }

  // The value that holds the images with zeros around them.
  int Padded(const FusedConvolution& whole) {
    const int image = uses_.Stored(whole.node.inputs[0]);
    if (whole.pad() == 0) return image;
    Stage stage = PadStage(whole, whole.sizes.height, whole.pad(), whole.pad());
    stage.copy.planes *= whole.sizes.images;
    stage.operands = {{image, 0, 0, 0}, {next_value_, 0, 0, 0}};
    AddCopy(stage.copy);
    group().before.push_back(std::move(stage));
    return next_value_;
  }

  void AddCopy(const CopyShape& copy) {
    shape_.Reserve(next_value_, copy.planes * copy.padded_height() * copy.padded_width(), copy.dtype);
  }

  // A group for each part of the output.
  void Parts(const FusedConvolution& whole) {
    shape_.groups.clear();
    const int64_t channels = whole.sizes.channels, width = whole.sizes.kernel_width;
    for (const ConvolutionPart& part : PartsOf(whole)) {
      const StageOperand image{uses_.Stored(whole.node.inputs[0]),
                               part.rows.in * whole.row() + part.columns.in * channels, whole.image(),
                               whole.node.conv.stride * whole.row()};
      const StageOperand filters{uses_.Stored(whole.node.inputs[1]),
                                 (part.rows.tap * width + part.columns.tap) * channels, 0, 0};
      const StageOperand result{whole.fused.result,
                                part.rows.out * whole.out_row() + part.columns.out * channels,
                                whole.out_image(), whole.out_row()};
      Group group;
      group.batch = whole.sizes.images;
      group.rows = part.one_by_one ? part.rows.count : 1;
      group.tile = std::clamp<int64_t>(choice_.tile, 1, group.rows);
      const Stage row = PartStage(whole, ShapeOf(whole, part), image, filters, result);
      group.stages = {Repeated(row, group.tile)};
      if (const int64_t rest = group.rows % group.tile; rest != 0) group.rest = {Repeated(row, rest)};
      shape_.groups.push_back(std::move(group));
    }
  }

  // The same for so many rows, one after the other.
  static Stage Repeated(Stage stage, int64_t rows) {
    stage.repeats = rows;
    for (StageOperand& operand : stage.operands) operand.repeat_stride = operand.row_stride;
    return stage;
  }

  // A group whose tiles are bands of the output: of each, the rows of its image that it needs are copied.
  void AddBands(const FusedConvolution& whole, const Bands& bands) {
    Stage pad = PadStage(whole, bands.inside, bands.before, bands.after);
    AddCopy(pad.copy);
    pad.operands = {{uses_.Stored(whole.node.inputs[0]), bands.in * whole.row(), whole.image(),
                     whole.node.conv.stride * whole.row()},
                    {next_value_, 0, 0, 0}};
    ConvShape conv = ShapeOf(whole, pad.copy.padded_height());
    conv.images = 1;
    if (!whole.nhwc()) conv.out_row = whole.out_row() * whole.sizes.out_height;
    const StageOperand result{whole.fused.result, bands.out * whole.out_row(), whole.out_image(),
                              whole.out_row()};
    Group group;
    group.batch = whole.sizes.images;
    group.rows = bands.rows;
    group.tile = bands.tile;
    group.stages = {std::move(pad), PartStage(whole, conv, {next_value_, 0, 0, 0}, FiltersOf(whole), result)};
    shape_.groups.push_back(std::move(group));
  }

  StageOperand FiltersOf(const FusedConvolution& whole) const {
    return {uses_.Stored(whole.node.inputs[1]), 0, 0, 0};
  }

  // The convolution of a part of the output.
  Stage PartStage(const FusedConvolution& whole, const ConvShape& conv, const StageOperand& input,
                  const StageOperand& filters, const StageOperand& result) const {
    Stage stage = ConvolutionStage(whole, conv, input, filters, result);
    // What has elements for pixels is cut as the output is.
    for (size_t i = 0; i < whole.fused.operands.size(); ++i)
      if (const MatrixStrides strides = StridesOf(whole, i);
          (whole.nhwc() ? strides.row : strides.column) != 0)
        stage.operands[3 + i] = CutAs(result, whole, strides, whole.fused.operands[i]);
    return stage;
  }

  const GraphUses& uses_;
  const Graph& graph_;
  const GroupChoice choice_;
  const int next_value_;
  std::map<int, size_t> made_;  // nodes made here, and their places
  std::map<int, int> alias_;    // tiles that have the memory of others
  int64_t flat_ = 0;            // elements of a tile that is a part of one row; 0: tiles are of whole rows
  GroupShape shape_;
};

}  // namespace

void GroupShape::Reserve(int value, int64_t elements, Dtype dtype) {
  const int64_t bytes = elements * Bytes(dtype);
  for (Buffer& known : buffers)
    if (known.value == value) {
      known.bytes = std::max(known.bytes, bytes);
      return;
    }
  buffers.push_back({value, bytes});
}

GroupShape ShapeGroup(const GraphUses& uses, const GroupChoice& choice, int next_value) {
  return GroupShaper(uses, choice, next_value).Shape();
}

}  // namespace kirsch
