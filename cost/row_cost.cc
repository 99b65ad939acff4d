// SPDX-License-Identifier: Apache-2.0
#include "cost/row_cost.h"

#include <algorithm>
#include <bit>
#include <initializer_list>
#include <optional>

#include "cost/microkernel_cost.h"
#include "cost/vector_math_cost.h"
#include "spec/check.h"

namespace kirsch {
namespace {

// Cycles of latency. From lane to lane: a shuffle and an addition or a maximum.
constexpr double kAcrossLatency = 7;
// Values that are one for the row are computed between two passes, one thing after another.
constexpr double kRowValueLatency = 4, kRowDivisionLatency = 16, kRowFunctionLatency = 50;
// The share of such latencies that is not hidden by what is computed of the same row and the next one.
constexpr double kExposed = 0.15;
// The same where a kept value ends in a masked store. No load gets a masked store's elements before they are
// in L1, so the next row waits: for all, if sums of this one do, too (bench/lab/2026-11-30.md).
constexpr double kExposedBehindMask = 0.3, kExposedBeforeSums = 0.8;
// A row in place that ends in a masked store: the mask's lanes reach into the next row, whose first load
// waits.
constexpr double kNextRowBehindMask = 70;
constexpr double kExposedOnline = 0.5;  // a maximum is needed before each sum, and both for the next pass
constexpr double kPassCycles = 5;       // to begin and to end a pass of a row

// Returns the unit whose vectors the schedule has.
const VectorUnit& UnitOf(const RowProgram& program, const RowSchedule& schedule, const Target& target) {
  for (const VectorUnit& unit : target.vectors)
    if (unit.lanes(RealOf(program)) == schedule.lanes) return unit;
  return target.vectors.back();
}

// Returns the instructions that round a vector to a narrower type.
double NarrowingInstructions(Dtype from, Dtype dtype) {
  constexpr double kRounding = 8, kSaturation = 2, kBounds = 2;
  if (dtype == from) return 0;
  if (from == Dtype::kF64) return 1 + NarrowingInstructions(Dtype::kF32, dtype);
  if (from == Dtype::kS32) return kBounds + 1;
  return dtype == Dtype::kBf16  ? kRounding
         : dtype == Dtype::kF16 ? 2
         : dtype == Dtype::kS32 ? kIntoRange + kSaturation + 1
                                : kIntoRange + 1;
}

// Lines of a row of so many elements.
double RowLines(int64_t elements, Dtype dtype, const Target& target) {
  return static_cast<double>((elements * Bytes(dtype) + target.line_bytes - 1) / target.line_bytes);
}

bool Has(const std::vector<int>& list, int item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

// Returns the cache in which so many bytes stay that are used again and again.
Level FastestCacheFor(double bytes, const Target& target) {
  for (Level level : {Level::kL1, Level::kL2, Level::kL3})
    if (bytes <= target.at(level).capacity_share * static_cast<double>(target.at(level).bytes)) return level;
  return Level::kRam;
}

// Prices one row of a program; or a block of columns, where reductions go down the rows.
class RowCost {
 public:
  // Of `columns` elements for each value, one after the other in memory, or, if `in_parts`, in short runs.
  RowCost(const RowProgram& program, const RowSchedule& schedule, int64_t columns, bool in_parts,
          const RowLevels& levels, const Target& target)
      : program_(program),
        schedule_(schedule),
        plan_(FindPasses(program, schedule)),
        unit_(UnitOf(program, schedule, target)),
        columns_(columns),
        in_parts_(in_parts),
        levels_(levels),
        target_(target),
        exposed_(Exposed()) {}

  // Adds up the passes, and the values between them that are one for the row.
  double CyclesOfRow() const {
    double cycles = 0;
    for (size_t pass = 0; pass < plan_.passes.size(); ++pass) cycles += PassCycles(pass);
    for (const std::vector<int>& values : plan_.row_values)
      for (int v : values) cycles += RowValueCycles(program_.values[static_cast<size_t>(v)]);
    return cycles + target_.loop_cycles;
  }

  Traffic TrafficOfRow() const {
    Traffic traffic;
    for (size_t pass = 0; pass < plan_.passes.size(); ++pass)
      for (const Moved& moved : MovedBy(pass)) {
        const double bytes = moved.lines * target_.line_bytes;
        traffic.Add(moved.level, Level::kVrf, moved.written ? 0 : bytes, moved.written ? bytes : 0);
      }
    return traffic;
  }

 private:
  double RowValueCycles(const RowValue& value) const {
    const Operation op = value.op;
    if (op == Operation::kLoad || op == Operation::kNumber) return 0;
    const VectorWork work = WorkOf(op, value.type, unit_);
    const double product = unit_.rate(Arithmetic::kMultiplyAdd).latency;
    const double latency = work.instructions > 1             ? kRowFunctionLatency
                           : work.divisions + work.roots > 0 ? kRowDivisionLatency
                           : work.products > 0               ? product
                                                             : kRowValueLatency;
    return ArithmeticCycles(work, unit_) + exposed_ * latency;
  }

  double Exposed() const {
    const bool partial = columns_ % schedule_.lanes != 0;
    double exposed = kExposed;
    for (const RowPass& pass : plan_.passes) {
      if (pass.online) exposed = std::max(exposed, kExposedOnline);
      if (partial && !pass.read.empty())
        exposed = std::max(exposed, pass.reductions.empty() ? kExposedBehindMask : kExposedBeforeSums);
    }
    return exposed;
  }

  // Returns the bytes that a row's pass goes through and leaves in the caches, each operand counted once.
  double PassBytes(const RowPass& pass) const {
    std::vector<bool> results(program_.results.size(), false);
    int64_t bytes = 0;
    for (int v : pass.computed) {
      const RowValue& value = program_.values[static_cast<size_t>(v)];
      if (value.op == Operation::kLoad)
        bytes += columns_ * Bytes(program_.inputs[static_cast<size_t>(value.input)].dtype);
    }
    const auto add_kept = [&](const std::vector<int>& values) {
      for (int v : values)
        if (schedule_.KeptAt(v) == RowSchedule::kInScratch)
          bytes += columns_ * Bytes(RealOf(program_));
        else
          results[static_cast<size_t>(schedule_.KeptAt(v))] = true;
    };
    add_kept(pass.read);
    add_kept(pass.kept);
    for (int result : pass.results) results[static_cast<size_t>(result)] = result != schedule_.streamed;
    for (size_t i = 0; i < results.size(); ++i)
      if (results[i]) bytes += columns_ * Bytes(program_.results[i].dtype);
    return static_cast<double>(bytes);
  }

  // Returns the level of an element that was last used in pass `last`. What both passes go through lies
  // between, on average half of each, and all of the passes between them.
  Level LevelInPass(size_t last, size_t number) const {
    double bytes = (PassBytes(plan_.passes[last]) + PassBytes(plan_.passes[number])) / 2;
    for (size_t pass = last + 1; pass < number; ++pass) bytes += PassBytes(plan_.passes[pass]);
    return FastestCacheFor(bytes, target_);
  }
  // The last pass before `number` that has `item` in one of its lists.
  std::optional<size_t> LastUse(size_t number, std::initializer_list<std::vector<int> RowPass::*> lists,
                                int item) const {
    for (size_t pass = number; pass-- > 0;)
      for (std::vector<int> RowPass::* list : lists)
        if (Has(plan_.passes[pass].*list, item)) return pass;
    return std::nullopt;
  }

  // A pass costs its vectors, its ends, and what it waits for. Transfers hide behind its own arithmetic only.
  double PassCycles(size_t number) const {
    const RowPass& pass = plan_.passes[number];
    const int64_t vectors = (columns_ + schedule_.lanes - 1) / schedule_.lanes;
    const double compute =
        static_cast<double>(vectors) * VectorCyclesOf(program_, schedule_, plan_, number, target_).total();
    const double reductions = static_cast<double>(pass.reductions.size()) + (pass.online ? 2 : 0);
    const double across = kAcrossLatency * std::bit_width(static_cast<unsigned>(schedule_.lanes)) +
                          (pass.online ? kRowFunctionLatency : 0);
    const double ends = kPassCycles + (reductions == 0 || program_.reduces_rows ? 0 : exposed_ * across);
    double waited = 0;
    const std::vector<Moved> moved = MovedBy(number);
    for (Level level : {Level::kL2, Level::kL3, Level::kRam}) {
      const MemoryLevel& memory = target_.at(level);
      const double transfers = TransfersFrom(moved, level);
      waited += std::max(transfers * (1 - memory.overlap), transfers - compute);
    }
    return compute + ends + waited;
  }

  // Returns the share of an input's lines that are not asked for in time.
  double Unprefetched(const MemoryLevel& memory) const {
    return std::max(0.0, 1 - static_cast<double>(schedule_.prefetch / target_.line_bytes) /
                                 static_cast<double>(memory.prefetch_lines));
  }
  // True if the input's rows do not follow each other.
  bool IsApart(int input) const {
    return !levels_.apart.empty() && levels_.apart[static_cast<size_t>(input)];
  }
  // Returns the cycles for the start of a row that does not follow the one before it: its first lines, which
  // nobody foresees, and its page.
  double StartCycles(Dtype dtype, const MemoryLevel& memory) const {
    return std::min(RowLines(columns_, dtype, target_), static_cast<double>(memory.ramp_lines)) *
               memory.unstreamed_cycles_per_line * Unprefetched(memory) +
           memory.cycles_per_page;
  }
  // Returns what a line counts that is stored past the caches. If the result is placed in a cache, who reads
  // it next has to wait for RAM.
  double StreamFactor(Level to) const {
    return target_.at(Level::kRam).stream_factor + (to == Level::kRam ? 0 : 1);
  }

  // Lines that a pass moves. `weight` is what they count; `waits` are cycles on top of that.
  struct Moved {
    Level level;
    double lines, weight, waits;
    bool written;
  };

  // Returns the cycles for what a pass brings from a level, or writes back to it, which counts more.
  double TransfersFrom(const std::vector<Moved>& all, Level level) const {
    double lines = 0, waits = 0;
    for (const Moved& moved : all) {
      if (moved.level != level) continue;
      lines += moved.weight;
      waits += moved.waits;
    }
    return lines * target_.at(level).cycles_per_line + waits;
  }

  // Returns the cycles that an input's lines are waited for: those that nobody asks for in time, and those
  // that a row apart starts with.
  double WaitsFor(int input, Dtype dtype, Level from) const {
    const MemoryLevel& memory = target_.at(from);
    return RowLines(columns_, dtype, target_) * (memory.unprefetched_cycles_per_line * Unprefetched(memory) +
                                                 (in_parts_ ? memory.unstreamed_cycles_per_line : 0)) +
           (IsApart(input) ? StartCycles(dtype, memory) : 0);
  }

  // Lists what a pass moves: inputs, kept values that it reads, values that it keeps, and results.
  std::vector<Moved> MovedBy(size_t number) const {
    const RowPass& pass = plan_.passes[number];
    std::vector<Moved> all;
    const auto read = [&](Dtype dtype, Level from, double waits) {
      const double lines = RowLines(columns_, dtype, target_);
      all.push_back({from, lines, lines, waits, false});
    };
    // A line that the same pass reads is there already.
    const auto write = [&](Dtype dtype, Level to, bool is_read) {
      const double lines = RowLines(columns_, dtype, target_);
      all.push_back({to, lines, lines * (target_.at(to).write_factor - (is_read ? 1 : 0)), 0, true});
    };
    for (int v : pass.computed) {
      const RowValue& value = program_.values[static_cast<size_t>(v)];
      if (value.op != Operation::kLoad) continue;
      const RowInput& input = program_.inputs[static_cast<size_t>(value.input)];
      Level from = levels_.inputs[static_cast<size_t>(value.input)];
      const std::optional<size_t> last = LastUse(number, {&RowPass::computed}, v);
      // Another pass has brought it, or another row, if all rows have the same: it is in the cache that holds
      // what lies between.
      if (last || !input.along_rows) from = std::min(from, LevelInPass(last.value_or(number), number));
      if (!input.along_columns) continue;  // one for each row: few
      read(input.dtype, from, WaitsFor(value.input, input.dtype, from));
    }
    const auto kept_level = [&](int v) {
      return LevelInPass(*LastUse(number, {&RowPass::kept, &RowPass::read}, v), number);
    };
    for (int v : pass.read) read(RealOf(program_), kept_level(v), 0);
    for (int v : pass.kept) {
      const int at = schedule_.KeptAt(v);
      write(RealOf(program_),
            at == RowSchedule::kInScratch ? LevelInPass(number, number)
                                          : levels_.results[static_cast<size_t>(at)],
            false);
    }
    for (int result : pass.results) {
      const auto there = std::find_if(pass.read.begin(), pass.read.end(),
                                      [&](int v) { return schedule_.KeptAt(v) == result; });
      const Level to = levels_.results[static_cast<size_t>(result)];
      const bool is_read = there != pass.read.end();
      if (result == schedule_.streamed) {
        const double lines = RowLines(columns_, Dtype::kF32, target_);
        all.push_back({Level::kRam, lines, lines * StreamFactor(to), 0, true});
        continue;
      }
      write(program_.results[static_cast<size_t>(result)].dtype,
            is_read ? std::min(to, kept_level(*there)) : to, is_read);
    }
    return all;
  }

  const RowProgram& program_;
  const RowSchedule& schedule_;
  const RowPasses plan_;
  const VectorUnit& unit_;
  const int64_t columns_;
  const bool in_parts_;
  const RowLevels& levels_;
  const Target& target_;
  const double exposed_;
};

}  // namespace

double RowVectorCycles::total() const {
  return std::max({arithmetic, division, load, store, latency, window, front_end});
}

std::string_view RowVectorCycles::bottleneck() const {
  const double most = total();
  if (arithmetic == most) return "arithmetic";
  if (division == most) return "division";
  if (load == most) return "load";
  if (store == most) return "store";
  if (latency == most) return "latency";
  return window == most ? "window" : "front end";
}

namespace {

// Returns the prefetches for each vector: one for each line of an input.
double PrefetchesOf(const RowProgram& program, const RowPass& pass, int lanes, const Target& target) {
  double lines = 0;
  for (int v : pass.computed) {
    const RowValue& value = program.values[static_cast<size_t>(v)];
    if (value.op == Operation::kLoad)
      lines += static_cast<double>(lanes * Bytes(program.inputs[static_cast<size_t>(value.input)].dtype)) /
               target.line_bytes;
  }
  return lines;
}

}  // namespace

RowVectorCycles VectorCyclesOf(const RowProgram& program, const RowSchedule& schedule, const RowPasses& plan,
                               size_t number, const Target& target) {
  const RowPass& pass = plan.passes[number];
  const VectorUnit& unit = UnitOf(program, schedule, target);
  const double unroll = schedule.unroll[number];
  VectorWork arithmetic = WorkOf(program, pass.computed, unit);
  double loads = static_cast<double>(pass.read.size()), stores = static_cast<double>(pass.kept.size());
  RowVectorCycles cycles;
  cycles.division = DivisionCycles(arithmetic, RealOf(program), unit);
  for (int v : pass.computed) {
    const RowValue& value = program.values[static_cast<size_t>(v)];
    if (value.op != Operation::kLoad) continue;
    ++loads;
    arithmetic.instructions +=
        WideningInstructions(program.inputs[static_cast<size_t>(value.input)].dtype, value.type);
  }
  // The online sum takes a difference, an exp, a sum and a maximum for each vector. For each block of vectors
  // at once it rescales, by another exp.
  if (pass.online)
    arithmetic.instructions += (2 + InstructionsOf(Operation::kExp, unit)) * (1 + 1 / unroll) + 1;
  arithmetic.instructions += static_cast<double>(pass.reductions.size());
  for (int result : pass.results) {
    ++stores;
    const RowResult& stored = program.results[static_cast<size_t>(result)];
    arithmetic.instructions +=
        NarrowingInstructions(program.values[static_cast<size_t>(stored.value)].type, stored.dtype);
  }
  cycles.arithmetic = ArithmeticCycles(arithmetic, unit);
  if (schedule.prefetch > 0) loads += PrefetchesOf(program, pass, schedule.lanes, target);
  cycles.load = loads / unit.loads_per_cycle;
  cycles.store = stores / unit.stores_per_cycle;
  cycles.latency = pass.online ? unit.fma_latency : pass.reductions.empty() ? 0 : unit.fma_latency / unroll;
  const double instructions = arithmetic.instructions + arithmetic.products + loads + stores;
  cycles.front_end = (instructions + kLoopInstructions / unroll) / target.issue_width;
  // By Little's law. Each vector is on its way for as long as its chain takes. Beside it are as many others
  // as the window has room for, or as code goes through at once.
  cycles.window = arithmetic.steps * unit.fma_latency / std::max(unroll, target.window / instructions);
  return cycles;
}

namespace {

// Calls part(cost, times) for each kind of part of the work: a row; or a block of columns with all its rows.
template <typename Part>
void ForParts(const RowProgram& program, const RowSchedule& schedule, int64_t rows, int64_t columns,
              const RowLevels& levels, const Target& target, const Part& part) {
  if (!program.reduces_rows)
    return part(RowCost(program, schedule, columns, false, levels, target), static_cast<double>(rows));
  const int64_t block = schedule.lanes * int64_t{schedule.unroll.empty() ? 1 : schedule.unroll.front()};
  // Columns that are reduced go in blocks as wide as the vectors at once; the last block may be narrower.
  const auto of_block = [&](int64_t width, int64_t times) {
    const int64_t elements = rows * ((width + schedule.lanes - 1) / schedule.lanes) * schedule.lanes;
    if (width > 0 && times > 0)
      part(RowCost(program, schedule, elements, columns > block, levels, target), static_cast<double>(times));
  };
  of_block(block, columns / block);
  of_block(columns % block, 1);
}

// True if a row's last store has a mask that reaches into the row behind it, which is not read yet.
bool MasksReachNextRow(const RowProgram& program, const RowSchedule& schedule, int64_t columns,
                       const RowLevels& levels) {
  const int64_t whole = (columns + schedule.lanes - 1) / schedule.lanes * schedule.lanes;
  return !program.reduces_rows && whole > columns && levels.in_place_stride > 0 &&
         whole > levels.in_place_stride;
}

}  // namespace

double RowCycles(const RowProgram& program, const RowSchedule& schedule, int64_t rows, int64_t columns,
                 const RowLevels& levels, const Target& target) {
  double cycles = 0;
  ForParts(program, schedule, rows, columns, levels, target,
           [&](const RowCost& cost, double times) { cycles += times * cost.CyclesOfRow(); });
  if (MasksReachNextRow(program, schedule, columns, levels))
    cycles += static_cast<double>(rows - 1) * kNextRowBehindMask;
  return cycles + target.microkernel_cycles;
}

Traffic RowTraffic(const RowProgram& program, const RowSchedule& schedule, int64_t rows, int64_t columns,
                   const RowLevels& levels, const Target& target) {
  Traffic traffic;
  ForParts(program, schedule, rows, columns, levels, target,
           [&](const RowCost& cost, double times) { traffic.Add(cost.TrafficOfRow(), times); });
  return traffic;
}

}  // namespace kirsch
