#include "codegen/lower_plan.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "codegen/copies.h"
#include "codegen/impl_lowering.h"
#include "codegen/row_kernel.h"
#include "codegen/transforms.h"
#include "spec/check.h"
#include "spec/row_passes.h"

namespace kirsch {
namespace {

constexpr char kResult[] = "out", kScratch[] = "scratch", kShared[] = "shared";

// Which item of a group's batch, which tile of its rows and which of their repeats the stages are for.
struct Place {
  std::optional<VarId> item, tile, repeat;
  int64_t first_row = 0;  // the tile's, if it is not one of many
};

class PlanLowering {
 public:
  PlanLowering(const Plan& plan, const Target& target, const std::string& name)
      : plan_(plan), target_(target), entry_(name) {
    program_.name = name;
    impls_ = ImplLowering::Make(target, program_, entry_);
  }

  LoopProgram Run() && {
    const Graph& graph = plan_.graph;
    for (int i = 0; i < graph.num_inputs(); ++i)
      AddTensor(FreeName(graph.at(i).text, i), graph.at(i).type.dtype, false);
    AddTensor(FreeName(kResult), graph.at(graph.result).type.dtype, true);
    entry_.PointerParameter(kScratch, Dtype::kF32, true);
    entry_.IndexParameter(kThread);
    entry_.IndexParameter(kThreads);
    program_.phases = plan_.phases();
    if (program_.phases > 1) {
      program_.shared_bytes = plan_.shared_bytes;
      entry_.PointerParameter(kShared, Dtype::kF32, true);
      entry_.IndexParameter(kPhase);
    }
    impls_->UseScratch(plan_.buffer_bytes);
    for (size_t i = 0; i < plan_.groups.size(); ++i)
      program_.tasks = std::max(program_.tasks, TasksBefore(i) + TasksOf(plan_.groups[i]));
    for (int phase = 0; phase < program_.phases; ++phase) LowerPhase(phase);
    program_.procedures.insert(program_.procedures.begin(), std::move(entry_).Build());
    return std::move(program_);
  }

 private:
  void AddTensor(const std::string& name, Dtype dtype, bool stored) {
    program_.tensors.push_back({name, dtype, stored});
    entry_.PointerParameter(name, dtype, stored);
  }

  // `name`, unless another parameter is called so, or one of the entry's own; `input`: its number, if it is
  // one.
  std::string FreeName(std::string name, int input = -1) const {
    constexpr std::array<std::string_view, 7> kOwn = {kThread, kThreads,         kPhase,         kScratch,
                                                      kShared, "scratch_memory", "shared_memory"};
    const auto taken = [&] {
      bool same = std::find(kOwn.begin(), kOwn.end(), name) != kOwn.end();
      for (int i = 0; i < plan_.graph.num_inputs(); ++i) same |= i != input && plan_.graph.at(i).text == name;
      return same;
    };
    while (taken()) name += "_";
    return name;
  }

  static int64_t TasksOf(const Group& group) {
    switch (group.sharing) {
      case Sharing::kNone:
        return 0;
      case Sharing::kItems:
        return group.batch;
      case Sharing::kTiles:
        return group.batch * group.tiles();
      case Sharing::kStage:
        return TaskCount(group.stages.front().impl);
    }
    KIRSCH_CHECK(false && "no such sharing");
  }

  // The number of a group's first task: those of a phase are numbered one after the other.
  int64_t TasksBefore(size_t number) const {
    int64_t tasks = 0;
    for (size_t i = 0; i < number; ++i)
      if (plan_.groups[i].phase == plan_.groups[number].phase) tasks += TasksOf(plan_.groups[i]);
    return tasks;
  }

  void LowerPhase(int phase) {
    const auto groups = [&] {
      for (size_t i = 0; i < plan_.groups.size(); ++i)
        if (plan_.groups[i].phase == phase) LowerGroup(plan_.groups[i], TasksBefore(i));
    };
    program_.phases > 1 ? entry_.InPhaseOf(phase, groups) : groups();
  }

  // `task`: the number of its first task.
  void LowerGroup(const Group& group, int64_t task) {
    Stages(group.before, {});
    Repeat(group.batch, [&](std::optional<VarId> item) {
      const int64_t each = group.sharing == Sharing::kItems ? 1 : group.tiles();
      const Affine first = item ? Plus(Constant(task), *item, each) : Constant(task);
      Task(group.sharing == Sharing::kItems, first, [&] {
        Stages(group.once, {item, {}, {}, 0});
        Tiles(group, item, first);
      });
    });
  }

  void Tiles(const Group& group, std::optional<VarId> item, const Affine& first) {
    const bool shared = group.sharing == Sharing::kTiles;
    const std::optional<Affine> own = group.sharing == Sharing::kStage ? std::optional(first) : std::nullopt;
    Repeat(group.trips(), [&](std::optional<VarId> tile) {
      Task(shared, tile ? Plus(first, *tile, 1) : first, [&] {
        Stages(group.stages, {item, tile, {}, 0}, group.tile, own);
      });
    });
    if (group.rest.empty()) return;
    Task(shared, Plus(first, group.trips()), [&] {
      Stages(group.rest, {item, {}, {}, group.trips() * group.tile}, group.tile);
    });
  }

  template <typename Body>
  void Repeat(int64_t count, const Body& body) {
    if (count == 1) return body(std::optional<VarId>());
    entry_.Loop(Constant(count), [&](VarId index) { body(std::optional<VarId>(index)); });
  }

  template <typename Body>
  void Task(bool shared, const Affine& task, const Body& body) {
    if (!shared || !program_.SharesWork()) return body();
    entry_.OnThreadOf(task, body);
  }

  // `first`: the number of the first of the stage's own tasks, if threads share these.
  void Stages(const std::vector<Stage>& stages, const Place& place, int64_t tile = 0,
              const std::optional<Affine>& first = std::nullopt) {
    for (auto begin = stages.begin(); begin != stages.end();) {
      const auto end = std::find_if(begin + 1, stages.end(), [&](const Stage& stage) {
        return begin->loop == 0 || stage.loop != begin->loop;
      });
      Repeat(begin->repeats, [&](std::optional<VarId> repeat) {
        Place own = place;
        own.repeat = repeat;
        for (auto stage = begin; stage != end; ++stage) {
          std::vector<Address> at;
          for (const StageOperand& operand : stage->operands) at.push_back(AddressOf(operand, own, tile));
          LowerStage(*stage, at, first);
        }
      });
      begin = end;
    }
  }

  Address AddressOf(const StageOperand& operand, const Place& place, int64_t tile) const {
    const auto [pointer, base] = MemoryOf(operand.value);
    Affine offset = Constant(base + operand.offset + place.first_row * operand.row_stride);
    if (place.item && operand.batch_stride != 0) offset = Plus(offset, *place.item, operand.batch_stride);
    if (place.tile && operand.row_stride != 0) offset = Plus(offset, *place.tile, tile * operand.row_stride);
    if (place.repeat && operand.repeat_stride != 0)
      offset = Plus(offset, *place.repeat, operand.repeat_stride);
    return {pointer, offset};
  }

  // The pointer, and the value's place behind it in elements of the value's own type: to a callee, that is
  // what offsets count.
  std::pair<VarId, int64_t> MemoryOf(int value) const {
    const Graph& graph = plan_.graph;
    if (value < graph.num_inputs()) return {value, 0};
    if (value == graph.result) return {graph.num_inputs(), 0};
    const auto buffer = std::find_if(plan_.buffers.begin(), plan_.buffers.end(),
                                     [&](const Buffer& known) { return known.value == value; });
    KIRSCH_CHECK(buffer != plan_.buffers.end());
    return {buffer->shared ? program_.shared() : program_.scratch(), buffer->offset / buffer->element_bytes};
  }

  void LowerStage(const Stage& stage, const std::vector<Address>& at, const std::optional<Affine>& first) {
    switch (stage.kind) {
      case StageKind::kContraction:
        return LowerContraction(stage, at, first);
      case StageKind::kPack:
        return impls_->LowerCopy(stage.impl, at[0], at[1]);
      case StageKind::kRows:
        return LowerRows(stage, at);
      case StageKind::kPad:
      case StageKind::kTranspose: {
        const CopyKernel copy{stage.copy, stage.kind == StageKind::kTranspose, target_.vectors.front().bytes};
        return entry_.Do(
            Call{impls_->ProcedureFor(copy.Name(), [&] { return CopyProcedure(copy); }), at, {}});
      }
      case StageKind::kTransform:
        return entry_.Do(
            Call{impls_->ProcedureFor(
                     stage.transform.Name(),
                     [&] { return TransformProcedure(stage.transform, target_.vectors.front().bytes); }),
                 at,
                 {}});
    }
    KIRSCH_CHECK(false && "no such stage");
  }

  void LowerContraction(const Stage& stage, const std::vector<Address>& at,
                        const std::optional<Affine>& first) {
    Views views;
    for (size_t i = 0; i < at.size(); ++i)
      views[i] = impls_->ViewAt(stage.impl.spec, static_cast<int>(i), at[i]);
    if (first) return impls_->LowerSharedProgram(stage.impl, views, *first);
    impls_->LowerProgram(stage.impl, views);
  }

  void LowerRows(const Stage& stage, std::vector<Address> at) {
    RowKernel kernel;
    kernel.program = stage.program;
    kernel.schedule = stage.schedule;
    kernel.columns = stage.columns;
    const auto inputs = static_cast<std::ptrdiff_t>(stage.program.inputs.size());
    kernel.input_row_strides.assign(stage.row_strides.begin(), stage.row_strides.begin() + inputs);
    kernel.result_row_strides.assign(stage.row_strides.begin() + inputs, stage.row_strides.end());
    kernel.in_place = stage.in_place;
    kernel.scales = program_.masks;
    for (const std::string& feature : RowFeatures(kernel)) impls_->AddFeature(feature);
    if (kernel.TakesScratch()) {
      // Behind the buffers.
      at.push_back(At(program_.scratch(), plan_.buffer_bytes / Bytes(Dtype::kF32)));
      impls_->UseScratch(plan_.buffer_bytes +
                         ScratchElements(stage.schedule, stage.columns) * Bytes(Dtype::kF32));
      impls_->UseScratch(plan_.buffer_bytes);
    }
    const int procedure = impls_->ProcedureFor(kernel.Name(), [&] { return RowProcedure(kernel); });
    entry_.Do(Call{procedure, std::move(at), {stage.rows}});
  }

  const Plan& plan_;
  const Target& target_;
  LoopProgram program_;
  ProcedureBuilder entry_;
  std::unique_ptr<ImplLowering> impls_;
};

}  // namespace

LoopProgram LowerPlan(const Plan& plan, const Target& target, const std::string& name) {
  return PlanLowering(plan, target, name).Run();
}

}  // namespace kirsch
