// SPDX-License-Identifier: Apache-2.0
#include "spec/program/plan_program.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "spec/check.h"
#include "spec/graph/row_passes.h"
#include "spec/program/impl_program.h"
#include "spec/program/program_builder.h"
#include "spec/program/program_memory.h"
#include "spec/sum_blocks.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

// Which item of a nest's batch, which tile of its rows and which of their repeats the stages are for;
// kNoVar: there is one only.
struct Turn {
  VarId item = kNoVar, tile = kNoVar, repeat = kNoVar;
  Affine key = {};  // the first key of the block, where their number is known when the kernel runs
};

class PlanWriter {
 public:
  PlanWriter(const Plan& plan, const Target& target) : plan_(plan), impls_(target, builder_) {}

  Program Write() && {
    AddBuffers();
    Program& program = builder_.program();
    for (const PlanSize& size : plan_.sizes) {
      VarId& variable = size.kind == PlanSizeKind::kRows ? planned_rows_ : keys_;
      variable = program.variables++;
      program.sizes.push_back({size.name, variable, size.least, size.most});
    }
    program.phases = plan_.phases();
    for (size_t i = 0; i < plan_.nests.size(); ++i)
      program.tasks = std::max(program.tasks, TasksBefore(i) + TasksOf(plan_.nests[i]));
    for (int phase = 0; phase < program.phases; ++phase) WritePhase(phase);
    builder_.Prepack([&] { WritePrepack(); });
    PlaceBuffers(&program);
    return std::move(builder_).Build();
  }

 private:
  void AddBuffers() {
    const Graph& graph = plan_.graph;
    const auto add_caller = [&](int value, std::string name, bool stored) {
      const TensorType& type = graph.at(value).type;
      return builder_.AddBuffer({std::move(name), type.dtype, Memory::kCaller, stored,
                                 graph.IsConstant(value), Bytes(type.dtype, type.span()), 0});
    };
    for (int i = 0; i < graph.num_inputs(); ++i) callers_[i] = add_caller(i, graph.at(i).text, false);
    buffer_of_ = callers_;
    buffer_of_[graph.result] = add_caller(graph.result, "out", true);
    for (const Buffer& buffer : plan_.buffers)
      buffer_of_[buffer.value] =
          builder_.AddBuffer({NameOf(buffer.value), Dtype::kF32, Memory::kOwn, true, false, buffer.bytes, 0});
    builder_.program().named = true;
  }

  // A parameter's name, "v3" for a node, "copy70" for what is none.
  std::string NameOf(int value) const {
    const Graph& graph = plan_.graph;
    if (value < graph.num_inputs()) return graph.at(value).text;
    return Cat(value < static_cast<int>(graph.nodes.size()) ? "v" : "copy", value);
  }

  // What is made of a constant has the constant's number.
  void WritePrepack() {
    ahead_ = true;
    for (const LoopNest& nest : plan_.folded) WriteNest(nest, 0);
    for (const Stage& stage : plan_.prepacks)
      Repeat(stage.repeats, [&](VarId repeat) {
        const auto offset = [&](const StageOperand& operand) {
          const Affine first = Constant(operand.offset);
          return repeat == kNoVar ? first : Plus(first, repeat, operand.repeat_stride);
        };
        const StageOperand &from = stage.operands[0], &to = stage.operands[1];
        WriteStage(stage, {{BufferOf(from.value), offset(from)}, {buffer_of_.at(to.value), offset(to)}},
                   std::nullopt);
      });
    ahead_ = false;
  }

  static int64_t TasksOf(const LoopNest& nest) {
    switch (nest.sharing) {
      case Sharing::kNone:
        return 0;
      case Sharing::kItems:
        return nest.batch;
      case Sharing::kTiles:
        return nest.batch * nest.tiles();
      case Sharing::kStage:
        return TaskCount(nest.stages.front().impl);
    }
    KIRSCH_BUG("no such sharing");
  }

  // The number of a nest's first task: those of a phase are numbered one after the other.
  int64_t TasksBefore(size_t number) const {
    int64_t tasks = 0;
    for (size_t i = 0; i < number; ++i)
      if (plan_.nests[i].phase == plan_.nests[number].phase) tasks += TasksOf(plan_.nests[i]);
    return tasks;
  }

  void WritePhase(int phase) {
    const auto nests = [&] {
      for (size_t i = 0; i < plan_.nests.size(); ++i)
        if (plan_.nests[i].phase == phase) WriteNest(plan_.nests[i], TasksBefore(i));
    };
    plan_.phases() > 1 ? builder_.AddPhase(phase, nests) : nests();
  }

  // `task`: the number of its first task.
  void WriteNest(const LoopNest& nest, int64_t task) {
    WriteStages(nest.before, {});
    const auto for_items = [&](const std::function<void(VarId)>& body) {
      if (!nest.batch_grows || planned_rows_ == kNoVar) return Repeat(nest.batch, body);
      builder_.AddLoop({Grown(nest.batch)}, body);
    };
    for_items([&](VarId item) {
      const int64_t each = nest.sharing == Sharing::kItems ? 1 : nest.tiles();
      const Affine first = item == kNoVar ? Constant(task) : Plus(Constant(task), item, each);
      WriteTask(nest.sharing == Sharing::kItems, first, [&] {
        WriteStages(nest.once, {item, kNoVar, kNoVar});
        WriteTiles(nest, item, first);
      });
    });
  }

  void WriteTiles(const LoopNest& nest, VarId item, const Affine& first) {
    const bool shared = nest.sharing == Sharing::kTiles;
    const auto tile_of = [&](const std::vector<Stage>& stages, VarId tile) {
      const std::optional<Affine> own = nest.sharing == Sharing::kStage ? std::optional(first) : std::nullopt;
      WriteTask(shared, tile == kNoVar ? first : Plus(first, tile, 1),
                [&] { WriteStages(stages, {item, tile, kNoVar}, nest.tile, own); });
    };
    if (nest.rows_grow && planned_rows_ != kNoVar) return WriteAnyRows(nest, tile_of);
    if (nest.rest.empty()) return Repeat(nest.trips(), [&](VarId tile) { tile_of(nest.stages, tile); });
    builder_.AddLoop(
        {Constant(nest.rows), nest.tile, false}, [&](VarId tile) { tile_of(nest.stages, tile); },
        [&](VarId tile) { tile_of(nest.rest, tile); });
  }

  // Whole tiles, and what is left of any number of rows; or all of them.
  template <typename WriteTile>
  void WriteAnyRows(const LoopNest& nest, const WriteTile& write_tile) {
    const Affine rows = Grown(nest.rows);
    const auto write = [&](const Count& count, const std::vector<Stage>& stages, VarId tile) {
      builder_.AddLet(count, [&](VarId any) {
        rows_ = any;
        write_tile(stages, tile);
      });
    };
    if (nest.tile == nest.rows) return write({rows}, nest.stages, kNoVar);
    builder_.AddLoop(
        {rows, nest.tile}, [&](VarId tile) { write_tile(nest.stages, tile); },
        [&](VarId tile) {
          if (!nest.rest.empty()) write({rows, nest.tile, true}, nest.rest, tile);
        });
  }

  // A number that is for the planned size, and grows with it.
  Affine Grown(int64_t planned) const {
    return Times(IndexOf(planned_rows_), planned / plan_.size(PlanSizeKind::kRows)->planned);
  }

  void Repeat(int64_t count, const std::function<void(VarId)>& body) {
    if (count == 1) return body(kNoVar);
    builder_.AddLoop(Whole(count), body);
  }

  void WriteTask(bool shared, const Affine& task, const std::function<void()>& body) {
    if (!shared || !builder_.program().SharesWork()) return body();
    builder_.AddTask(task, body);
  }

  // `first`: the number of the first of the stage's own tasks, if threads share these.
  void WriteStages(const std::vector<Stage>& stages, const Turn& turn, int64_t tile = 0,
                   const std::optional<Affine>& first = std::nullopt) {
    for (auto begin = stages.begin(); begin != stages.end();) {
      if (begin->keys != 0 && keys_ != kNoVar) {
        begin = WriteKeys(begin, stages.end(), turn, tile, keys_);
        continue;
      }
      const auto end = std::find_if(begin + 1, stages.end(), [&](const Stage& stage) {
        return begin->loop == 0 || stage.loop != begin->loop;
      });
      Repeat(begin->repeats, [&](VarId repeat) {
        for (auto stage = begin; stage != end; ++stage)
          WriteTurn(*stage, {turn.item, turn.tile, repeat}, tile, first);
      });
      begin = end;
    }
  }

  void WriteTurn(const Stage& stage, const Turn& turn, int64_t tile, const std::optional<Affine>& first) {
    std::vector<OperandPlace> at;
    for (const StageOperand& operand : stage.operands) at.push_back(PlaceOf(operand, turn, tile, stage.keys));
    WriteStage(stage, std::move(at), first);
  }

  using Stages = std::vector<Stage>::const_iterator;

  // The stages for blocks of the largest size, as often as there are such blocks in the `left` keys, the last
  // of all; then those for smaller ones, for what that leaves. Or those for all that is left, if anything is.
  // Returns where stages for keys end.
  Stages WriteKeys(Stages begin, Stages end, const Turn& turn, int64_t tile, VarId left_keys) {
    const Stages next =
        std::find_if(begin, end, [&](const Stage& stage) { return stage.keys != begin->keys; });
    const Affine left = IndexOf(left_keys);
    left_keys_ = left_keys;
    builder_.AddLoop({begin->at_once ? Plus(left, begin->keys - 1) : left, begin->keys}, [&](VarId repeat) {
      const Affine key = Plus(IndexOf(keys_), Times(left, -1));
      for (auto stage = begin; stage != next; ++stage)
        WriteTurn(*stage, {turn.item, turn.tile, repeat, key}, tile, std::nullopt);
    });
    if (next == end || next->keys == 0) return next;
    Stages last = next;
    builder_.AddLet({left, begin->keys, true},
                    [&](VarId rest) { last = WriteKeys(next, end, turn, tile, rest); });
    return last;
  }

  // `keys`: those of a repeat; 0: it is of none.
  OperandPlace PlaceOf(const StageOperand& operand, const Turn& turn, int64_t tile, int64_t keys) const {
    Affine offset = Constant(operand.offset);
    const auto add = [&](VarId variable, int64_t stride, VarId times = kNoVar) {
      if (variable != kNoVar && stride != 0) offset = Plus(offset, variable, stride, times);
    };
    if (operand.batch_grows && planned_rows_ != kNoVar)
      add(turn.item, operand.batch_stride / plan_.size(PlanSizeKind::kRows)->planned, planned_rows_);
    else
      add(turn.item, operand.batch_stride);
    add(turn.tile, tile * operand.row_stride);
    add(turn.repeat, operand.repeat_stride);
    if (keys != 0) offset = Plus(offset, Times(turn.key, operand.repeat_stride / keys));
    return {BufferOf(operand.value), offset};
  }

  // Of a constant, ahead of all calls, the caller's; in a call what was made of it.
  int BufferOf(int value) const {
    const std::map<int, int>& buffers = ahead_ && callers_.contains(value) ? callers_ : buffer_of_;
    const auto buffer = buffers.find(value);
    KIRSCH_CHECK(buffer != buffers.end());
    return buffer->second;
  }

  void WriteStage(const Stage& stage, std::vector<OperandPlace> at, const std::optional<Affine>& first) {
    switch (stage.kind) {
      case StageKind::kContraction:
        return WriteContraction(stage, at, first);
      case StageKind::kRows:
        return WriteRows(stage, std::move(at));
      case StageKind::kPack:
        return impls_.WriteCopy(stage.impl, at[0], at[1]);
      case StageKind::kPad:
      case StageKind::kTranspose: {
        CopyShape copy = stage.copy;
        copy.transposes = stage.kind == StageKind::kTranspose;
        return builder_.AddRun(copy, std::move(at));
      }
      case StageKind::kTransform:
        return builder_.AddRun(stage.transform, std::move(at));
    }
  }

  void WriteContraction(const Stage& stage, const std::vector<OperandPlace>& at,
                        const std::optional<Affine>& first) {
    OperandViews views;
    for (size_t i = 0; i < at.size(); ++i)
      views[i] = impls_.ViewAt(stage.impl.spec, static_cast<int>(i), at[i]);
    if (first) return impls_.WriteShared(stage.impl, views, *first);
    if (!stage.impl.range.varies()) return impls_.Write(stage.impl, views);
    const auto dims = VaryingDims(stage.impl);
    for (size_t dim : dims) impls_.SetSize(dim == MatmulDims::kM ? rows_ : left_keys_, dim);
    impls_.Write(stage.impl, views);
    for (size_t dim : dims) impls_.SetSize(kNoVar, dim);
  }

  void WriteRows(const Stage& stage, std::vector<OperandPlace> at) {
    KIRSCH_CHECK(stage.keys_along < 0 || stage.keys <= stage.columns);  // a row kernel has these at most
    const auto inputs = stage.row_strides.begin() + static_cast<std::ptrdiff_t>(stage.program.inputs.size());
    const bool columns_grow = planned_rows_ != kNoVar && stage.columns_grow;
    RowShape rows{stage.program,
                  stage.schedule,
                  stage.columns,
                  {stage.row_strides.begin(), inputs},
                  {inputs, stage.row_strides.end()},
                  columns_grow || (keys_ != kNoVar && stage.keys_along >= 0) ||
                      (planned_rows_ != kNoVar && stage.any_columns),
                  stage.in_place,
                  stage.program.reduces_rows ? SumLevels(stage.rows) : 0};
    const int64_t kept = ScratchElements(stage.schedule, stage.columns) * Bytes(Dtype::kF32);
    if (kept > 0) at.push_back({impls_.TakeOwn(kept, Dtype::kF32), {}});
    const Affine columns = columns_grow       ? Grown(stage.columns)
                           : rows.any_columns ? IndexOf(stage.any_columns ? rows_ : left_keys_)
                                              : Affine{};
    const Count count = planned_rows_ != kNoVar && stage.any_rows ? Count{IndexOf(rows_)} : Whole(stage.rows);
    builder_.AddRun(std::move(rows), std::move(at), count, columns);
    impls_.FreeOwn(kept);
  }

  const Plan& plan_;
  ProgramBuilder builder_;
  ImplWriter impls_;
  // By the values of the graph, and beyond: the caller's; and those the kernel knows, of a constant its copy.
  std::map<int, int> callers_, buffer_of_;
  bool ahead_ = false;                           // is what is written prepacked?
  VarId planned_rows_ = kNoVar, keys_ = kNoVar;  // Plan::sizes
  // How many keys those are that stages take at once; how many rows the tile has that is being written.
  VarId left_keys_ = kNoVar, rows_ = kNoVar;
};

}  // namespace

Program WriteProgram(const Plan& plan, const Target& target) { return PlanWriter(plan, target).Write(); }

}  // namespace kirsch
