// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower.h"

#include <algorithm>
#include <array>
#include <map>
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
constexpr char kConstants[] = "constants";  // the name, in the kernel, of the memory that `packed` is

// Returns a name for the caller's buffer `number` that no other buffer has, nor any of the entry's own
// parameters. -1 stands for memory that is no buffer. Callers may call a tensor `thread`: it becomes
// `thread_`.
std::string FreeName(const Program& program, std::string name, int number) {
  constexpr std::array<std::string_view, 8> kOwn = {kThread, kThreads, kPhase,           kScratch,
                                                    kShared, kPacked,  "scratch_memory", "shared_memory"};
  const auto taken = [&] {
    bool same = std::ranges::find(kOwn, name) != kOwn.end();
    for (int i = 0; i < static_cast<int>(program.buffers.size()); ++i) {
      const Program::Buffer& other = program.buffers[static_cast<size_t>(i)];
      same |= i != number && other.memory == Memory::kCaller && !other.stored && other.name == name;
    }
    return same;
  };
  while (taken()) name += "_";
  return name;
}

// Makes the procedures of a program's kernels, each once, and collects the CPU features that they need. Two
// kernels with the same name are the same procedure. So everything that code depends on has to be in its
// name.
class Kernels {
 public:
  // Mask registers are used if any vector unit of the target has them. All programs need AVX2 and FMA at
  // least.
  Kernels(const Target& target, const Program& source, LoopProgram& program)
      : target_(target), source_(source), program_(program) {
    program_.masks = std::ranges::any_of(target.vectors, &VectorUnit::masks);
    AddFeatures(std::array{"avx2", "fma"});
    if (program_.masks) AddFeatures(std::array{"avx512f", "avx512vl"});
  }

  // The values of KernelRun, and of kStride, in terms of the entry's variables. `stride` may be kNoVar.
  struct Run {
    std::vector<Address> at;
    Affine count;
    VarId stride;
    Affine last, adds;
  };

  // Returns the entry's call of a kernel, whose procedure is made if it is new. Counts that are known only at
  // run time are divided in the entry, so that procedures take finished trip counts. The order of the counts
  // is that of MicrokernelProcedure's parameters: the kind's own first, then kStride, then kLast.
  Call MakeCall(const KernelShape& kernel, const Run& run, ProcedureBuilder& entry) {
    Call call = std::visit([&](const auto& shape) { return MakeCall(shape, run, entry); }, kernel);
    if (Takes(kernel, SizeSymbol::kStride)) call.counts.push_back(IndexOf(run.stride));
    if (Takes(kernel, SizeSymbol::kLast)) call.counts.push_back(run.last);
    return call;
  }

  // Forgets the procedures made so far. Each kernel that is called from here on gets a procedure of its own.
  void Forget() { procedure_numbers_.clear(); }

 private:
  template <typename Features>
  void AddFeatures(const Features& features) {
    for (std::string_view feature : features)
      if (!program_.HasFeature(feature)) program_.features.emplace_back(feature);
  }

  // Adds the features that operands need whose elements are no accumulators. Conversions by way of f16 need
  // F16C. Masked accesses to elements narrower than a word need AVX512BW; targets without it get other code.
  void AddElementFeatures(const KernelShape& kernel) {
    for (const Dtype dtype : OperandTypes(kernel)) {
      if (WidensByF16(dtype) || IsOfBlocks(dtype)) AddFeatures(std::array{"f16c"});
      const bool wide = !IsOfBlocks(dtype) && Bytes(dtype) >= kWordBytes;
      if (!wide && program_.masks && target_.HasFeature("avx512bw")) AddFeatures(std::array{"avx512bw"});
    }
  }

  // Adds the features of the instruction that multiplies. Tiles of a matrix unit need the unit's own beside
  // it.
  void AddInstructionFeatures(const RegisterTile& tile, const VectorUnit& unit) {
    if (tile.form == LayoutKind::kTiles)
      return AddFeatures(std::array{kTileFeature, tile.instruction().tiles.feature});
    const Encoding* const encoding = EncodingOf(tile.arithmetic, unit, target_);
    KIRSCH_CHECK(encoding != nullptr);
    AddFeatures(encoding->features);
  }

  // Returns the number of the kernel's procedure, which is made if none has its name. The entry is put before
  // all procedures in the end (Lowering::Write), so numbers begin with 1.
  template <typename Kernel, typename Make>
  int NumberOf(const Kernel& kernel, const Make& make) {
    const auto [it, inserted] =
        procedure_numbers_.try_emplace(kernel.Name(), static_cast<int>(program_.procedures.size()) + 1);
    if (inserted) program_.procedures.push_back(make(kernel));
    return it->second;
  }

  // The tile's code depends on more than its shape: accumulator sets and unrolling suit the vector unit. A
  // kernel that may add or overwrite is marked as one that adds, so both shapes have one name. A count tells
  // which it does.
  Call MakeCall(const TileShape& shape, const Run& run, ProcedureBuilder& entry) {
    AddElementFeatures(shape);
    KIRSCH_CHECK(shape.accumulate.IsConstant() || !shape.tile.one_chain);
    Microkernel kernel{shape};
    if (SharesBothWays(shape)) kernel.accumulate = {SizeSymbol::kAdds, 1};
    kernel.scales = program_.masks;
    const VectorUnit& unit = UnitOf(target_, kernel.tile);
    FitToRegisters(unit, &kernel);
    AddInstructionFeatures(kernel.tile, unit);
    if (shape.tile.by_tables) AddFeatures(std::array{"avx512vbmi"});
    std::vector<Affine> counts = CountsOf(kernel, run.count, entry);
    if (!kernel.accumulate.IsConstant())
      counts.push_back(shape.accumulate.IsConstant() ? Constant(shape.accumulate) : run.adds);
    return {NumberOf(kernel, MicrokernelProcedure), run.at, std::move(counts)};
  }

  // Returns the trip counts of the kernel's loops over a reduction of length `k`, then the steps that are
  // left.
  //
  // For example, k = 103 with 4 steps a trip of the main loop gives 25 trips, and 3 of the loop over the
  // rest. If k is known at run time only, the entry divides it by Divide statements, and the counts are their
  // indices.
  static std::vector<Affine> CountsOf(const Microkernel& kernel, const Affine& k, ProcedureBuilder& entry) {
    const int64_t step = kernel.step();
    std::vector<Affine> counts;
    if (k.IsConstant()) {
      for (int64_t count : kernel.Counts(k.constant)) counts.push_back(Constant(count));
      if (!kernel.k_tail.IsConstant()) counts.push_back(Constant(k.constant % step));
      return counts;
    }
    KIRSCH_CHECK(!kernel.k_tail.IsConstant() || step == 1);
    const Affine steps = Quotient(k, step, entry);
    counts = {Quotient(steps, kernel.at_once(), entry)};
    if (kernel.has_rest()) counts.push_back(IndexOf(entry.Quotient(steps, kernel.at_once(), true)));
    if (!kernel.k_tail.IsConstant()) counts.push_back(IndexOf(entry.Quotient(k, step, true)));
    return counts;
  }
  // Leaves out the division by 1.
  static Affine Quotient(const Affine& of, int64_t by, ProcedureBuilder& entry) {
    return by == 1 ? of : IndexOf(entry.Quotient(of, by, false));
  }

  // True if one procedure serves the tile both where it adds to the output and where it overwrites. Programs
  // for many sizes have many register tiles, and each is the most code there is. So tiles that differ in
  // nothing else are one procedure with a parameter, kAdds.
  //
  // Two kinds are left out: single chains begin with the old output, and lanewise tiles have no such
  // parameter.
  bool SharesBothWays(const TileShape& shape) const {
    if (source_.symbols.empty() || !shape.accumulate.IsConstant() ||
        shape.tile.form == LayoutKind::kLanewise || shape.tile.one_chain)
      return false;
    TileShape other = shape;
    other.accumulate = 1 - shape.accumulate;
    const auto& kernels = source_.kernels;
    return std::ranges::find(kernels, KernelShape(other)) != kernels.end();
  }

  Call MakeCall(const PackShape& shape, const Run& run, ProcedureBuilder&) {
    AddElementFeatures(shape);
    const Pack pack{shape, vector_bytes(), LanesMayVary(shape.from.dtype, target_)};
    Call call{NumberOf(pack, PackProcedure), run.at, {}};
    if (Takes(shape, SizeSymbol::kCount)) call.counts.push_back(run.count);
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

  // The widest vectors of the target: copies are as wide as they can be.
  int vector_bytes() const { return target_.vectors.front().bytes; }

  const Target& target_;
  const Program& source_;
  LoopProgram& program_;  // without the entry while that is being built
  std::map<std::string, int> procedure_numbers_;
};

// Writes the nodes of a program as statements of an entry. The program's variables become the entry's
// indices. A loop that is known to run once leaves none, so that offsets in it are constants.
class EntryWriter {
 public:
  // `memory`: the entry's pointer to each kind of memory. `parameters`: its pointers to the caller's buffers,
  // by the buffer's number. Sizes are bound from the beginning, all other variables by the node that sets
  // them.
  EntryWriter(const Program& program, const LoopProgram& loops, Kernels& kernels, ProcedureBuilder& entry,
              std::map<Memory, VarId> memory, std::map<int, VarId> parameters)
      : program_(program),
        shares_work_(loops.SharesWork()),
        kernels_(kernels),
        entry_(entry),
        memory_(std::move(memory)),
        parameters_(std::move(parameters)),
        bound_(static_cast<size_t>(program.variables)) {
    for (size_t size = 0; size < loops.sizes.size(); ++size) bound_[size] = {loops.run_time_size(size), 0};
  }

  void Write(const Body& body) {
    for (const Node& node : body) std::visit([&](const auto& shape) { Write(shape); }, node.shape);
  }

 private:
  // The value of a program's variable in the entry: index + constant. Without an index (kNoVar) it is the
  // constant.
  struct Bound {
    VarId index = kNoVar;
    int64_t constant = 0;
  };
  // A remainder that the loop around has computed, by the entry's indices, and the index that has it.
  struct Left {
    Count value;
    VarId index = kNoVar;
  };

  // Writes a loop of a known number of trips in up to three parts: `first`, the trips in between, and `rest`.
  // A single trip needs no loop. For example, 5 trips with a first one of its own:
  //   first, with variable = 0
  //   for i < 4: body, with variable = i + 1
  //   rest, with variable = 5, if the division leaves something
  void Write(const Loop& loop) {
    if (!loop.trips.IsConstant()) return WriteVarying(loop);
    const int64_t trips = Constants(loop.trips);
    Bound& variable = bound_[static_cast<size_t>(loop.variable)];
    // A loop over all blocks of columns runs over the wanted ones only, instead of asking block by block.
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

  // Returns the task that is done for each trip, if the loop goes over the first so many blocks; else null.
  // The task's number must be the loop's variable as it is, so that trips and blocks have the same numbers.
  const Task* BlockOf(const Loop& loop) const {
    if (program_.block == 0 || !loop.first.empty() || !loop.rest.empty() || loop.body.size() != 1)
      return nullptr;
    const Task* const task = std::get_if<Task>(&loop.body.front().shape);
    return task != nullptr && task->task == IndexOf(loop.variable) ? task : nullptr;
  }

  // Writes a loop whose number of trips is known when the program runs. The boundary tile is in a condition,
  // as nothing may be left. While it is being written, left_ holds the remainder, so that it is not computed
  // twice.
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
    // Whatever is left begins where the whole trips end: the variable is the number of trips.
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

  // Returns an index with the value. The rest of a loop often begins with a Let of what the loop left; then
  // the index of that is taken. Else it is a new one.
  VarId QuotientOf(const Count& value) {
    if (left_.index != kNoVar && left_.value == value) return left_.index;
    return entry_.Quotient(value.of, value.by, value.left, value.min_tail);
  }

  // The choice needs an index as it is: a case is a value of the variable itself.
  void Write(const OneOf& one_of) {
    const Bound& variable = bound_[static_cast<size_t>(one_of.variable)];
    KIRSCH_CHECK(variable.index != kNoVar && variable.constant == 0);
    entry_.SwitchOn(variable.index, one_of.least, one_of.bodies.size(),
                    [&](size_t i) { Write(one_of.bodies[i]); });
  }

  // A program with nothing to share asks no thread for its number.
  void Write(const Task& task) {
    if (!shares_work_) return Write(task.body);
    entry_.OnThreadOf(InEntry(task.task), [&] { Write(task.body); });
  }

  void Write(const Phase& phase) {
    entry_.InPhaseOf(phase.phase, [&] { Write(phase.body); });
  }

  // Writes the call of a kernel. Offsets of operands become those of the entry's pointers. kStride is
  // always the first parameter.
  void Write(const KernelRun& run) {
    const KernelShape& kernel = program_.kernels[static_cast<size_t>(run.kernel)];
    const std::vector<Dtype> types = OperandTypes(kernel);
    std::vector<Address> at;
    for (size_t i = 0; i < run.at.size(); ++i) at.push_back(AddressOf(run.at[i], types[i]));
    const VarId stride = program_.symbols.empty() ? kNoVar : bound_.front().index;
    KIRSCH_CHECK(run.count.IsConstant() || run.count.by == 1);
    const Affine count = run.count.IsConstant() ? Constant(run.count.constant()) : InEntry(run.count.of);
    entry_.Do(kernels_.MakeCall(kernel, {std::move(at), count, stride, InEntry(run.last), InEntry(run.adds)},
                                entry_));
  }

  // Returns the place of an operand. Offsets count elements of the operand's own type, `dtype`, which is the
  // callee's pointer type. Blocks are the exception: procedures take them as bytes. Buffers that are no
  // parameters begin `buffer.offset` bytes into their memory.
  Address AddressOf(const OperandPlace& place, Dtype dtype) const {
    const Program::Buffer& buffer = program_.buffers[static_cast<size_t>(place.buffer)];
    const auto parameter = parameters_.find(place.buffer);
    if (parameter != parameters_.end()) return {parameter->second, InBytes(dtype, InEntry(place.offset))};
    return {memory_.at(buffer.memory),
            Plus(InBytes(dtype, InEntry(place.offset)), buffer.offset / Bytes(PointeeOf(dtype)))};
  }

  // Returns the expression with the entry's indices in place of the program's variables. Each variable is
  // index + constant, so coefficient * variable becomes a term and a constant. If the term has a second
  // factor (a symbolic stride), the constant is multiplied by that factor at run time: it becomes a term of
  // `times`.
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

// Lowers one program: collects the entry's parameters, writes the entry and what packs constants, then
// finishes the whole. Used once.
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

  // Tensors come first, since parameters are declared before anything else. The last steps need the complete
  // program: the entry goes to the front, tiles are configured, choices by a run-time size are shared.
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
  // Writes the entry's body. An entry may take threads or phases without having any use for them: the user
  // asked for the parameters. Then the first thread does all the work in the first phase, and the others
  // nothing.
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
  bool HasConstants() const { return std::ranges::any_of(program_.buffers, &Program::Buffer::constant); }
  // Return the first buffer of the kind. There must be one.
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
  // Visits the buffers of the caller, in the program's order.
  template <typename Take>
  void ForCallers(const Take& take) {
    for (int i = 0; i < static_cast<int>(program_.buffers.size()); ++i)
      if (buffer(i).memory == Memory::kCaller) take(i);
  }

  // Visits them in the order that the caller asked for (EntryParameters::tensors), if he did.
  template <typename Take>
  void InCallersOrder(const Take& take) {
    if (loops_.always.tensors.empty()) return ForCallers(take);
    for (const Parameter& parameter : loops_.always.tensors) take(parameter.operand);
  }

  // Declares the entry's parameters in the order that LoopProgram::tensors documents: tensors that are read,
  // the packed constants, the tensor that is stored, scratch, thread, n_threads, sizes, shared memory and the
  // phase. Scratch and threads are declared even where the public function lacks them, so that their numbers
  // are the same in all programs.
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
    KIRSCH_CHECK(program_.symbols.empty() || program_.phases == 1);
    for (const SymbolRange& size : program_.symbols) {
      loops_.sizes.push_back(size.name);
      entry_.IndexParameter(size.name);
    }
    // Shared memory carries values from one phase to the next, so it comes with the phases.
    if (!loops_.TakesPhases()) return;
    memory_[Memory::kShared] = entry_.PointerParameter(kShared, Dtype::kF32, true);
    entry_.IndexParameter(kPhase);
  }

  // Of blocks, the parameter is a pointer to bytes (PointeeOf).
  void TakeTensor(int number) {
    const Program::Buffer& tensor = buffer(number);
    loops_.tensors.push_back({FreeName(program_, tensor.name, number), tensor.dtype, tensor.stored, number});
    parameters_[number] =
        entry_.PointerParameter(loops_.tensors.back().name, PointeeOf(tensor.dtype), tensor.stored);
  }

  // Declares the packed constants. Of a contraction it is the copy, called like its operand, which it
  // replaces. Of a graph it is one memory for all constants; its pointer is of f32, and kernels take pointers
  // of their own types.
  void TakePacked() {
    const int constant = program_.named ? -1 : ConstantBuffer();
    const std::string name =
        FreeName(program_, program_.named ? kConstants : buffer(constant).name, constant);
    const Dtype dtype = program_.named ? Dtype::kF32 : buffer(PackedBuffer()).dtype;
    loops_.tensors.push_back({kPacked, dtype, false, constant});
    memory_[Memory::kPacked] = entry_.PointerParameter(name, PointeeOf(dtype), false);
    if (!program_.named) parameters_[constant] = memory_.at(Memory::kPacked);
  }

  // True if a contraction's operand without a batch is packed. Then one call of a copying procedure packs it.
  // Otherwise an entry of its own calls the kernels.
  bool PacksOneMatrix() const {
    return !program_.named && program_.prepack.size() == 1 &&
           std::holds_alternative<KernelRun>(program_.prepack.front().shape);
  }

  // Makes the procedure that copies a contraction's constant operand. The call itself is not written: only
  // its procedure's number is kept.
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

  // Writes the entry that packs a graph's constants, or a batch of matrices. Its parameters are the
  // constants, then the memory they are packed to.
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
