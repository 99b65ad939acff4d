// SPDX-License-Identifier: Apache-2.0
// Copies by a loop nest over row programs: tensors with strides, permutations, reshapes, broadcasts, and
// chains of these, whose values between are never stored. Any loops will do (copy_loops.h).
//
//   before -> after:
//     permute(x, [1,0,2]), x: f32[64,12,32]  ->  12 tiles of 64 rows of 32 elements, each row 384 elements
//                                                behind the one before
//
// Of the loops inside of which elements follow each other, the innermost becomes the columns. The others are
// rows, tiles, repeats and items; what is left beyond four are stages of their own.
#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "rewrites/graph/copy_loops.h"
#include "rewrites/graph/registry.h"

namespace kirsch {
namespace {

// The loops that a nest has around the columns, and the most stages that one may have instead of more.
constexpr size_t kNestLoops = 4;
constexpr int64_t kMostStages = 512;

// A chain of copies, of which only the last is needed elsewhere, is a group. A transposition alone has a
// rewrite of its own.
bool Applies(const GroupProblem& problem) {
  const FusionGroup& group = problem.group;
  for (size_t place = 0; place + 1 < group.size(); ++place)
    if (!group.IsLocal(group.at(place))) return false;
  if (group.size() == 1 && group.graph().at(group.at(0)).op == Operation::kTranspose) return false;
  return FindCopyLoops(group.graph(), group.operations()).has_value();
}

std::vector<RewriteParameters> Enumerate(const GroupProblem&) { return {{}}; }

// Writes the nest of a copy from one value to another.
class CopyWriter {
 public:
  CopyWriter(const GroupProblem& problem, const GroupForm& form)
      : group_(problem.group),
        memory_(problem.group, form.in_place),
        to_(group_.at(group_.size() - 1)),
        from_(group_.graph().at(group_.at(0)).inputs[0]),
        loops_(*FindCopyLoops(group_.graph(), group_.operations())) {}

  GroupShape Write() && {
    GroupShape shape;
    memory_.Reserve(to_, 0, 0, &shape);
    LoopNest& nest = shape.nests.emplace_back();
    if (IsTransposition()) {
      nest.stages.push_back(Transposed());
      return shape;
    }
    // Where columns are one element, repeated, they are f32s: see StageAt.
    const bool repeats = AccumulatorOf(TypeOf(from_).dtype) == Dtype::kF32;
    if (!loops_.empty() && loops_.back().to == 1 &&
        (loops_.back().from == 1 || (loops_.back().from == 0 && repeats))) {
      columns_ = loops_.back();
      loops_.pop_back();
    }
    // The shortest loops are the stages of their own.
    std::vector<CopyLoop> apart;
    while (loops_.size() > kNestLoops) {
      const auto shortest = std::ranges::min_element(loops_, {}, &CopyLoop::size);
      apart.push_back(*shortest);
      loops_.erase(shortest);
    }
    // From the innermost on: rows, tiles, items; and, where there are four, repeats inside of the tiles.
    std::ranges::reverse(loops_);
    if (loops_.size() == kNestLoops) std::rotate(loops_.begin() + 1, loops_.begin() + 2, loops_.end());
    loops_.resize(kNestLoops);
    nest.rows = loops_[1].size;
    nest.batch = loops_[2].size;
    AddStages(apart, 0, 0, &nest.stages);
    if (std::ssize(nest.stages) > kMostStages) shape.Fail(to_, "a copy of fewer axes");
    return shape;
  }

 private:
  TensorType TypeOf(int value) const { return group_.graph().at(value).type; }

  // True if dense matrices are turned, for which there is a copy kernel.
  bool IsTransposition() const {
    if (loops_.size() < 2 || loops_.size() > 3 || TypeOf(from_).dtype != TypeOf(to_).dtype) return false;
    const CopyLoop &column = loops_[loops_.size() - 2], &row = loops_.back();
    const int64_t both = column.size * row.size;
    return column.from == 1 && row.from == column.size && row.to == 1 && column.to == row.size &&
           (loops_.size() == 2 || (loops_[0].from == both && loops_[0].to == both));
  }

  Stage Transposed() const {
    Stage stage;
    stage.kind = StageKind::kTranspose;
    stage.operands = {memory_.OperandFor(from_, 0, 0), memory_.OperandFor(to_, 0, 0)};
    stage.copy.planes = loops_.size() == 3 ? loops_[0].size : 1;
    stage.copy.height = loops_.back().size;
    stage.copy.width = loops_[loops_.size() - 2].size;
    stage.copy.dtype = TypeOf(to_).dtype;
    return stage;
  }

  // A stage for each index of the loops apart, which begin so many elements behind the first ones.
  void AddStages(std::vector<CopyLoop> apart, int64_t from, int64_t to, std::vector<Stage>* stages) const {
    if (apart.empty()) return stages->push_back(StageAt(from, to));
    const CopyLoop loop = apart.back();
    apart.pop_back();
    for (int64_t i = 0; i < loop.size && std::ssize(*stages) <= kMostStages; ++i)
      AddStages(apart, from + i * loop.from, to + i * loop.to, stages);
  }

  Stage StageAt(int64_t from, int64_t to) const {
    const auto& [rows, tiles, items, repeats] = std::array{loops_[0], loops_[1], loops_[2], loops_[3]};
    Stage stage;
    stage.kind = StageKind::kRows;
    stage.rows = rows.size;
    stage.columns = columns_.size;
    stage.repeats = repeats.size;
    const Dtype loaded = TypeOf(from_).dtype;
    stage.program.values = {{Operation::kLoad, -1, -1, 0, 0, AccumulatorOf(loaded)}};
    stage.program.inputs = {{loaded, columns_.size > 1 && columns_.from > 0, rows.size > 1 && rows.from > 0}};
    stage.program.results = {{0, TypeOf(to_).dtype}};
    if (columns_.from == 0 && columns_.size > 1) {
      // What is one for the row is stored once. So it is made one for each column, by a choice of x or x.
      stage.program.values.push_back({Operation::kIndex});
      stage.program.values.push_back({Operation::kSelect, 1, 0, -1, 0, Dtype::kF32, 0});
      stage.program.results[0].value = 2;
    }
    StageOperand source = memory_.OperandFor(from_, items.from, tiles.from),
                 target = memory_.OperandFor(to_, items.to, tiles.to);
    source.offset += from;
    target.offset += to;
    source.repeat_stride = repeats.from;
    target.repeat_stride = repeats.to;
    stage.operands = {source, target};
    stage.row_strides = {rows.from, rows.to};
    return stage;
  }

  const FusionGroup& group_;
  const GroupMemory memory_;
  const int to_, from_;
  std::vector<CopyLoop> loops_;
  CopyLoop columns_;
};

GroupShape Expand(const GroupProblem& problem, const GroupForm& form) {
  return CopyWriter(problem, form).Write();
}

}  // namespace

const GraphRewrite kStridedCopy = {"gather", {}, Applies, Enumerate, Expand};

}  // namespace kirsch
