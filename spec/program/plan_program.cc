// SPDX-License-Identifier: Apache-2.0
#include "spec/program/plan_program.h"

#include <algorithm>
#include <array>
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

// Says which item of a nest's batch, which tile of its rows and which of their repeats the stages are written
// for. kNoVar means that there is only one.
struct Iteration {
  VarId item = kNoVar, tile = kNoVar, repeat = kNoVar;
  Affine key = {};  // the first key of the block, if their number is a symbol
};

// Writes a plan from the outside in: phases, nests, items, tiles, repeats, stages. ImplWriter writes the
// contractions.
class PlanWriter {
 public:
  PlanWriter(const Plan& plan, const Target& target) : plan_(plan), impls_(target, builder_) {
    variables_.fill(kNoVar);
  }

  Program Write() && {
    // The caller's buffers come first, as the program's users number them.
    AddBuffers();
    Program& program = builder_.program();
    program.symbols = plan_.symbols;
    for (const SymbolRange& range : plan_.symbols) Variable(range.symbol) = program.variables++;
    program.phases = plan_.phases();
    for (size_t i = 0; i < plan_.nests.size(); ++i)
      // A phase has as many tasks as all of its nests together; the program needs the most of any phase.
      program.tasks = std::max(program.tasks, TasksBefore(i) + TasksOf(plan_.nests[i]));
    for (int phase = 0; phase < program.phases; ++phase) WritePhase(phase);
    // The prepack comes last. It has constants' own buffers where the body has their copies (BufferOf).
    builder_.Prepack([&] { WritePrepack(); });
    PlaceBuffers(&program);
    return std::move(builder_).Build();
  }

 private:
  // Parameters, results, and a buffer for each value between. PlaceBuffers finds the memory and the place
  // of values between.
  void AddBuffers() {
    const Graph& graph = plan_.graph;
    const auto add_caller = [&](int value, std::string name, bool stored) {
      const TensorType& type = graph.at(value).type;
      return builder_.AddBuffer({std::move(name), type.dtype, Memory::kCaller, stored,
                                 graph.IsConstant(value), Bytes(type.dtype, type.span()), 0});
    };
    for (int i = 0; i < graph.num_inputs(); ++i) callers_[i] = add_caller(i, graph.at(i).text, false);
    buffer_of_ = callers_;
    for (const GraphResult& result : graph.results)
      buffer_of_[result.value] = add_caller(result.value, result.name, true);
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

  // Writes whatever is made ahead: folded operations, then copies and transforms. A copy has the number of
  // the constant that it replaces, so the stages that read it need not know.
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

  // How many tasks a nest has: none if each thread does all of it for itself.
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

  // The number of a nest's first task. The tasks of a phase are numbered over all its nests.
  int64_t TasksBefore(size_t number) const {
    int64_t tasks = 0;
    for (size_t i = 0; i < number; ++i)
      if (plan_.nests[i].phase == plan_.nests[number].phase) tasks += TasksOf(plan_.nests[i]);
    return tasks;
  }

  // A program of one phase needs no Phase node.
  void WritePhase(int phase) {
    const auto nests = [&] {
      for (size_t i = 0; i < plan_.nests.size(); ++i)
        if (plan_.nests[i].phase == phase) WriteNest(plan_.nests[i], TasksBefore(i));
    };
    plan_.phases() > 1 ? builder_.AddPhase(phase, nests) : nests();
  }

  // Writes a nest: first what comes before all items, then the items, each with its tiles. `task` is the
  // number of the nest's first task.
  void WriteNest(const LoopNest& nest, int64_t task) {
    WriteStages(nest.before, {});
    Repeat(nest.batch, [&](VarId item) {
      // An item is one task, or each of its tiles is.
      const int64_t each = nest.sharing == Sharing::kItems ? 1 : nest.tiles();
      const Affine first = item == kNoVar ? Constant(task) : Plus(Constant(task), item, each);
      WriteTask(nest.sharing == Sharing::kItems, first, [&] {
        WriteStages(nest.once, {item, kNoVar, kNoVar});
        WriteTiles(nest, item, first);
      });
    });
  }

  // The whole tiles, then what is left of the rows.
  void WriteTiles(const LoopNest& nest, VarId item, const Affine& first) {
    const bool shared = nest.sharing == Sharing::kTiles;
    const auto tile_of = [&](const std::vector<Stage>& stages, VarId tile) {
      const std::optional<Affine> own = nest.sharing == Sharing::kStage ? std::optional(first) : std::nullopt;
      WriteTask(shared, tile == kNoVar ? first : Plus(first, tile, 1),
                [&] { WriteStages(stages, {item, tile, kNoVar}, nest.tile, own); });
    };
    if (!nest.rows.IsConstant()) return WriteSymbolicRows(nest, tile_of);
    if (nest.rest.empty()) return Repeat(nest.trips(), [&](VarId tile) { tile_of(nest.stages, tile); });
    builder_.AddLoop(
        {Constant(nest.rows), nest.tile, false}, [&](VarId tile) { tile_of(nest.stages, tile); },
        [&](VarId tile) { tile_of(nest.rest, tile); });
  }

  // Of rows with a symbol: writes whole tiles and what is left of them, or, if one tile is all rows, that
  // tile.
  template <typename WriteTile>
  void WriteSymbolicRows(const LoopNest& nest, const WriteTile& write_tile) {
    const Affine rows = ValueOf(nest.rows);
    const auto write = [&](const Count& count, const std::vector<Stage>& stages, VarId tile) {
      builder_.AddLet(count, [&](VarId tile_rows) {
        Variable(SizeSymbol::kTileRows) = tile_rows;
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

  VarId& Variable(SizeSymbol symbol) { return variables_[static_cast<size_t>(symbol)]; }

  // A plan may be for any keys without being told how many there are: it is then for the most.
  Affine ValueOf(const Size& size) {
    const VarId variable = Variable(size.symbol());
    if (variable == kNoVar) return Constant(size);
    return Plus(Times(IndexOf(variable), size.factor()), size.plus());
  }

  // A single iteration needs no loop, and so no variable.
  void Repeat(const Size& count, const std::function<void(VarId)>& body) {
    if (count == 1) return body(kNoVar);
    builder_.AddLoop({ValueOf(count)}, body);
  }

  void WriteTask(bool shared, const Affine& task, const std::function<void()>& body) {
    if (!shared || !builder_.program().SharesWork()) return body();
    builder_.AddTask(task, body);
  }

  // Writes stages in order; those of one loop take turns (Stage::loop). `first` is the number of the first of
  // a stage's own tasks, if threads share these.
  void WriteStages(const std::vector<Stage>& stages, const Iteration& iteration, int64_t tile = 0,
                   const std::optional<Affine>& first = std::nullopt) {
    for (auto begin = stages.begin(); begin != stages.end();) {
      // Stages for blocks of keys come together, and are handled together.
      if (const VarId keys = Variable(SizeSymbol::kKeys); begin->keys != 0 && keys != kNoVar) {
        begin = WriteKeys(begin, stages.end(), iteration, tile, keys);
        continue;
      }
      const auto end = std::find_if(begin + 1, stages.end(), [&](const Stage& stage) {
        return begin->loop == 0 || stage.loop != begin->loop;
      });
      Repeat(begin->repeats, [&](VarId repeat) {
        for (auto stage = begin; stage != end; ++stage)
          WriteIteration(*stage, {iteration.item, iteration.tile, repeat}, tile, first);
      });
      begin = end;
    }
  }

  // Writes a stage for one iteration: finds its operands' places, then writes the kernel.
  void WriteIteration(const Stage& stage, const Iteration& iteration, int64_t tile,
                      const std::optional<Affine>& first) {
    std::vector<OperandPlace> at;
    for (const StageOperand& operand : stage.operands)
      at.push_back(PlaceOf(operand, iteration, tile, stage.keys));
    WriteStage(stage, std::move(at), first);
  }

  using Stages = std::vector<Stage>::const_iterator;

  // Writes the stages for blocks of the largest size as often as there are such blocks in the `left` keys,
  // which are the last of all keys. It then calls itself for what is left, with the next stages, which are
  // for smaller blocks or for everything that is left. Returns where stages for keys end.
  Stages WriteKeys(Stages begin, Stages end, const Iteration& iteration, int64_t tile, VarId left_keys) {
    const Stages next =
        std::find_if(begin, end, [&](const Stage& stage) { return stage.keys != begin->keys; });
    const Affine left = IndexOf(left_keys);
    Variable(SizeSymbol::kKeysLeft) = left_keys;
    // For all that are left at once, rounding up makes one run if there are any, and none otherwise.
    const Affine rounded = begin->keys.IsConstant() ? left : Plus(left, begin->keys - 1);
    builder_.AddLoop({rounded, begin->keys}, [&](VarId repeat) {
      // These blocks begin behind the keys that larger blocks have taken.
      const Affine key = Plus(IndexOf(Variable(SizeSymbol::kKeys)), Times(left, -1));
      for (auto stage = begin; stage != next; ++stage)
        WriteIteration(*stage, {iteration.item, iteration.tile, repeat, key}, tile, std::nullopt);
    });
    if (next == end || next->keys == 0) return next;
    Stages last = next;
    builder_.AddLet({left, begin->keys, true},
                    [&](VarId rest) { last = WriteKeys(next, end, iteration, tile, rest); });
    return last;
  }

  // The place of an operand for an iteration. `keys`: the number of keys in a repeat; 0: the stage is for no
  // keys in particular.
  OperandPlace PlaceOf(const StageOperand& operand, const Iteration& iteration, int64_t tile, int64_t keys) {
    Affine offset = Constant(operand.offset);
    const auto add = [&](VarId variable, const Size& stride) {
      const VarId times = Variable(stride.symbol());
      if (variable == kNoVar || stride == 0) return;
      offset = Plus(offset, variable, times == kNoVar ? stride.most() : stride.factor(), times);
    };
    add(iteration.item, operand.batch_stride);
    add(iteration.tile, tile * operand.row_stride);
    add(iteration.repeat, operand.repeat_stride);
    if (keys != 0) offset = Plus(offset, Times(iteration.key, operand.repeat_stride / keys));
    return {BufferOf(operand.value), offset};
  }

  // The buffer of a value. Ahead of all calls a constant is the caller's; in a call it is the copy that was
  // made of it.
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

  // Views say how each operand lies; the tree's sizes that vary are set while it is written.
  void WriteContraction(const Stage& stage, const std::vector<OperandPlace>& at,
                        const std::optional<Affine>& first) {
    OperandViews views;
    for (size_t i = 0; i < at.size(); ++i)
      views[i] = impls_.ViewAt(stage.impl.spec, static_cast<int>(i), at[i]);
    if (first) return impls_.WriteShared(stage.impl, views, *first);
    if (!stage.impl.range.varies()) return impls_.Write(stage.impl, views);
    const auto dims = SymbolicDims(stage.impl);
    for (size_t dim : dims) impls_.SetSize(Variable(stage.symbols[dim]), dim);
    impls_.Write(stage.impl, views);
    for (size_t dim : dims) impls_.SetSize(kNoVar, dim);
  }

  // A row program is one kernel run over all rows of the tile.
  void WriteRows(const Stage& stage, std::vector<OperandPlace> at) {
    const Affine columns = ValueOf(stage.columns);
    // The kernel's own symbol stands for the plan's.
    const auto in_kernel = [&](const Size& size) {
      return columns.IsConstant() || size.IsConstant() ? Size(size.most()) : Size(SizeSymbol::kLast, size);
    };
    std::vector<Size> strides;
    for (const Size& stride : stage.row_strides) strides.push_back(in_kernel(stride));
    const auto inputs = strides.begin() + static_cast<std::ptrdiff_t>(stage.program.inputs.size());
    RowShape rows{stage.program,
                  stage.schedule,
                  in_kernel(stage.columns),
                  {strides.begin(), inputs},
                  {inputs, strides.end()},
                  stage.in_place,
                  stage.program.reduces_rows ? SumLevels(stage.rows) : 0};
    // A row of scratch memory, if the schedule keeps values there.
    const Dtype real = RealOf(stage.program);
    const int64_t kept = ScratchElements(stage.schedule, stage.columns) * Bytes(real);
    if (kept > 0) at.push_back({impls_.TakeOwn(kept, real), {}});
    builder_.AddRun(std::move(rows), std::move(at), {ValueOf(stage.rows)},
                    columns.IsConstant() ? Affine{} : columns);
    impls_.FreeOwn(kept);
  }

  const Plan& plan_;
  ProgramBuilder builder_;
  ImplWriter impls_;
  // By the values of the graph, and beyond: the caller's; and those the kernel knows, of a constant its copy.
  std::map<int, int> callers_, buffer_of_;
  bool ahead_ = false;                         // is what is written prepacked?
  std::array<VarId, kSizeSymbols> variables_;  // of each symbol
};

}  // namespace

Program WriteProgram(const Plan& plan, const Target& target) { return PlanWriter(plan, target).Write(); }

}  // namespace kirsch
