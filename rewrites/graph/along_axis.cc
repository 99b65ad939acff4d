// SPDX-License-Identifier: Apache-2.0
// Computes an operation along an axis as row programs, one for each part of the result whose elements are
// made alike (axis_parts.h). Nothing is moved but what is read and what is made.
//
//   before -> after, for x: f32[128,192], y: f32[128,64]:
//     concat(x, y, axis=1)  ->  a nest of 128 rows: 192 elements of x to where the result's row begins
//                               a nest of 128 rows: 64 elements of y to 192 elements behind that
//
// Of each tensor the axes before the operation's are one, and so are those behind it. Where all tensors have
// the part's indices side by side, these are the columns, and the axes before are the rows; where there is
// one row only, tiles are parts of it. Else the indices are rows, and what is behind the axis is the columns:
// that is one column where the axis is the last one, which is slow.
//
// Running sums read what they have made. Elements at given indices are rows that a row program looks up.
//
// A row program stores a number once for a row. Where a part is one number, it is made of elements of the
// input, whatever they are, as far as there are as many; beyond that elements are rows.
#include "rewrites/graph/along_axis.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "rewrites/analysis/iteration.h"
#include "rewrites/graph/axis_parts.h"
#include "rewrites/graph/registry.h"
#include "rewrites/spec/tile_sizes.h"

namespace kirsch {
namespace {

// Tiles that are parts of one row are multiples of so many lines.
constexpr int64_t kLinesOfTile = 4;
// Sums that run side by side. Their lines share a set of L1 where rows are 4 KiB apart.
constexpr int64_t kRowsOfSums = 4;

std::optional<MatrixStrides> StridesAlong(const TensorType& type, uint32_t axis) {
  return StridesIn({type.dims, axis, axis + 1}, type);
}

// Writes the nest of one part.
class PartWriter {
 public:
  PartWriter(const GroupProblem& problem, const GroupMemory& memory, const AxisPart& part)
      : problem_(problem),
        memory_(memory),
        part_(part),
        node_(problem.group.graph().at(problem.group.at(0))),
        axis_(node_.axes.front()) {
    const IterationSpace space{node_.type.dims, axis_, axis_ + 1};
    batch_ = space.batch();
    rows_ = part.count;
    columns_ = space.columns();
    for (const AxisSource& source : part.sources) {
      AddTensor(source.input == node_.inputs.size() ? problem.group.at(0) : node_.inputs[source.input],
                source.from, part.step);
    }
    fills_ = part.sources.empty() && part.count <= TypeOf(node_.inputs[0]).dims[axis_];
    if (fills_) AddTensor(node_.inputs[0], 0, 1);
    AddTensor(problem.group.at(0), part.to, 1);
  }

  LoopNest Write() && {
    if (node_.op == Operation::kCumsum) return OneAfterTheOther();
    return part_.sources.empty() && !fills_ ? ElementByElement() : ByRows();
  }

 private:
  struct Tensor {
    int value;
    int64_t offset;
    MatrixStrides strides;
  };

  LoopNest ByRows() {
    bool together = true;
    for (const Tensor& tensor : tensors_) together &= rows_ == 1 || tensor.strides.row == columns_;
    if (together) {
      columns_ *= std::exchange(rows_, std::exchange(batch_, 1));
      for (Tensor& tensor : tensors_) tensor.strides = {0, tensor.strides.batch, 1};
    }
    flat_ = rows_ == 1 && batch_ == 1;
    const int64_t step = flat_ ? kLinesOfTile * LineElements(problem_.target) : 1;
    LoopNest nest;
    nest.batch = batch_;
    nest.rows = flat_ ? columns_ : rows_;
    const int64_t share = ShareOf(nest.rows, problem_.threads, step);
    nest.tile = share != 0 && batch_ == 1 ? share : nest.rows.most();
    nest.stages = {StageOf(nest.tile)};
    if (const int64_t rest = nest.rows % nest.tile; rest != 0) nest.rest = {StageOf(rest)};
    return nest;
  }

  // A number as the only element of each row, of which there are as many as columns.
  LoopNest ElementByElement() {
    LoopNest nest;
    nest.batch = batch_;
    nest.rows = rows_;
    Stage& stage = nest.stages.emplace_back(StageOf(columns_));
    stage.columns = 1;
    stage.row_strides = {1};
    return nest;
  }

  // Indices that read what the ones before have made are repeats, of the same tile and thread. Where columns
  // are one element, rows are the batch, a few at a time, so that their lines stay in L1 meanwhile.
  LoopNest OneAfterTheOther() {
    const bool one = columns_ == 1;
    const int64_t indices = std::exchange(rows_, one ? std::exchange(batch_, 1) : 1);
    std::vector<int64_t> steps;
    for (Tensor& tensor : tensors_) {
      steps.push_back(tensor.strides.row);
      tensor.strides.row = one ? tensor.strides.batch : 0;
    }
    LoopNest nest;
    nest.batch = batch_;
    nest.rows = rows_;
    nest.tile = std::min(rows_, kRowsOfSums);
    const auto stage = [&](int64_t count) {
      Stage stage = StageOf(count);
      stage.repeats = indices;
      for (size_t i = 0; i < steps.size(); ++i) stage.operands[i].repeat_stride = steps[i];
      return stage;
    };
    nest.stages = {stage(nest.tile)};
    if (const int64_t rest = nest.rows % nest.tile; rest != 0) nest.rest = {stage(rest)};
    return nest;
  }

  const TensorType& TypeOf(int value) const { return problem_.group.graph().at(value).type; }

  void AddTensor(int value, int64_t first, int64_t step) {
    MatrixStrides strides = StridesAlong(TypeOf(value), axis_).value_or(MatrixStrides{});
    const int64_t offset = first * strides.row;
    strides.row *= step;
    tensors_.push_back({value, offset, strides});
  }

  // For so many rows; or elements, where there is one row only.
  Stage StageOf(int64_t count) const {
    Stage stage;
    stage.kind = StageKind::kRows;
    stage.rows = flat_ ? 1 : count;
    stage.columns = flat_ ? count : columns_;
    stage.program = Program();
    for (const Tensor& tensor : tensors_) {
      const int64_t along = flat_ ? 1 : tensor.strides.row;
      StageOperand operand = memory_.OperandFor(tensor.value, tensor.strides.batch, along);
      operand.offset += tensor.offset;
      stage.operands.push_back(operand);
      stage.row_strides.push_back(tensor.strides.row);
    }
    return stage;
  }

  // The copy, or what the operation makes of a window.
  RowProgram Program() const {
    RowProgram program;
    const Dtype type = AccumulatorOf(node_.type.dtype);
    const auto push = [&](const RowValue& value) {
      program.values.push_back(value);
      return static_cast<int>(program.values.size()) - 1;
    };
    int made = -1;
    for (size_t i = 0; i + 1 < tensors_.size(); ++i) {
      const Dtype loaded = TypeOf(tensors_[i].value).dtype;
      program.inputs.push_back({loaded, columns_ > 1, nest_has_rows()});
      const int load = push({Operation::kLoad, -1, -1, static_cast<int>(i), 0, type});
      made = made < 0 ? load : push({Combining(), made, load, -1, 0, type});
    }
    if (part_.sources.empty()) {
      const int number = push({Operation::kNumber, -1, -1, -1, NumberAround(node_), type});
      // Of anything, a NaN too, and a number the larger is at least that; the smaller of both is the number.
      const int most = fills_ ? push({Operation::kMaxNum, made, number, -1, 0, type}) : -1;
      made = fills_ ? push({Operation::kMinNum, most, number, -1, 0, type}) : number;
    }
    program.results = {{made, node_.type.dtype}};
    return program;
  }
  bool nest_has_rows() const { return !flat_ && rows_ > 1; }

  // Of integers there is no maximum that NaNs make one.
  Operation Combining() const {
    if (node_.op != Operation::kWindowMax) return Operation::kAdd;
    return IsFloating(node_.type.dtype) ? Operation::kMax : OfNumbers(Operation::kMax);
  }

  const GroupProblem& problem_;
  const GroupMemory& memory_;
  const AxisPart& part_;
  const GraphNode& node_;
  const uint32_t axis_;
  int64_t batch_ = 1, rows_ = 1, columns_ = 1;
  bool flat_ = false;
  bool fills_ = false;           // a number in the place of elements of the input
  std::vector<Tensor> tensors_;  // the sources, then the result
};

// Such an operation is a group of its own.
bool Applies(const GroupProblem& problem) {
  const Graph& graph = problem.group.graph();
  return problem.group.size() == 1 &&
         Info(graph.at(problem.group.at(0)).op).kind == OperationKind::kAlongAxis &&
         LieAlongAxis(graph, problem.group.at(0));
}

std::vector<RewriteParameters> Enumerate(const GroupProblem&) { return {{}}; }

// The strides of the indices that elements are taken at: from one part of the tensor that has its own to the
// next, and from one index to the next.
std::optional<MatrixStrides> StridesOfIndices(const TensorType& type) {
  return StridesIn({type.dims, type.dims.size() - 1, type.dims.size()}, type);
}

// Rows of the tensor at given indices: each row of the result is a copy of one.
LoopNest TakenRows(const GroupProblem& problem, const GroupMemory& memory) {
  const Graph& graph = problem.group.graph();
  const int to = problem.group.at(0);
  const GraphNode& node = graph.at(to);
  const uint32_t axis = node.axes.front();
  const IterationSpace space{node.type.dims, axis, axis + 1};
  const TensorType &x = graph.InputType(node, 0), &indices = graph.InputType(node, 1);
  LoopNest nest;
  nest.batch = space.batch();
  nest.rows = space.rows();
  const int64_t share = ShareOf(nest.rows, problem.threads, 1);
  nest.tile = share != 0 && nest.batch == 1 ? share : nest.rows.most();
  const MatrixStrides at = *StridesOfIndices(indices), from = *StridesAlong(x, axis),
                      stored = *StridesAlong(node.type, axis);
  const auto stage = [&](int64_t rows) {
    Stage stage;
    stage.kind = StageKind::kRows;
    stage.rows = rows;
    stage.columns = space.columns();
    stage.operands = {memory.OperandFor(node.inputs[1], at.batch, at.row),
                      memory.OperandFor(node.inputs[0], from.batch, 0),
                      memory.OperandFor(to, stored.batch, stored.row)};
    stage.row_strides = {at.row, from.row, stored.row};
    stage.program.inputs = {{Dtype::kS32, false, at.row != 0},
                            {x.dtype, stage.columns > 1, true, 0, x.dims[axis]}};
    stage.program.values = {{Operation::kLoad, -1, -1, 1, 0, AccumulatorOf(x.dtype)}};
    stage.program.results = {{0, x.dtype}};
    return stage;
  };
  nest.stages = {stage(nest.tile)};
  if (const int64_t rest = nest.rows % nest.tile; rest != 0) nest.rest = {stage(rest)};
  return nest;
}

GroupShape Expand(const GroupProblem& problem, const GroupForm& form) {
  GroupShape shape;
  const Graph& graph = problem.group.graph();
  const int node = problem.group.at(0);
  const GroupMemory memory(problem.group, form.in_place);
  memory.Reserve(node, 0, 0, &shape);
  if (graph.at(node).op == Operation::kTake) {
    shape.nests.push_back(TakenRows(problem, memory));
    return shape;
  }
  for (const AxisPart& part : PartsAlongAxis(graph, graph.at(node))) {
    LoopNest nest = PartWriter(problem, memory, part).Write();
    // A running sum goes on from its first element in the same nest.
    if (graph.at(node).op == Operation::kCumsum && !shape.nests.empty()) {
      shape.nests[0].stages.push_back(std::move(nest.stages[0]));
      if (!nest.rest.empty()) shape.nests[0].rest.push_back(std::move(nest.rest[0]));
    } else {
      shape.nests.push_back(std::move(nest));
    }
  }
  return shape;
}

}  // namespace

bool LieAlongAxis(const Graph& graph, int node) {
  const GraphNode& at = graph.at(node);
  const auto lies = [&](int value) {
    return StridesAlong(graph.at(value).type, at.axes.front()).has_value();
  };
  if (at.op == Operation::kTake)
    return lies(node) && lies(at.inputs[0]) && StridesOfIndices(graph.InputType(at, 1)).has_value();
  bool all = lies(node);
  for (int input : at.inputs) all = all && lies(input);
  return all;
}

SliceView ViewOfSlice(const Graph& graph, int slice) {
  const GraphNode& node = graph.at(slice);
  const uint32_t axis = node.axes.front();
  std::vector<int64_t> strides = graph.InputType(node, 0).Strides();
  const int64_t offset = strides[axis] * node.along.from;
  strides[axis] *= node.along.steps.stride;
  return {{node.type.dtype, node.type.dims, std::move(strides)}, offset};
}

const GraphRewrite kAlongAxis = {"axis", {}, Applies, Enumerate, Expand};

}  // namespace kirsch
