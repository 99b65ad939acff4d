// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "codegen/kernels/block_decoder.h"
#include "codegen/kernels/copies.h"
#include "codegen/kernels/microkernels.h"
#include "codegen/kernels/pack.h"
#include "codegen/kernels/row_kernel.h"
#include "codegen/kernels/transforms.h"
#include "codegen/loop/choices.h"
#include "codegen/loop/procedure_builder.h"
#include "codegen/loop/tile_configuration.h"
#include "spec/check.h"

namespace kirsch {
namespace {

constexpr char kScratch[] = "scratch", kShared[] = "shared";
constexpr char kConstants[] = "constants";  // what the kernel calls the memory that `packed` is

// A name for the caller's buffer `number` (or for what is none: -1) that no other buffer has, nor the entry's
// own parameters.
std::string FreeName(const Program& program, std::string name, int number) {
  constexpr std::array<std::string_view, 8> kOwn = {kThread, kThreads, kPhase,           kScratch,
                                                    kShared, kPacked,  "scratch_memory", "shared_memory"};
  const auto taken = [&] {
    bool same = std::find(kOwn.begin(), kOwn.end(), name) != kOwn.end();
    for (int i = 0; i < static_cast<int>(program.buffers.size()); ++i) {
      const Program::Buffer& other = program.buffers[static_cast<size_t>(i)];
      same |= i != number && other.memory == Memory::kCaller && !other.stored && other.name == name;
    }
    return same;
  };
  while (taken()) name += "_";
  return name;
}

// The procedures that kernels are, each once, and the features of the CPU that they need.
class Kernels {
 public:
  Kernels(const Target& target, const Program& source, LoopProgram& program)
      : target_(target), source_(source), program_(program) {
    program_.masks = std::any_of(target.vectors.begin(), target.vectors.end(),
                                 [](const VectorUnit& unit) { return unit.masks; });
    AddFeatures(std::array{"avx2", "fma"});
    if (program_.masks) AddFeatures(std::array{"avx512f", "avx512vl"});
  }

  // What KernelRun says, in the entry; `size` is the run-time size.
  struct Run {
    std::vector<Address> at;
    Affine count;
    VarId size;
    Affine last, adds;
  };

  // The call of a kernel, in the entry, which gets what follows from a count that is known at run time.
  Call MakeCall(const KernelShape& kernel, const Run& run, ProcedureBuilder& entry) {
    Call call = std::visit([&](const auto& shape) { return MakeCall(shape, run, entry); }, kernel);
    if (TakesSize(kernel)) call.counts.push_back(IndexOf(run.size));
    if (TakesLast(kernel)) call.counts.push_back(run.last);
    return call;
  }

  // From here on no procedure made so far is called again.
  void Forget() { procedure_numbers_.clear(); }

 private:
  template <typename Features>
  void AddFeatures(const Features& features) {
    for (std::string_view feature : features)
      if (!program_.HasFeature(feature)) program_.features.emplace_back(feature);
  }

  // What elements that are no accumulators take: floats by way of f16 its conversion, and mask registers
  // those for narrow lanes.
  void AddElementFeatures(const KernelShape& kernel) {
    for (const Dtype dtype : OperandTypes(kernel)) {
      if (WidensByF16(dtype) || IsOfBlocks(dtype)) AddFeatures(std::array{"f16c"});
      const bool wide = !IsOfBlocks(dtype) && Bytes(dtype) >= kWordBytes;
      if (!wide && program_.masks && target_.HasFeature("avx512bw")) AddFeatures(std::array{"avx512bw"});
    }
  }

  void AddInstructionFeatures(const RegisterTile& tile, const VectorUnit& unit) {
    if (tile.form == LayoutKind::kTiles)
      return AddFeatures(std::array{kTileFeature, tile.instruction().tiles.feature});
    const Encoding* const encoding = EncodingOf(tile.arithmetic, unit, target_);
    KIRSCH_CHECK(encoding != nullptr);
    AddFeatures(encoding->features);
  }

  template <typename Kernel, typename Make>
  int NumberOf(const Kernel& kernel, const Make& make) {
    const auto [it, inserted] =
        procedure_numbers_.try_emplace(kernel.Name(), static_cast<int>(program_.procedures.size()) + 1);
    if (inserted) program_.procedures.push_back(make(kernel));
    return it->second;
  }

  Call MakeCall(const TileShape& shape, const Run& run, ProcedureBuilder& entry) {
    AddElementFeatures(shape);
    KIRSCH_CHECK(!shape.runtime_beta || !shape.tile.one_chain);
    Microkernel kernel{shape};
    kernel.runtime_beta |= HasRuntimeBeta(shape);
    kernel.accumulate |= kernel.runtime_beta;
    kernel.scales = program_.masks;
    const VectorUnit& unit = UnitOf(target_, kernel.tile);
    FitToRegisters(unit, &kernel);
    AddInstructionFeatures(kernel.tile, unit);
    if (shape.tile.by_tables) AddFeatures(std::array{"avx512vbmi"});
    std::vector<Affine> counts = CountsOf(kernel, run.count, entry);
    if (shape.runtime_beta)
      counts.push_back(run.adds);
    else if (kernel.runtime_beta)
      counts.push_back(Constant(shape.accumulate ? 1 : 0));
    return {NumberOf(kernel, MicrokernelProcedure), run.at, std::move(counts)};
  }

  // Of the loops, and what is left.
  static std::vector<Affine> CountsOf(const Microkernel& kernel, const Affine& k, ProcedureBuilder& entry) {
    const int64_t step = kernel.step();
    std::vector<Affine> counts;
    if (k.IsConstant()) {
      for (int64_t count : kernel.Counts(k.constant)) counts.push_back(Constant(count));
      if (kernel.runtime_k_tail) counts.push_back(Constant(k.constant % step));
      return counts;
    }
    KIRSCH_CHECK(kernel.runtime_k_tail || step == 1);
    const Affine steps = Quotient(k, step, entry);
    counts = {Quotient(steps, kernel.at_once(), entry)};
    if (kernel.has_rest()) counts.push_back(IndexOf(entry.Quotient(steps, kernel.at_once(), true)));
    if (kernel.runtime_k_tail) counts.push_back(IndexOf(entry.Quotient(k, step, true)));
    return counts;
  }
  static Affine Quotient(const Affine& of, int64_t by, ProcedureBuilder& entry) {
    return by == 1 ? of : IndexOf(entry.Quotient(of, by, false));
  }

  // Programs for many sizes have many register tiles, each of them the most code that there is: what differs
  // in whether it adds to the output is one. (Single chains begin with the old output, lanewise ones have no
  // parameter that says it.)
  bool HasRuntimeBeta(const TileShape& shape) const {
    if (source_.sizes.empty() || shape.runtime_beta || shape.tile.form == LayoutKind::kLanewise ||
        shape.tile.one_chain)
      return false;
    TileShape other = shape;
    other.accumulate = !shape.accumulate;
    const auto& kernels = source_.kernels;
    return std::find(kernels.begin(), kernels.end(), KernelShape(other)) != kernels.end();
  }

  Call MakeCall(const PackShape& shape, const Run& run, ProcedureBuilder&) {
    AddElementFeatures(shape);
    const Pack pack{shape, vector_bytes(), LanesMayVary(shape.from.dtype, target_)};
    Call call{NumberOf(pack, PackProcedure), run.at, {}};
    if (shape.runtime_extent != PackAxis::kNone) call.counts.push_back(run.count);
    return call;
  }
  Call MakeCall(const CopyShape& shape, const Run& run, ProcedureBuilder&) {
    return {NumberOf(CopyKernel{shape, vector_bytes()}, CopyProcedure), run.at, {}};
  }
  Call MakeCall(const RowShape& shape, const Run& run, ProcedureBuilder&) {
    const RowKernel kernel{shape, program_.masks};
    AddFeatures(RowFeatures(kernel));
    return {NumberOf(kernel, RowProcedure), run.at, {run.count}};
  }
  Call MakeCall(const TransformShape& shape, const Run& run, ProcedureBuilder&) {
    const auto make = [&](const TransformShape& transform) {
      return TransformProcedure(transform, vector_bytes());
    };
    return {NumberOf(shape, make), run.at, {}};
  }

  int vector_bytes() const { return target_.vectors.front().bytes; }

  const Target& target_;
  const Program& source_;
  LoopProgram& program_;  // without the entry while that is being built
  std::map<std::string, int> procedure_numbers_;
};

// Writes the nodes of a program as statements of one entry.
class EntryWriter {
 public:
  EntryWriter(const Program& program, const LoopProgram& loops, Kernels& kernels, ProcedureBuilder& entry,
              std::map<Memory, VarId> memory, std::map<int, VarId> parameters)
      : program_(program),
        shares_work_(loops.SharesWork()),
        kernels_(kernels),
        entry_(entry),
        memory_(std::move(memory)),
        parameters_(std::move(parameters)),
        bound_(static_cast<size_t>(program.variables)) {
    for (size_t size = 0; size < loops.sizes.size(); ++size)
      bound_[static_cast<size_t>(program.sizes[size].variable)] = {loops.run_time_size(size), 0};
  }

  void Write(const Body& body) {
    for (const Node& node : body) std::visit([&](const auto& shape) { Write(shape); }, node.shape);
  }

 private:
  // What a variable of the program is in the entry: index (if it is one) + constant.
  struct Bound {
    VarId index = kNoVar;
    int64_t constant = 0;
  };
  // What a loop leaves, by the entry's indices, and the index that it is.
  struct Left {
    Count value;
    VarId index = kNoVar;
  };

  void Write(const Loop& loop) {
    if (!loop.trips.IsConstant()) return WriteVarying(loop);
    const int64_t trips = Constants(loop.trips);
    Bound& variable = bound_[static_cast<size_t>(loop.variable)];
    if (const Task* const block = BlockOf(loop); block != nullptr && trips > 1)
      return entry_.WantedBlocks(trips, [&](VarId number) {
        variable = {number, 0};
        Write(block->body);
      });
    const int64_t first = loop.first.empty() ? 0 : 1;
    if (first == 1 && trips > 0) {
      variable = {kNoVar, 0};
      Write(loop.first);
    }
    if (trips - first == 1) {
      variable = {kNoVar, first};
      Write(loop.body);
    } else if (trips - first > 1) {
      entry_.Loop(Constant(trips - first), [&](VarId index) {
        variable = {index, first};
        Write(loop.body);
      });
    }
    variable = {kNoVar, trips};
    if (loop.trips.of.constant % loop.trips.by != 0) Write(loop.rest);
  }

  // What is done for each trip, if the loop goes over all of the first blocks; else null.
  const Task* BlockOf(const Loop& loop) const {
    if (program_.block == 0 || !loop.first.empty() || !loop.rest.empty() || loop.body.size() != 1)
      return nullptr;
    const Task* const task = std::get_if<Task>(&loop.body.front().shape);
    return task != nullptr && task->task == IndexOf(loop.variable) ? task : nullptr;
  }

  // Of a number of trips that is known when the program runs.
  void WriteVarying(const Loop& loop) {
    KIRSCH_CHECK(loop.first.empty());
    const Affine of = InEntry(loop.trips.of);
    Bound& variable = bound_[static_cast<size_t>(loop.variable)];
    Affine trips = of;
    if (loop.trips.by != 1 || loop.trips.left)
      trips = IndexOf(QuotientOf({of, loop.trips.by, loop.trips.left, loop.trips.min_tail}));
    entry_.Loop(trips, [&](VarId index) {
      variable = {index, 0};
      Write(loop.body);
    });
    if (loop.rest.empty()) return;
    KIRSCH_CHECK(trips.terms.size() == 1);
    variable = {trips.terms.front().index, 0};
    const Count left = {of, loop.trips.by, true};
    const VarId index = QuotientOf(left);
    entry_.WithAny(index, [&] {
      const Left outer = std::exchange(left_, {left, index});
      Write(loop.rest);
      left_ = outer;
    });
  }

  void Write(const Let& let) {
    const Count& value = let.value;
    const VarId index = QuotientOf({InEntry(value.of), value.by, value.left, value.min_tail});
    bound_[static_cast<size_t>(let.variable)] = {index, 0};
    Write(let.body);
  }

  // Mostly a new index; what a loop leaves is what its rest begins with.
  VarId QuotientOf(const Count& value) {
    if (left_.index != kNoVar && left_.value == value) return left_.index;
    return entry_.Quotient(value.of, value.by, value.left, value.min_tail);
  }

  void Write(const OneOf& one_of) {
    const Bound& variable = bound_[static_cast<size_t>(one_of.variable)];
    KIRSCH_CHECK(variable.index != kNoVar && variable.constant == 0);
    entry_.SwitchOn(variable.index, one_of.least, one_of.bodies.size(),
                    [&](size_t i) { Write(one_of.bodies[i]); });
  }

  void Write(const Task& task) {
    if (!shares_work_) return Write(task.body);
    entry_.OnThreadOf(InEntry(task.task), [&] { Write(task.body); });
  }

  void Write(const Phase& phase) {
    entry_.InPhaseOf(phase.phase, [&] { Write(phase.body); });
  }

  void Write(const KernelRun& run) {
    const KernelShape& kernel = program_.kernels[static_cast<size_t>(run.kernel)];
    const std::vector<Dtype> types = OperandTypes(kernel);
    std::vector<Address> at;
    for (size_t i = 0; i < run.at.size(); ++i) at.push_back(AddressOf(run.at[i], types[i]));
    const VarId size =
        program_.sizes.empty() ? kNoVar : bound_[static_cast<size_t>(program_.sizes.front().variable)].index;
    KIRSCH_CHECK(run.count.IsConstant() || run.count.by == 1);
    const Affine count = run.count.IsConstant() ? Constant(run.count.constant()) : InEntry(run.count.of);
    entry_.Do(kernels_.MakeCall(kernel, {std::move(at), count, size, InEntry(run.last), InEntry(run.adds)},
                                entry_));
  }

  // Counts elements of `dtype`: to a callee, that is what offsets count.
  Address AddressOf(const OperandPlace& place, Dtype dtype) const {
    const Program::Buffer& buffer = program_.buffers[static_cast<size_t>(place.buffer)];
    const auto parameter = parameters_.find(place.buffer);
    if (parameter != parameters_.end()) return {parameter->second, InBytes(dtype, InEntry(place.offset))};
    return {memory_.at(buffer.memory),
            Plus(InBytes(dtype, InEntry(place.offset)), buffer.offset / Bytes(PointeeOf(dtype)))};
  }

  Affine InEntry(const Affine& affine) const {
    Affine result = Constant(affine.constant);
    for (const Affine::Term& term : affine.terms) {
      const Bound& bound = bound_[static_cast<size_t>(term.index)];
      const VarId times = term.times == kNoVar ? kNoVar : bound_[static_cast<size_t>(term.times)].index;
      const int64_t constant = term.coefficient * bound.constant;
      if (times == kNoVar)
        result.constant += constant;
      else if (constant != 0)
        result = Plus(result, times, constant);
      if (bound.index != kNoVar) result = Plus(result, bound.index, term.coefficient, times);
    }
    return result;
  }

  int64_t Constants(const Count& count) const {
    KIRSCH_CHECK(count.IsConstant());
    return count.constant();
  }

  const Program& program_;
  const bool shares_work_;
  Kernels& kernels_;
  ProcedureBuilder& entry_;
  std::map<Memory, VarId> memory_;
  std::map<int, VarId> parameters_;  // the caller's buffers, and what stands for one, as the entry has them
  std::vector<Bound> bound_;
  Left left_;  // of the loop whose rest is being written
};

class Lowering {
 public:
  Lowering(const Program& program, const Target& target, const std::string& name,
           const EntryParameters& always)
      : program_(program), kernels_(target, program, loops_), entry_(name) {
    loops_.name = name;
    loops_.tasks = program.tasks;
    loops_.phases = program.phases;
    loops_.block = program.block;
    loops_.scratch_bytes = program.own_bytes;
    loops_.shared_bytes = program.shared_bytes;
    loops_.always = always;
    // Whether blocks have copies in common is for the search to find.
    loops_.always.phases |= always.scratch && program.block != 0;
  }

  LoopProgram Write() && {
    TakeTensors();
    if (HasConstants() && PacksOneMatrix()) PackOperand();
    memory_[Memory::kOwn] = loops_.scratch();
    WriteEntry();
    if (HasConstants() && !PacksOneMatrix()) PackTensors();
    loops_.procedures.insert(loops_.procedures.begin(), std::move(entry_).Build());
    ConfigureTiles(&loops_);
    if (!loops_.sizes.empty()) ShareChoices(&loops_);
    return std::move(loops_);
  }

 private:
  // What takes threads or phases without having any use for them works in the first one only.
  void WriteEntry() {
    const auto write = [this] {
      EntryWriter(program_, loops_, kernels_, entry_, memory_, parameters_).Write(program_.body);
    };
    const auto on_thread = [&] {
      if (loops_.always.threads && !loops_.SharesWork()) return entry_.OnThreadOf(Constant(0), write);
      write();
    };
    if (loops_.always.phases && loops_.phases == 1) return entry_.InPhaseOf(0, on_thread);
    on_thread();
  }

  const Program::Buffer& buffer(int number) const { return program_.buffers[static_cast<size_t>(number)]; }
  bool HasConstants() const {
    return std::any_of(program_.buffers.begin(), program_.buffers.end(),
                       [](const Program::Buffer& known) { return known.constant; });
  }
  int ConstantBuffer() const {
    int number = 0;
    while (!buffer(number).constant) ++number;
    return number;
  }
  int PackedBuffer() const {
    int number = 0;
    while (buffer(number).memory != Memory::kPacked) ++number;
    return number;
  }
  template <typename Take>
  void ForCallers(const Take& take) {
    for (int i = 0; i < static_cast<int>(program_.buffers.size()); ++i)
      if (buffer(i).memory == Memory::kCaller) take(i);
  }

  template <typename Take>
  void InCallersOrder(const Take& take) {
    if (loops_.always.tensors.empty()) return ForCallers(take);
    for (const Parameter& parameter : loops_.always.tensors) take(parameter.operand);
  }

  // Tensors that are read, what constants are packed to, and the tensor that is stored.
  void TakeTensors() {
    InCallersOrder([&](int i) {
      if (!buffer(i).stored && !buffer(i).constant) TakeTensor(i);
    });
    if (HasConstants()) TakePacked();
    ForCallers([&](int i) {
      if (buffer(i).stored) TakeTensor(i);
    });
    entry_.PointerParameter(kScratch, program_.named ? Dtype::kF32 : AccumulatorOf(buffer(0).dtype), true);
    entry_.IndexParameter(program_.block != 0 ? kFirstColumn : kThread);
    entry_.IndexParameter(program_.block != 0 ? kEndColumn : kThreads);
    KIRSCH_CHECK(program_.sizes.empty() || program_.phases == 1);
    for (const RunTimeSize& size : program_.sizes) {
      loops_.sizes.push_back({size.name, size.least, size.most});
      entry_.IndexParameter(size.name);
    }
    if (!loops_.TakesPhases()) return;
    memory_[Memory::kShared] = entry_.PointerParameter(kShared, Dtype::kF32, true);
    entry_.IndexParameter(kPhase);
  }

  void TakeTensor(int number) {
    const Program::Buffer& tensor = buffer(number);
    loops_.tensors.push_back({FreeName(program_, tensor.name, number), tensor.dtype, tensor.stored, number});
    parameters_[number] =
        entry_.PointerParameter(loops_.tensors.back().name, PointeeOf(tensor.dtype), tensor.stored);
  }

  // Of a contraction, the copy that goes by its operand's name; of a graph, the memory that has all
  // constants.
  void TakePacked() {
    const int constant = program_.named ? -1 : ConstantBuffer();
    const std::string name =
        FreeName(program_, program_.named ? kConstants : buffer(constant).name, constant);
    const Dtype dtype = program_.named ? Dtype::kF32 : buffer(PackedBuffer()).dtype;
    loops_.tensors.push_back({kPacked, dtype, false, constant});
    memory_[Memory::kPacked] = entry_.PointerParameter(name, PointeeOf(dtype), false);
    if (!program_.named) parameters_[constant] = memory_.at(Memory::kPacked);
  }

  // A contraction's operand that has no batch: the kernel that copies it is all there is to do.
  bool PacksOneMatrix() const {
    return !program_.named && program_.prepack.size() == 1 &&
           std::holds_alternative<KernelRun>(program_.prepack.front().shape);
  }

  // The procedure that copies a contraction's constant operand.
  void PackOperand() {
    const KernelRun& run = std::get<KernelRun>(program_.prepack.front().shape);
    const int operand = run.at.front().buffer;
    const Call call = kernels_.MakeCall(program_.kernels[static_cast<size_t>(run.kernel)],
                                        {{}, Constant(1), kNoVar, {}, {}}, entry_);
    loops_.packing =
        Packing{memory_.at(Memory::kPacked),
                program_.packed_bytes,
                call.procedure,
                false,
                {{FreeName(program_, buffer(operand).name, operand), buffer(operand).dtype, false, operand}}};
  }

  // The entry that packs a graph's constants, or a batch of matrices.
  void PackTensors() {
    ProcedureBuilder entry(PackName(loops_));
    Packing packing{memory_.at(Memory::kPacked), program_.packed_bytes, 0, true, {}};
    std::map<int, VarId> parameters;
    ForCallers([&](int i) {
      const Program::Buffer& constant = buffer(i);
      if (!constant.constant) return;
      packing.constants.push_back({FreeName(program_, constant.name, i), constant.dtype, false, i});
      parameters[i] = entry.PointerParameter(packing.constants.back().name, PointeeOf(constant.dtype), false);
    });
    const VarId to = entry.PointerParameter(FreeName(program_, kConstants, -1), Dtype::kF32, true);
    kernels_.Forget();
    EntryWriter(program_, loops_, kernels_, entry, {{Memory::kPacked, to}}, std::move(parameters))
        .Write(program_.prepack);
    loops_.procedures.push_back(std::move(entry).Build());
    packing.procedure = static_cast<int>(loops_.procedures.size());  // behind the kernel's entry
    loops_.packing = std::move(packing);
  }

  const Program& program_;
  LoopProgram loops_;
  Kernels kernels_;
  ProcedureBuilder entry_;
  std::map<Memory, VarId> memory_;   // where each kind of memory begins
  std::map<int, VarId> parameters_;  // by the numbers of the caller's buffers
};

}  // namespace

LoopProgram Lower(const Program& program, const Target& target, const std::string& name,
                  const EntryParameters& always) {
  return Lowering(program, target, name, always).Write();
}

LoopProgram Lower(const ProgramTree& tree, const Target& target, const std::string& name,
                  const EntryParameters& always) {
  Program program = WriteProgram(tree, target);
  for (const Parameter& parameter : always.tensors)
    program.buffers[static_cast<size_t>(parameter.operand)].name = parameter.name;
  return Lower(program, target, name, always);
}

}  // namespace kirsch
