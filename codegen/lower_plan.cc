#include "codegen/lower_plan.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
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
constexpr char kConstants[] = "constants";  // what the kernel calls the memory that `packed` is

// Which item of a group's batch, and which tile of its rows, the stages are for.
struct Place {
  std::optional<VarId> item, tile;
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
    AddTensors();
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
    if (graph.HasConstants()) LowerAhead();
    program_.procedures.insert(program_.procedures.begin(), std::move(entry_).Build());
    return std::move(program_);
  }

 private:
  // The parameters that are no constants, what is packed of those, and the result.
  void AddTensors() {
    const Graph& graph = plan_.graph;
    for (int i = 0; i < graph.num_inputs(); ++i)
      if (!graph.IsConstant(i))
        parameter_of_[i] = AddTensor(FreeName(graph.at(i).text, i), graph.at(i).type.dtype, false);
    if (graph.HasConstants()) {
      program_.tensors.push_back({kPacked, Dtype::kF32, false});
      packed_ = entry_.PointerParameter(FreeName(kConstants), Dtype::kF32, false);
    }
    parameter_of_[graph.result] = AddTensor(FreeName(kResult), graph.at(graph.result).type.dtype, true);
  }

  VarId AddTensor(const std::string& name, Dtype dtype, bool stored) {
    program_.tensors.push_back({name, dtype, stored});
    return entry_.PointerParameter(name, dtype, stored);
  }

  // The entry that packs the constants.
  void LowerAhead() {
    const Graph& graph = plan_.graph;
    ProcedureBuilder entry(PackName(program_));
    Packing packing{packed_, Dtype::kF32, plan_.packed_bytes, 0, {}};
    std::map<int, VarId> parameter_of;
    for (int i = 0; i < graph.num_inputs(); ++i) {
      if (!graph.IsConstant(i)) continue;
      packing.constants.push_back({FreeName(graph.at(i).text, i), graph.at(i).type.dtype, false});
      parameter_of[i] = entry.PointerParameter(packing.constants.back().name, graph.at(i).type.dtype, false);
    }
    const VarId to = entry.PointerParameter(FreeName(kConstants), Dtype::kF32, true);
    const std::unique_ptr<ImplLowering> impls = ImplLowering::Make(target_, program_, entry);
    for (const Stage& stage : plan_.ahead) {
      const StageOperand& constant = stage.operands[0];
      const Address from = At(parameter_of.at(constant.value), constant.offset);
      LowerCopy(stage, {from, At(to, PlaceOf(BufferOf(stage.operands[1].value)))}, *impls, entry);
    }
    program_.procedures.push_back(std::move(entry).Build());
    packing.procedure = static_cast<int>(program_.procedures.size());  // behind the kernel's entry
    program_.packing = std::move(packing);
  }

  // `name`, unless another parameter is called so, or one of the entry's own; `input`: its number, if it is
  // one.
  std::string FreeName(std::string name, int input = -1) const {
    constexpr std::array<std::string_view, 8> kOwn = {kThread, kThreads, kPhase,           kScratch,
                                                      kShared, kPacked,  "scratch_memory", "shared_memory"};
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
        Stages(group.once, {item, {}, 0});
        Tiles(group, item, first);
      });
    });
  }

  void Tiles(const Group& group, std::optional<VarId> item, const Affine& first) {
    const bool shared = group.sharing == Sharing::kTiles;
    const std::optional<Affine> own = group.sharing == Sharing::kStage ? std::optional(first) : std::nullopt;
    Repeat(group.trips(), [&](std::optional<VarId> tile) {
      Task(shared, tile ? Plus(first, *tile, 1) : first, [&] {
        Stages(group.stages, {item, tile, 0}, group.tile, own);
      });
    });
    if (group.rest.empty()) return;
    Task(shared, Plus(first, group.trips()), [&] {
      Stages(group.rest, {item, {}, group.trips() * group.tile}, group.tile);
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
    for (const Stage& stage : stages) {
      std::vector<Address> at;
      for (const StageOperand& operand : stage.operands) at.push_back(AddressOf(operand, place, tile));
      LowerStage(stage, at, first);
    }
  }

  Address AddressOf(const StageOperand& operand, const Place& place, int64_t tile) const {
    const auto [pointer, base] = MemoryOf(operand.value);
    Affine offset = Constant(base + operand.offset + place.first_row * operand.row_stride);
    if (place.item && operand.batch_stride != 0) offset = Plus(offset, *place.item, operand.batch_stride);
    if (place.tile && operand.row_stride != 0) offset = Plus(offset, *place.tile, tile * operand.row_stride);
    return {pointer, offset};
  }

  // The pointer, and the value's place behind it in elements of the value's own type: to a callee, that is
  // what offsets count.
  std::pair<VarId, int64_t> MemoryOf(int value) const {
    const auto parameter = parameter_of_.find(value);
    if (parameter != parameter_of_.end()) return {parameter->second, 0};
    const Buffer& buffer = BufferOf(value);
    const VarId memory = buffer.memory == Memory::kOwn      ? program_.scratch()
                         : buffer.memory == Memory::kShared ? program_.shared()
                                                            : packed_;
    return {memory, PlaceOf(buffer)};
  }

  const Buffer& BufferOf(int value) const {
    const auto buffer = std::find_if(plan_.buffers.begin(), plan_.buffers.end(),
                                     [&](const Buffer& known) { return known.value == value; });
    KIRSCH_CHECK(buffer != plan_.buffers.end());
    return *buffer;
  }

  static int64_t PlaceOf(const Buffer& buffer) { return buffer.offset / buffer.element_bytes; }

  void LowerStage(const Stage& stage, const std::vector<Address>& at, const std::optional<Affine>& first) {
    switch (stage.kind) {
      case StageKind::kContraction:
        return LowerContraction(stage, at, first);
      case StageKind::kRows:
        return LowerRows(stage, at);
      default:
        return LowerCopy(stage, at, *impls_, entry_);
    }
  }

  // Of what an operand holds, in another form: into `entry`, the one that `impls` writes.
  void LowerCopy(const Stage& stage, const std::vector<Address>& at, ImplLowering& impls,
                 ProcedureBuilder& entry) const {
    const auto call = [&](const std::string& name, const std::function<Procedure()>& make) {
      entry.Do(Call{impls.ProcedureFor(name, make), at, {}});
    };
    const int vector_bytes = target_.vectors.front().bytes;
    switch (stage.kind) {
      case StageKind::kPack:
        return impls.LowerCopy(stage.impl, at[0], at[1]);
      case StageKind::kPad:
      case StageKind::kTranspose: {
        const CopyKernel copy{stage.copy, stage.kind == StageKind::kTranspose, vector_bytes};
        return call(copy.Name(), [&] { return CopyProcedure(copy); });
      }
      case StageKind::kTransform:
        return call(stage.transform.Name(),
                    [&] { return TransformProcedure(stage.transform, vector_bytes); });
      default:
        KIRSCH_CHECK(false && "no copy");
    }
  }

  void LowerContraction(const Stage& stage, const std::vector<Address>& at,
                        const std::optional<Affine>& first) {
    Repeat(stage.repeats, [&](std::optional<VarId> repeat) {
      Views views;
      for (size_t i = 0; i < at.size(); ++i) {
        const int64_t stride = stage.operands[i].repeat_stride;
        const Address start = {at[i].pointer,
                               repeat && stride != 0 ? Plus(at[i].offset, *repeat, stride) : at[i].offset};
        views[i] = impls_->ViewAt(stage.impl.spec, static_cast<int>(i), start);
      }
      if (first) return impls_->LowerSharedProgram(stage.impl, views, *first);
      impls_->LowerProgram(stage.impl, views);
    });
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
  std::map<int, VarId> parameter_of_;  // the entry's for a value
  VarId packed_ = kNoVar;
  std::unique_ptr<ImplLowering> impls_;
};

}  // namespace

LoopProgram LowerPlan(const Plan& plan, const Target& target, const std::string& name) {
  return PlanLowering(plan, target, name).Run();
}

}  // namespace kirsch
