// SPDX-License-Identifier: Apache-2.0
#include "rewrites/graph/row_schedules.h"

#include <algorithm>

#include "spec/graph/row_passes.h"
#include "spec/microkernel.h"

namespace kirsch {
namespace {

// At most so many values may be kept by a schedule: each multiplies the number of schedules.
constexpr size_t kMostKept = 2;

// Returns values that several passes compute and that something else needs than other such values. Values
// that lead up to such a one need not be kept beside it. The last ones are looked at first.
std::vector<int> WorthKeeping(const RowProgram& program, const RowPasses& plan) {
  std::vector<int> passes(program.values.size(), 0);
  for (const RowPass& pass : plan.passes)
    for (int v : pass.computed) ++passes[static_cast<size_t>(v)];
  // A value that more than one pass computes. Loads and numbers cost little to repeat.
  const auto is_shared = [&](int v) {
    const Operation op = program.values[static_cast<size_t>(v)].op;
    return passes[static_cast<size_t>(v)] > 1 && op != Operation::kLoad && op != Operation::kNumber;
  };
  std::vector<bool> used_elsewhere(program.values.size(), false);
  for (int v = 0; v < static_cast<int>(program.values.size()); ++v) {
    const RowOperands operands = OperandsOf(program, v);
    for (int i = 0; i < operands.count && !is_shared(v); ++i)
      used_elsewhere[static_cast<size_t>(operands.values[static_cast<size_t>(i)])] = true;
  }
  for (const RowResult& result : program.results) used_elsewhere[static_cast<size_t>(result.value)] = true;
  std::vector<int> worth;
  for (int v = static_cast<int>(program.values.size()) - 1; v >= 0 && worth.size() < kMostKept; --v)
    if (is_shared(v) && used_elsewhere[static_cast<size_t>(v)]) worth.push_back(v);
  return worth;
}

// Returns how many vectors each pass takes at once. Simple passes are bound by their loads and by the latency
// of what they accumulate, so several at once pay. Others are bound by arithmetic. Few registers halve it.
std::vector<int> Unrolled(const RowProgram& program, const RowPasses& plan, const VectorUnit& unit,
                          int64_t columns, bool more) {
  constexpr int kManyRegisters = 32;
  const bool many = unit.registers >= kManyRegisters;
  const int lanes = unit.lanes(RealOf(program));
  const int64_t vectors = (columns + lanes - 1) / lanes;
  std::vector<int> unroll;
  for (const RowPass& pass : plan.passes) {
    const bool heavy = std::ranges::any_of(
        pass.computed, [&](int v) { return IsComposed(program.values[static_cast<size_t>(v)].op); });
    int64_t factor = heavy ? (more ? 4 : 1) : (more ? 8 : 4);
    if (pass.online) factor = more ? 8 : 4;
    if (!many) factor = std::max<int64_t>(1, factor / 2);
    unroll.push_back(static_cast<int>(std::min(factor, vectors)));
  }
  return unroll;
}

// True if the maximum and the sum of a softmax can be found in one pass along the row.
bool HasOnline(const RowProgram& program) {
  return !program.reduces_rows && FindOnlineSum(program).has_value();
}

class Enumerator {
 public:
  // `prefetch`: bytes that lines are asked for ahead, where a schedule prefetches.
  Enumerator(const RowProgram& program, int64_t columns, int prefetch)
      : program_(program), columns_(columns), prefetch_(prefetch) {}

  // Adds the schedules with vectors of this unit, for all ways to keep values.
  void Add(const VectorUnit& unit, bool online) {
    RowSchedule schedule;
    schedule.lanes = unit.lanes(RealOf(program_));
    schedule.online = online;
    const std::vector<int> worth = WorthKeeping(program_, FindPasses(program_, schedule));
    if (!worth.empty()) schedule.kept.assign(program_.values.size(), RowSchedule::kRecomputed);
    Keep(unit, worth, 0, schedule);
  }

  std::vector<RowSchedule> Take() && { return std::move(schedules_); }

 private:
  // Tries each way to keep worth[next] and those after it: computed again, in the place of a result, or in
  // scratch.
  void Keep(const VectorUnit& unit, const std::vector<int>& worth, size_t next, const RowSchedule& so_far) {
    if (next == worth.size()) return Finish(unit, so_far);
    RowSchedule schedule = so_far;
    const auto keep_at = [&](int at) {
      schedule.kept[static_cast<size_t>(worth[next])] = at;
      Keep(unit, worth, next + 1, schedule);
    };
    keep_at(RowSchedule::kRecomputed);
    for (int result = 0; result < static_cast<int>(program_.results.size()); ++result) keep_at(result);
    keep_at(RowSchedule::kInScratch);
  }
  // Adds the schedule with few and with many vectors at once. What goes down the columns has one block of
  // columns for all passes, so these take as many vectors as the one with the fewest.
  void Finish(const VectorUnit& unit, RowSchedule schedule) {
    const RowPasses plan = FindPasses(program_, schedule);
    for (bool more : {true, false}) {
      schedule.unroll = Unrolled(program_, plan, unit, columns_, more);
      if (program_.reduces_rows && !schedule.unroll.empty())
        schedule.unroll.assign(schedule.unroll.size(), *std::ranges::min_element(schedule.unroll));
      AddIfNew(schedule);
      if (more && schedule.lanes == schedules_.front().lanes) FromFarAway(schedule);
    }
  }
  // Adds schedules for rows from RAM: with prefetches, and with a result past the caches or none. The width
  // of vectors matters little then, and nobody wants to keep values beside results that leave the caches.
  void FromFarAway(RowSchedule schedule) {
    if (std::ranges::any_of(schedule.kept, [](int at) { return at >= 0; })) return;
    schedule.prefetch = prefetch_;
    for (int result = RowSchedule::kNone; result < static_cast<int>(program_.results.size()); ++result) {
      schedule.streamed = result;
      AddIfNew(schedule);
    }
  }
  // Different ways may end in the same schedule; and a value that is kept where it is overwritten too soon is
  // unsound.
  void AddIfNew(const RowSchedule& schedule) {
    const bool is_new = std::ranges::find(schedules_, schedule) == schedules_.end();
    if (is_new && IsSound(program_, schedule)) schedules_.push_back(schedule);
  }

  const RowProgram& program_;
  const int64_t columns_;
  const int prefetch_;
  std::vector<RowSchedule> schedules_;
};

}  // namespace

namespace {

// The fewest lanes of a vector. What f64 is made of, or becomes, has to fill 16 bytes, too, as f32.
int LeastLanes(const RowProgram& program) {
  const Dtype real = RealOf(program);
  const auto is_narrow = [&](const auto& operand) { return Bytes(operand.dtype) < Bytes(real); };
  const bool narrows = real == Dtype::kF64 && (std::ranges::any_of(program.inputs, is_narrow) ||
                                               std::ranges::any_of(program.results, is_narrow));
  constexpr int kLeastBytes = 16;
  return kLeastBytes / (narrows ? kWordBytes : Bytes(real));
}

}  // namespace

std::vector<RowSchedule> EnumerateRowSchedules(const RowProgram& program, int64_t columns,
                                               const Target& target) {
  Enumerator enumerator(program, columns, target.at(Level::kRam).prefetch_lines * target.line_bytes);
  const bool has_online = HasOnline(program);
  for (const VectorUnit& unit : target.vectors) {
    const int lanes = unit.lanes(RealOf(program)), least = LeastLanes(program);
    const bool narrowest = &unit == &target.vectors.back() || lanes == least;
    if (lanes < least || (!narrowest && columns <= lanes / 2)) continue;  // the next one has lanes enough
    enumerator.Add(unit, false);
    if (has_online) enumerator.Add(unit, true);
  }
  return std::move(enumerator).Take();
}

// Any target will do: whether a schedule may work in place does not depend on it.
bool MayReplace(const RowProgram& program, int result, int input) {
  VectorUnit unit;
  unit.bytes = 64;
  Enumerator enumerator(program, unit.lanes(RealOf(program)), 0);
  enumerator.Add(unit, false);
  if (HasOnline(program)) enumerator.Add(unit, true);
  const std::vector<RowSchedule> schedules = std::move(enumerator).Take();
  return std::ranges::any_of(
      schedules, [&](const RowSchedule& schedule) { return MayBeInPlace(program, schedule, result, input); });
}

bool ColumnsMayVary(const RowProgram& program, const Target& target) {
  const auto may_vary = [&](const auto& operand) { return LanesMayVary(operand.dtype, target); };
  // Code that takes the rows that another input chooses knows how far they are apart.
  const auto is_chosen = [](const RowInput& input) { return input.row_from >= 0; };
  return std::ranges::none_of(program.inputs, is_chosen) && std::ranges::all_of(program.inputs, may_vary) &&
         std::ranges::all_of(program.results, may_vary);
}

}  // namespace kirsch
