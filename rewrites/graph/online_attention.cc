// SPDX-License-Identifier: Apache-2.0
#include "rewrites/graph/online_attention.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "rewrites/analysis/iteration.h"
#include "rewrites/graph/contraction_stage.h"
#include "rewrites/graph/registry.h"
#include "rewrites/graph/row_fusion.h"
#include "rewrites/graph/row_space.h"
#include "rewrites/spec/tile_sizes.h"
#include "spec/check.h"
#include "spec/graph/types.h"
#include "spec/microkernel.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

// Blocks have as many keys as f32 fill so many lines, or up to eight times as many.
constexpr int64_t kLeastLines = 4, kMostTimes = 8;

// The nodes of an attention, as Matcher finds them in a group.
struct Attention {
  int scores = -1;
  std::vector<int> before;  // elementwise operations on them
  int softmax = -1;
  int weights = -1;  // it, or its cast
  int sums = -1;
  std::vector<int> after;  // what goes by the rows of these
  uint32_t heads = 1;      // matrices of queries that share their keys
};

// Finds an attention in a group whose operations are in this order: elementwise ones, the scores' matmul,
// elementwise ones, softmax, perhaps a cast, the matmul by it, operations by rows.
class Matcher {
 public:
  explicit Matcher(const FusionGroup& group) : group_(group), uses_(group.uses()), graph_(group.graph()) {}

  // Returns nothing if the group has another form.
  std::optional<Attention> Match() {
    Attention found;
    // Operations before the first matmul are on masks and the like: they must have all elements of the
    // scores, so that they can be done for each block.
    while (place_ < group_.size() && graph_.at(NodeAt(place_)).op != Operation::kMatmul) ++place_;
    const size_t first = place_;
    if (!Take(Operation::kMatmul, &found.scores) || !HaveHeads(found.scores)) return std::nullopt;
    const IterationSpace scores = SpaceOf(found.scores);
    for (size_t place = 0; place < first; ++place) {
      if (!GoesByBlocks(place, scores)) return std::nullopt;
      found.before.push_back(NodeAt(place));
    }
    while (GoesByBlocks(place_, scores)) found.before.push_back(NodeAt(place_++));
    // The softmax reads what the elementwise operations made, and none of these is needed after it.
    const int last = place_ == first + 1 ? found.scores : found.before.back();
    if (!Take(Operation::kSoftmax, &found.softmax) || !Reads(found.softmax, last)) return std::nullopt;
    if (IsNeededLater(0, place_ - 1)) return std::nullopt;
    // What is rescaled is kept as f32.
    if (IsWide(found.scores) || IsWide(found.softmax)) return std::nullopt;
    // The weights may be narrowed on their way to the second matmul, which reads them from the left.
    found.weights = found.softmax;
    const size_t end = place_;
    if (Take(Operation::kCast, &found.weights) && !IsFloating(TypeOf(found.weights).dtype))
      return std::nullopt;
    if (!Take(Operation::kMatmul, &found.sums) || !HaveHeads(found.sums) ||
        !Reads(found.sums, found.weights) || IsWide(found.sums) ||
        IsMade(uses_.Stored(graph_.at(found.sums).inputs[1])) ||
        IsOfBlocks(TypeOf(graph_.at(found.sums).inputs[1]).dtype) ||  // keys that are tiled may cut blocks
        IsNeededLater(end - 1, place_ - 1))
      return std::nullopt;
    return MatchAfter(std::move(found));
  }

 private:
  int NodeAt(size_t place) const { return group_.at(place); }
  const TensorType& TypeOf(int node) const { return graph_.at(node).type; }
  bool IsWide(int node) const { return TypeOf(node).dtype == Dtype::kF64; }
  IterationSpace SpaceOf(int node) const { return HeadsSpace(TypeOf(node).dims, heads_); }

  // True if as many matrices share the matmul's rhs as share the first one's, and none shares its lhs.
  bool HaveHeads(int node) {
    const GraphNode& at = graph_.at(node);
    const auto heads = static_cast<uint32_t>(ItemsPerMatrix(graph_, at, 1));
    if (heads_ == 0) heads_ = heads;
    return SharesRhsAlongAxis(graph_, at) && heads == heads_ && ItemsPerMatrix(graph_, at, 0) == 1;
  }

  // Takes the next operation, if it is `op`, and says which node it is.
  bool Take(Operation op, int* node) {
    if (place_ == group_.size() || graph_.at(NodeAt(place_)).op != op) return false;
    *node = NodeAt(place_++);
    return true;
  }

  // True if there is an elementwise operation at this place that a row program in the space can do, and that
  // makes an element for each score: then a block of keys has its own part of it.
  bool GoesByBlocks(size_t place, const IterationSpace& space) const {
    if (place == group_.size()) return false;
    const int node = NodeAt(place);
    const OperationKind kind = Info(graph_.at(node).op).kind;
    return (kind == OperationKind::kElementwise || kind == OperationKind::kCast) &&
           GoesByRows(graph_, node) && !IsNarrowed(graph_, node) &&
           TypeOf(node).elements() == space.batch() * space.rows() * space.columns() &&
           FitsRows(graph_, node, space);
  }

  bool Reads(int node, int from) const { return graph_.at(node).inputs[0] == from; }
  bool IsMade(int node) const { return group_.Makes(node); }
  // True if an operation from place `first` to `end` is read after the one at `end`. A tile would be gone by
  // then.
  bool IsNeededLater(size_t first, size_t end) const {
    for (size_t place = first; place < end; ++place)
      if (group_.LastUse(NodeAt(place)) > end) return true;
    return false;
  }

  // Takes the operations behind the second matmul, and checks how queries, keys and values lie.
  std::optional<Attention> MatchAfter(Attention found) {
    const IterationSpace sums = SpaceOf(found.sums);
    for (; place_ < group_.size(); ++place_) {
      const int node = NodeAt(place_);
      const bool last = place_ + 1 == group_.size();
      if (!GoesAlongRows(graph_, node) || !FitsRows(graph_, node, sums) ||
          (!last && IsNarrowed(graph_, node)))
        return std::nullopt;
      found.after.push_back(node);
    }
    const size_t first = group_.size() - 1 - found.after.size();  // the sums' place
    if (IsNeededLater(first, group_.size() - 1)) return std::nullopt;
    found.heads = heads_;
    if (!StridesIn(sums, TypeOf(NodeAt(group_.size() - 1)))) return std::nullopt;
    const int q = graph_.at(found.scores).inputs[0];
    if ((heads_ > 1 && uses_.IsView(q)) || !FindMatrices(TypeOf(uses_.Stored(q)), heads_))
      return std::nullopt;
    for (int matmul : {found.scores, found.sums})
      if (!FindMatrices(TypeOf(uses_.Stored(graph_.at(matmul).inputs[1])))) return std::nullopt;
    return found;
  }

  const FusionGroup& group_;
  const GraphUses& uses_;
  const Graph& graph_;
  size_t place_ = 0;
  uint32_t heads_ = 0;  // 0: not known yet
};

// Builds a row program and its stage together. All loads have to come before the first store: the operands of
// a stage are the program's inputs, then its results.
class RowStageWriter {
 public:
  RowStageWriter(int64_t rows, const Size& columns, RowProgram program = {}) : program_(std::move(program)) {
    stage_.kind = StageKind::kRows;
    stage_.rows = rows;
    stage_.columns = columns;
    program_.results.clear();
  }

  // Adds an operand for an input or a result that the program already has.
  void Place(const StageOperand& operand, int64_t row_stride) {
    stage_.operands.push_back(operand);
    stage_.row_strides.push_back(row_stride);
  }

  // These append a value and return its number.
  int Do(Operation op, int a, int b = -1) { return Push({op, a, b, -1, 0}); }
  int Number(float number) { return Push({Operation::kNumber, -1, -1, -1, number}); }

  int Load(const StageOperand& from, int64_t row_stride) { return Load(from, row_stride, true); }
  int LoadOfRow(int value) { return Load({value, 0, 0, 0}, 1, false); }
  // Stores a value; where an input has the same memory, the stage works in place.
  void Store(int value, Dtype dtype, const StageOperand& to, int64_t row_stride) {
    program_.results.push_back({value, dtype});
    for (const StageOperand& operand : stage_.operands) stage_.in_place |= operand.value == to.value;
    Place(to, row_stride);
  }
  void StoreOfRow(int value, int to) { Store(value, Dtype::kF32, {to, 0, 0, 0}, 1); }

  Stage Build() && {
    stage_.program = std::move(program_);
    return std::move(stage_);
  }

 private:
  int Push(const RowValue& value) {
    program_.values.push_back(value);
    return static_cast<int>(program_.values.size()) - 1;
  }
  int Load(const StageOperand& from, int64_t row_stride, bool along_columns) {
    Place(from, row_stride);
    program_.inputs.push_back({Dtype::kF32, along_columns, true});
    return Push({Operation::kLoad, -1, -1, static_cast<int>(program_.inputs.size()) - 1, 0});
  }

  RowProgram program_;
  Stage stage_;
};

// Says how the keys are divided into blocks.
enum class Division : uint8_t {
  kKnown,   // their number is that of the graph
  kHalves,  // it is any: blocks, then what is left by halves of a block
  kAtOnce,  // it is any: blocks, then what is left at once
};

// So many blocks of `keys` keys each, one after the other, from key `first` on. `begins`: nothing was summed
// up before them. With a symbol, they are one block of the keys that are left.
struct KeyBlocks {
  int64_t first = 0;
  Size keys = 0;
  int64_t count = 1;
  bool begins = false;
};

// Writes the loop nest of an attention, whose parameters have been checked.
class OnlineAttentionShaper {
 public:
  OnlineAttentionShaper(const GroupProblem& problem, const Attention& attention, const GroupForm& form,
                        Division division)
      : uses_(problem.group.uses()),
        graph_(problem.group.graph()),
        target_(problem.target),
        attention_(attention),
        tile_(form.parameters[0]),
        block_(form.parameters[1]),
        next_value_(form.next_value),
        division_(division),
        space_(HeadsSpace(TypeOf(attention.softmax).dims, attention.heads)),
        sums_space_(HeadsSpace(TypeOf(attention.sums).dims, attention.heads)) {}

  GroupShape Shape() && {
    LoopNest nest;
    nest.batch = space_.batch();
    nest.rows = space_.rows();
    nest.tile = tile_;
    nest.stages = Stages(nest.tile);
    if (const int64_t rest = nest.rows % nest.tile; rest != 0) nest.rest = Stages(rest);
    AddBuffers(nest.tile);
    shape_.nests.push_back(std::move(nest));
    return std::move(shape_);
  }

 private:
  const TensorType& TypeOf(int node) const { return graph_.at(node).type; }
  int64_t width() const { return sums_space_.columns(); }

  // Buffers that are no nodes. The first three have an element for each row of a tile; the last has the sums
  // so far.
  int maxima() const { return next_value_; }
  int denominators() const { return next_value_ + 1; }
  int scales() const { return next_value_ + 2; }
  int sums() const { return next_value_ + 3; }
  // Returns the memory of the weights. They replace the scores where both are of the same type.
  int weights() const {
    const bool same = TypeOf(attention_.weights).dtype == TypeOf(attention_.scores).dtype;
    return same ? attention_.scores : attention_.weights;
  }
  int result() const { return attention_.after.empty() ? attention_.sums : attention_.after.back(); }

  // Notes the memory for a tile of so many rows and a block of keys. Where what is left of the keys is done
  // at once, rows are further apart (RowDistance).
  void AddBuffers(int64_t rows) {
    const int64_t row = division_ == Division::kAtOnce ? RowDistance(block_, target_) : block_;
    shape_.Reserve(attention_.scores, rows * row, TypeOf(attention_.scores).dtype);
    shape_.Reserve(weights(), rows * row, TypeOf(attention_.weights).dtype);
    for (int value : {maxima(), denominators(), scales()}) shape_.Reserve(value, rows, Dtype::kF32);
    shape_.Reserve(sums(), rows * width(), Dtype::kF32);
    if (!graph_.IsResult(result()))
      shape_.Reserve(result(), TypeOf(result()).elements(), TypeOf(result()).dtype);
  }

  // Writes the first block, whole blocks in a loop, what is left of the keys, and the division by the
  // denominators.
  std::vector<Stage> Stages(int64_t rows) const {
    if (division_ != Division::kKnown) return StagesOfAnyKeys(rows);
    const int64_t keys = space_.columns(), block = block_;
    std::vector<Stage> stages;
    const auto add = [&](const KeyBlocks& blocks) {
      for (Stage& stage : BlockStages(rows, blocks)) {
        stage.repeats = blocks.count;
        stage.loop = blocks.count > 1 ? 1 : 0;
        stages.push_back(std::move(stage));
      }
    };
    add({0, block, 1, true});
    if (keys >= 2 * block) add({block, block, keys / block - 1});
    if (keys % block != 0) add({keys / block * block, keys % block, 1});
    stages.push_back(Quotient(rows));
    return stages;
  }

  // Writes the stages for a number of keys that is a symbol. All blocks are alike, so the
  // sums begin as zeros. Whole blocks come first, as many as there are. What is left is done at once; or by
  // half a block, a quarter, and so on down to one key, each once or not at all.
  //
  //   100 keys in blocks of 32: 3 whole blocks, then no 16, no 8, a block of 4, no 2, no 1
  std::vector<Stage> StagesOfAnyKeys(int64_t rows) const {
    std::vector<Stage> stages = {Zeros(sums(), rows * width()), Zeros(denominators(), rows),
                                 LeastMaxima(rows)};
    int loop = 0;
    const auto add = [&](const KeyBlocks& blocks) {
      ++loop;
      for (Stage& stage : BlockStages(rows, blocks)) {
        stage.repeats = blocks.count;
        stage.loop = loop;
        stage.keys = blocks.keys;
        stages.push_back(std::move(stage));
      }
    };
    const int64_t all = space_.columns();
    if (division_ == Division::kAtOnce) {
      add({0, block_, std::max<int64_t>(all / block_, 1)});
      add({0, {SizeSymbol::kKeysLeft, block_ - 1}});
    } else {
      // With one block of each smaller size there are about as many keys as the graph has.
      add({0, block_, std::max<int64_t>((all + 1) / block_ - 1, 1)});
      for (int64_t keys = block_ / 2; keys > 0; keys /= 2) add({0, keys});
    }
    stages.push_back(Quotient(rows));
    return stages;
  }

  // Returns a stage that fills a buffer with zeros: a copy of no rows, and a row of padding.
  static Stage Zeros(int value, int64_t elements) {
    Stage stage;
    stage.kind = StageKind::kPad;
    stage.copy.height = 0;
    stage.copy.rows_before = 1;
    stage.copy.width = elements;
    stage.operands = {{value, 0, 0, 0}, {value, 0, 0, 0}};
    return stage;
  }

  // Writes the least finite number to the maxima of all rows. It is added to zeros, as a program needs an
  // input.
  Stage LeastMaxima(int64_t rows) const {
    RowStageWriter writer(1, rows);
    const int zeros = writer.Load({denominators(), 0, 0, 0}, rows);
    const int least = writer.Number(std::numeric_limits<float>::lowest());
    writer.Store(writer.Do(Operation::kAdd, zeros, least), Dtype::kF32, {maxima(), 0, 0, 0}, rows);
    return std::move(writer).Build();
  }

  // Returns the stages of a block. The first block has nothing to rescale.
  std::vector<Stage> BlockStages(int64_t rows, const KeyBlocks& blocks) const {
    std::vector<Stage> stages = {Scores(rows, blocks), Softmax(rows, blocks)};
    if (!blocks.begins) stages.push_back(Rescaled(rows));
    stages.push_back(Sums(rows, blocks));
    return stages;
  }

  // The block's scores: the queries of the tile by the block's keys.
  Stage Scores(int64_t rows, const KeyBlocks& blocks) const {
    const std::vector<int>& inputs = graph_.at(attention_.scores).inputs;
    const int q = inputs[0], k = inputs[1];
    Spec asked = MatmulOf(attention_.scores, rows, TypeOf(q).dims.back(), blocks.keys);
    const StageOperand queries = Matrix(q, attention_.heads, 0, &asked), block = Matrix(k, 1, 1, &asked);
    SetMatrix(TypeOf(attention_.scores).dtype, Order::kRow, RowsApart(blocks), 2, &asked);
    Stage stage = ContractionStage(
        asked, {{queries.value, 0, queries.batch_stride, uses_.IsView(q) ? 1 : asked.operand[0].layout.ld},
                Cut(block, uses_.IsView(k) ? asked.operand[1].layout.ld : 1, blocks),
                {attention_.scores, 0, 0, 0}});
    stage.symbols[MatmulDims::kN] = blocks.keys.symbol();
    return stage;
  }

  // Elements from one row to the next in scores and weights.
  uint32_t RowsApart(const KeyBlocks& blocks) const {
    return static_cast<uint32_t>(blocks.keys.IsConstant() ? blocks.keys.most()
                                                          : RowDistance(block_, target_));
  }

  // The block's part of the sums: the weights by the block's rows of v. The first block overwrites.
  Stage Sums(int64_t rows, const KeyBlocks& blocks) const {
    const int v = graph_.at(attention_.sums).inputs[1];
    const auto n = static_cast<uint32_t>(width());
    Spec asked = MatmulOf(attention_.sums, rows, blocks.keys, n);
    asked.accumulate = !blocks.begins;
    SetMatrix(TypeOf(attention_.weights).dtype, Order::kRow, RowsApart(blocks), 0, &asked);
    const StageOperand block = Matrix(v, 1, 1, &asked);
    SetMatrix(Dtype::kF32, Order::kRow, n, 2, &asked);
    const int64_t key = uses_.IsView(v) ? 1 : asked.operand[1].layout.ld;
    Stage stage = ContractionStage(asked, {{weights(), 0, 0, 0}, Cut(block, key, blocks), {sums(), 0, 0, 0}});
    stage.symbols[MatmulDims::kK] = blocks.keys.symbol();
    return stage;
  }

  // Returns a spec with the sizes of a matmul of the block; its matrices are set by the caller.
  Spec MatmulOf(int node, int64_t m, int64_t k, int64_t n) const {
    Spec asked;
    asked.lhs_as = graph_.at(node).lhs_as;
    asked.size = {1, static_cast<uint32_t>(m), static_cast<uint32_t>(k), static_cast<uint32_t>(n)};
    return asked;
  }

  // Returns a matrix of an item as an operand, and says in `asked` how it lies. A view is read by columns.
  StageOperand Matrix(int node, uint32_t heads, size_t operand, Spec* asked) const {
    const StoredMatrices stored = *FindMatrices(TypeOf(uses_.Stored(node)), heads);
    SetMatrix(TypeOf(node).dtype, uses_.IsView(node) ? Order::kCol : Order::kRow, stored.ld, operand, asked);
    return {uses_.Stored(node), 0, stored.batch, 0};
  }

  // Cuts what has elements for keys to the first block. `stride`: elements from one key to the next; each
  // repeat goes on by a block of them.
  StageOperand Cut(StageOperand whole, int64_t stride, const KeyBlocks& blocks) const {
    whole.offset += blocks.first * stride;
    whole.repeat_stride = blocks.keys * stride;
    return whole;
  }

  // Makes a row program of operations that have been checked to go by rows.
  FusedRows Fuse(const std::vector<int>& nodes, int wanted, const IterationSpace& space) const {
    std::string error;
    FusedRows fused = FuseRows(uses_, nodes, {wanted}, space, &error);
    KIRSCH_CHECK(error.empty());
    return fused;
  }

  // Does the elementwise operations on the scores, then a step of the online softmax: the new maximum, the
  // weights, the block's part of the denominators, and the scale for what was summed up before.
  Stage Softmax(int64_t rows, const KeyBlocks& blocks) const {
    const bool first = blocks.begins;
    const FusedRows fused = Fuse(attention_.before, graph_.at(attention_.softmax).inputs[0], space_);
    const int x = fused.program.results.front().value;
    RowStageWriter writer(rows, blocks.keys, fused.program);
    for (int node : fused.inputs) {
      if (node == attention_.scores) {
        writer.Place({node, 0, 0, 0}, RowsApart(blocks));
        continue;
      }
      const MatrixStrides strides = *StridesIn(space_, TypeOf(node));
      writer.Place(Cut({node, 0, strides.batch, strides.row}, strides.column, blocks), strides.row);
    }
    // The first block has nothing to compare with: the least finite number stands for the maximum so far.
    const int before =
        first ? writer.Number(std::numeric_limits<float>::lowest()) : writer.LoadOfRow(maxima());
    const int denominator = first ? -1 : writer.LoadOfRow(denominators());
    const int maximum = writer.Do(Operation::kMaxNum, writer.Do(Operation::kMaximum, x), before);
    const int exp = writer.Do(Operation::kExp, writer.Do(Operation::kSub, x, maximum));
    const int sum = writer.Do(Operation::kSum, exp);
    writer.Store(exp, TypeOf(attention_.weights).dtype, {weights(), 0, 0, 0}, RowsApart(blocks));
    writer.StoreOfRow(maximum, maxima());
    if (first) {
      writer.StoreOfRow(sum, denominators());
      return std::move(writer).Build();
    }
    // The scale is exp(m - m'), 1 where the maximum has not grown.
    const int scale = writer.Do(Operation::kExp, writer.Do(Operation::kSub, before, maximum));
    writer.StoreOfRow(writer.Do(Operation::kAdd, writer.Do(Operation::kMul, denominator, scale), sum),
                      denominators());
    writer.StoreOfRow(scale, scales());
    return std::move(writer).Build();
  }

  // Multiplies the sums so far by the scales of their rows, in place.
  Stage Rescaled(int64_t rows) const {
    RowStageWriter writer(rows, width());
    const int so_far = writer.Load({sums(), 0, 0, 0}, width()), scale = writer.LoadOfRow(scales());
    writer.Store(writer.Do(Operation::kMul, so_far, scale), Dtype::kF32, {sums(), 0, 0, 0}, width());
    return std::move(writer).Build();
  }

  // Divides the sums by the denominators, and does the operations after them on the way to the result.
  Stage Quotient(int64_t rows) const {
    FusedRows fused = Fuse(attention_.after, result(), sums_space_);
    const auto from = std::ranges::find(fused.inputs, attention_.sums);
    Divide(static_cast<int>(from - fused.inputs.begin()), &fused.program);
    const RowResult stored = fused.program.results.front();
    RowStageWriter writer(rows, width(), fused.program);
    for (int node : fused.inputs) {
      const MatrixStrides strides = *StridesIn(sums_space_, TypeOf(node));
      if (node == attention_.sums)
        writer.Place({sums(), 0, 0, 0}, width());
      else
        writer.Place({node, 0, strides.batch, strides.row}, strides.row);
    }
    writer.Place({denominators(), 0, 0, 0}, 1);
    const MatrixStrides strides = *StridesIn(sums_space_, TypeOf(result()));
    writer.Store(stored.value, stored.dtype, {result(), 0, strides.batch, strides.row}, strides.row);
    return std::move(writer).Build();
  }

  // Multiplies an input, where it is loaded, by 1 over a new input. That one is 0 for a row that sees no key;
  // the sums are 0 then, and so is the result, as the divisor is at least the least normal number.
  static void Divide(int input, RowProgram* program) {
    const int divisor = static_cast<int>(program->inputs.size());
    program->inputs.push_back({Dtype::kF32, false, true});
    std::vector<RowValue>& values = program->values;
    const auto load = std::ranges::find_if(
        values, [&](const RowValue& value) { return value.op == Operation::kLoad && value.input == input; });
    const auto at = static_cast<int>(load - values.begin());
    // These six values come right behind the load, so all values after them move up by six.
    const std::vector<RowValue> added = {{Operation::kLoad, -1, -1, divisor, 0},
                                         {Operation::kNumber, -1, -1, -1, 1},
                                         {Operation::kNumber, -1, -1, -1, std::numeric_limits<float>::min()},
                                         {Operation::kMaxNum, at + 3, at + 1, -1, 0},
                                         {Operation::kDiv, at + 2, at + 4, -1, 0},
                                         {Operation::kMul, at, at + 5, -1, 0}};
    const auto moved = [&](int value) {
      return value >= at ? value + static_cast<int>(added.size()) : value;
    };
    // Whoever used the load reads the product, which is the last of the six.
    for (auto value = load + 1; value != values.end(); ++value) {
      value->a = moved(value->a);
      value->b = moved(value->b);
      value->c = moved(value->c);
    }
    for (RowResult& result : program->results) result.value = moved(result.value);
    values.insert(load + 1, added.begin(), added.end());
  }

  const GraphUses& uses_;
  const Graph& graph_;
  const Target& target_;
  const Attention& attention_;
  const int64_t tile_, block_;  // rows, and keys at a time
  const int next_value_;
  const Division division_;
  const IterationSpace space_, sums_space_;  // of the scores; of the sums
  GroupShape shape_;
};

// Where the number of keys is known, `online` is the rewrite; where it is not, the other two are.
template <bool any_keys>
bool Applies(const GroupProblem& problem) {
  return problem.symbolic_keys() == any_keys && Matcher(problem.group).Match().has_value();
}

IterationSpace ScoresOf(const GroupProblem& problem, const Attention& attention) {
  return HeadsSpace(problem.group.graph().at(attention.softmax).type.dims, attention.heads);
}

// Returns doublings of a number of keys, with tiles of all rows, or of what register tiles divide well.
std::vector<RewriteParameters> KeysAndTiles(int64_t first, int64_t end, const IterationSpace& scores,
                                            const Target& target) {
  std::vector<int64_t> tiles = RowTiles(scores.rows(), target);
  tiles.push_back(scores.rows());
  std::vector<RewriteParameters> all;
  for (int64_t keys : Doublings(first, LargestKeyBlock(target), end))
    for (int64_t tile : tiles) all.push_back({tile, keys});
  return all;
}

// Blocks have fewer keys than there are.
std::vector<RewriteParameters> Enumerate(const GroupProblem& problem) {
  const IterationSpace scores = ScoresOf(problem, *Matcher(problem.group).Match());
  return KeysAndTiles(kLeastLines * LineElements(problem.target), scores.columns(), scores, problem.target);
}

// Blocks are powers of two, so that there are halves down to one key. The smallest one is always tried,
// however few keys the graph has.
std::vector<RewriteParameters> EnumerateAnyKeys(const GroupProblem& problem) {
  const IterationSpace scores = ScoresOf(problem, *Matcher(problem.group).Match());
  const int64_t least = kLeastLines * LineElements(problem.target) / 2;
  return KeysAndTiles(least, std::max(least, scores.columns()) + 1, scores, problem.target);
}

// Checks the parameters, then writes the nest.
template <Division division>
GroupShape Expand(const GroupProblem& problem, const GroupForm& form) {
  constexpr bool kKnowsKeys = division == Division::kKnown;
  const Attention attention = *Matcher(problem.group).Match();
  const IterationSpace scores = ScoresOf(problem, attention);
  const auto [tile, keys, unused] = form.parameters;
  const bool divides = kKnowsKeys ? keys >= 1 && keys < scores.columns()
                                  : keys >= 2 && std::has_single_bit(static_cast<uint64_t>(keys));
  if (tile < 1 || tile > scores.rows() || !divides) {
    GroupShape shape;
    shape.Fail(problem.group.at(0), Cat("a tile of no more rows than there are, and blocks of ",
                                        kKnowsKeys ? "fewer keys" : "a power of two of keys"));
    return shape;
  }
  return OnlineAttentionShaper(problem, attention, form, division).Shape();
}

// True if there is masked access to each type that has elements for keys. Matmuls need it of what they make
// only.
bool AppliesToAnyKeysAtOnce(const GroupProblem& problem) {
  if (!Applies<true>(problem)) return false;
  const Graph& graph = problem.group.graph();
  const auto may_vary = [&](int node) {
    return !problem.Varies(node) || LanesMayVary(graph.at(node).type.dtype, problem.target);
  };
  return std::ranges::all_of(problem.group.operations(), [&](int node) {
    const std::vector<int>& inputs = graph.at(node).inputs;
    return may_vary(node) &&
           (graph.at(node).op == Operation::kMatmul || std::ranges::all_of(inputs, may_vary));
  });
}

std::vector<RewriteParameters> EnumerateAnyKeysAtOnce(const GroupProblem& problem) {
  std::vector<RewriteParameters> all = EnumerateAnyKeys(problem);
  const int64_t keys = ScoresOf(problem, *Matcher(problem.group).Match()).columns();
  // The price of what is left is that of a nearly whole block. So only blocks are tried of which the graph's
  // keys leave at least half a one.
  const auto leaves_little = [&](const RewriteParameters& parameters) {
    const int64_t block = parameters[1];
    return keys < block || keys % block < block / 2;
  };
  all.erase(std::remove_if(all.begin(), all.end(), leaves_little), all.end());
  return all;
}

}  // namespace

int64_t LargestKeyBlock(const Target& target) { return kMostTimes * kLeastLines * LineElements(target); }

// For a group that is
//
// - a matmul, the scores;
// - elementwise operations on the scores, and, before the matmul, on masks that they take;
// - a softmax, perhaps a cast of it to another floating type;
// - a matmul by it from the left, of what the group doesn't make;
// - operations that go by rows.
const GraphRewrite kOnlineAttention = {
    "online", {"tile", "keys"}, Applies<false>, Enumerate, Expand<Division::kKnown>};

// The same for a number of keys that is a symbol (GroupProblem::varies). Whole blocks are
// as many as there are; what is left is taken by halves of a block (StagesOfAnyKeys).
//
// Stages say how many keys they are for (Stage::keys), and their operands begin with the first key of all.
// The price is that of the repeats: one block of each smaller size, and as many whole ones as make it about
// the keys of the graph.
const GraphRewrite kAnyKeys = {"any-keys",       {"tile", "keys"},          Applies<true>,
                               EnumerateAnyKeys, Expand<Division::kHalves>, KeyUse::kBlocks};

// The same, but what is left is taken at once, by programs for any number of keys below a block's
// (SizeSymbol::kKeysLeft). They are made and priced for as many keys as there may be. Not for types whose
// vectors cannot have a number of elements that is a symbol (LanesMayVary).
const GraphRewrite kAnyKeysAtOnce = {"any-keys-at-once",        {"tile", "keys"},
                                     AppliesToAnyKeysAtOnce,    EnumerateAnyKeysAtOnce,
                                     Expand<Division::kAtOnce>, KeyUse::kAtOnce};

}  // namespace kirsch
