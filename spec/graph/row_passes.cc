// SPDX-License-Identifier: Apache-2.0
#include "spec/graph/row_passes.h"

#include <algorithm>
#include <numeric>

#include "spec/check.h"
#include "spec/element.h"

namespace kirsch {
namespace {

// f32 elements of a cache line.
constexpr int64_t kLineElements = 16;

const RowValue& ValueAt(const RowProgram& program, int value) {
  return program.values[static_cast<size_t>(value)];
}

const RowInput& InputOf(const RowProgram& program, const RowValue& load) {
  return program.inputs[static_cast<size_t>(load.input)];
}

// For each value whether there is one for the whole row. Loads say so themselves, reductions always are, and
// any other value is if all its arguments are.
std::vector<bool> PerRow(const RowProgram& program) {
  std::vector<bool> per_row;
  for (const RowValue& value : program.values) {
    const auto is_per_row = [&](int v) { return v < 0 || per_row[static_cast<size_t>(v)]; };
    if (value.op == Operation::kLoad)
      per_row.push_back(program.reduces_rows ? !InputOf(program, value).along_rows
                                             : !InputOf(program, value).along_columns);
    else
      per_row.push_back(Info(value.op).reduces || (value.op != Operation::kIndex && is_per_row(value.a) &&
                                                   is_per_row(value.b) && is_per_row(value.c)));
  }
  return per_row;
}

// For each value the first pass in which it can be computed; for reductions, the first that can use it.
std::vector<int> Stages(const RowProgram& program, const std::optional<OnlineSum>& online) {
  std::vector<int> stages;
  const auto stage_of = [&](int v) { return v < 0 ? 0 : stages[static_cast<size_t>(v)]; };
  for (const RowValue& value : program.values) {
    // The online sum does not wait for its maximum to be finished: it has the maximum's stage, so one pass
    // finds both.
    const bool with_maximum = online && static_cast<int>(stages.size()) == online->sum;
    stages.push_back(with_maximum ? stage_of(online->maximum)
                                  // A reduction can be used one pass after its argument is complete.
                                  : std::max({stage_of(value.a), stage_of(value.b), stage_of(value.c)}) +
                                        (Info(value.op).reduces ? 1 : 0));
  }
  return stages;
}

// Turns values into passes. Each pass is planned backwards from what it must deliver: results that are stored
// in it, reductions that it finishes, and values that it keeps for later.
class Planner {
 public:
  Planner(const RowProgram& program, const RowSchedule& schedule) : program_(program), schedule_(schedule) {
    if (schedule.online) plan_.online = FindOnlineSum(program);
    plan_.per_row = PerRow(program);
    stages_ = Stages(program, plan_.online);
  }

  RowPasses Plan() && {
    // First leave out what no result depends on; a pass for it would be wasted.
    FindNeeded();
    plan_.passes.resize(CountPasses());
    plan_.row_values.resize(plan_.passes.size() + 1);
    plan_.row_results.resize(plan_.passes.size() + 1);
    // Values and results that are one for the row belong to no pass, but before the pass whose number is
    // their stage.
    for (int v = 0; v < count(); ++v)
      if (needed_[At(v)] && plan_.per_row[At(v)] && !Info(ValueAt(program_, v).op).reduces)
        plan_.row_values[At(stages_[At(v)])].push_back(v);
    for (size_t result = 0; result < program_.results.size(); ++result) {
      const int v = program_.results[result].value;
      if (plan_.per_row[At(v)]) plan_.row_results[At(stages_[At(v)])].push_back(static_cast<int>(result));
    }
    for (size_t pass = 0; pass < plan_.passes.size(); ++pass) PlanPass(static_cast<int>(pass));
    return std::move(plan_);
  }

 private:
  static size_t At(int value) { return static_cast<size_t>(value); }
  int count() const { return static_cast<int>(program_.values.size()); }

  // Marks the values that a stored value is computed from. The online sum needs only its maximum: that
  // computes the exponentials itself, so they need no place in a pass.
  void FindNeeded() {
    needed_.assign(program_.values.size(), false);
    // Arguments have lower numbers, so one walk from the last value to the first reaches all.
    for (const RowResult& result : program_.results) needed_[At(result.value)] = true;
    for (int v = count() - 1; v >= 0; --v) {
      if (!needed_[At(v)]) continue;
      if (plan_.online && v == plan_.online->sum) {
        needed_[At(plan_.online->maximum)] = true;
        continue;
      }
      const RowOperands operands = OperandsOf(program_, v);
      for (int i = 0; i < operands.count; ++i) needed_[At(operands.values[static_cast<size_t>(i)])] = true;
    }
  }

  // There are passes up to the last reduction, and up to the last result with an element for each column.
  size_t CountPasses() const {
    int passes = 0;
    for (int v = 0; v < count(); ++v) {
      if (!needed_[At(v)]) continue;
      const bool reduces = Info(ValueAt(program_, v).op).reduces;
      if (reduces) passes = std::max(passes, stages_[At(v)]);
      if (!plan_.per_row[At(v)] && IsResult(v)) passes = std::max(passes, stages_[At(v)] + 1);
    }
    return At(passes);
  }
  bool IsResult(int v) const {
    return std::ranges::any_of(program_.results, [&](const RowResult& result) { return result.value == v; });
  }
  bool IsOnline(int v) const {
    return plan_.online && (v == plan_.online->maximum || v == plan_.online->sum);
  }

  // Fills in the lists of one pass.
  void PlanPass(int number) {
    RowPass& pass = plan_.passes[At(number)];
    std::vector<bool> wanted(program_.values.size(), false);
    const auto want = [&](int v) { wanted[At(v)] = true; };
    const auto want_operands = [&](int v) {
      const RowOperands operands = OperandsOf(program_, v);
      for (int i = 0; i < operands.count; ++i) want(operands.values[static_cast<size_t>(i)]);
    };
    // The pass delivers the results whose stage this is.
    for (size_t result = 0; result < program_.results.size(); ++result) {
      const int v = program_.results[result].value;
      if (plan_.per_row[At(v)] || stages_[At(v)] != number) continue;
      pass.results.push_back(static_cast<int>(result));
      want(v);
    }
    // It also delivers reductions for later passes, and values that are kept for these.
    for (int v = 0; v < count(); ++v) {
      if (!needed_[At(v)]) continue;
      if (Info(ValueAt(program_, v).op).reduces && stages_[At(v)] == number + 1) {
        if (IsOnline(v)) {
          pass.online = true;
          want(plan_.online->a);
        } else {
          pass.reductions.push_back(v);
          want_operands(v);
        }
      } else if (schedule_.KeptAt(v) != RowSchedule::kRecomputed && stages_[At(v)] == number) {
        KIRSCH_CHECK(!plan_.per_row[At(v)]);
        pass.kept.push_back(v);
        want(v);
      }
    }
    // Finds the values that this takes, from the last one to the first. A value that an earlier pass kept is
    // read; all others are computed again in this pass.
    for (int v = count() - 1; v >= 0; --v) {
      if (!wanted[At(v)] || plan_.per_row[At(v)]) continue;
      if (schedule_.KeptAt(v) != RowSchedule::kRecomputed && stages_[At(v)] < number) {
        pass.read.push_back(v);
      } else {
        pass.computed.push_back(v);
        want_operands(v);
      }
    }
    // The walk went backwards; code needs them in order.
    std::ranges::reverse(pass.read);
    std::ranges::reverse(pass.computed);
  }

  const RowProgram& program_;
  const RowSchedule& schedule_;
  RowPasses plan_;
  std::vector<int> stages_;
  std::vector<bool> needed_;
};

// If `value` is max(the least number, x), this is x; else `value` itself. An online maximum begins with the
// least number, so this bound makes no difference to it.
int BoundedBelow(const RowProgram& program, int value) {
  const RowValue& v = ValueAt(program, value);
  const bool bounded = v.op == Operation::kMaxNum && ValueAt(program, v.a).op == Operation::kNumber &&
                       ValueAt(program, v.a).number == -PrecisionOf(RealOf(program)).most;
  return bounded ? v.b : value;
}

}  // namespace

// Looks for the pattern from its end: sum <- exp <- sub <- a and maximum(a).
std::optional<OnlineSum> FindOnlineSum(const RowProgram& program) {
  for (int sum = 0; sum < static_cast<int>(program.values.size()); ++sum) {
    if (ValueAt(program, sum).op != Operation::kSum) continue;
    const int exp = ValueAt(program, sum).a;
    if (ValueAt(program, exp).op != Operation::kExp) continue;
    const int difference = ValueAt(program, exp).a;
    if (ValueAt(program, difference).op != Operation::kSub) continue;
    const int a = ValueAt(program, difference).a;
    const int maximum = BoundedBelow(program, ValueAt(program, difference).b);
    if (ValueAt(program, maximum).op == Operation::kMaximum && ValueAt(program, maximum).a == a &&
        // (A difference that absorbed a product is another operation.)
        OperandsOf(program, difference).product < 0)
      return OnlineSum{a, maximum, difference, exp, sum};
  }
  return std::nullopt;
}

namespace {

// Operations that can absorb a product as a multiply-add.
bool TakesProducts(const RowValue& value) {
  return IsFloating(value.type) &&
         (value.op == Operation::kAdd || value.op == Operation::kSub || value.op == Operation::kSum);
}

// How often a value is read or stored.
std::ptrdiff_t UsesOf(const RowProgram& program, int value) {
  std::ptrdiff_t uses = std::ranges::count(program.results, value, &RowResult::value);
  for (const RowValue& v : program.values)
    uses += (v.a == value ? 1 : 0) + (v.b == value ? 1 : 0) + (v.c == value ? 1 : 0);
  return uses;
}

}  // namespace

bool IsSharedProduct(const RowProgram& program, int value) {
  return ValueAt(program, value).op == Operation::kMul && UsesOf(program, value) > 1 &&
         std::ranges::any_of(program.values, [&](const RowValue& v) {
           return TakesProducts(v) && (v.a == value || v.b == value);
         });
}

RowOperands OperandsOf(const RowProgram& program, int value) {
  const RowValue& v = ValueAt(program, value);
  const auto is_product = [&](int operand) {
    return operand >= 0 && ValueAt(program, operand).op == Operation::kMul && UsesOf(program, operand) == 1;
  };
  RowOperands operands;
  const auto add = [&](int operand) {
    if (operand >= 0) operands.values[static_cast<size_t>(operands.count++)] = operand;
  };
  // At most one product is absorbed, the first argument's if both are products.
  const bool sums = TakesProducts(v);
  if (sums && is_product(v.a)) operands.product = v.a;
  if (sums && operands.product < 0 && is_product(v.b)) operands.product = v.b;
  if (operands.product < 0) {
    add(v.a);
    add(v.b);
    add(v.c);
    return operands;
  }
  add(ValueAt(program, operands.product).a);
  add(ValueAt(program, operands.product).b);
  add(operands.product == v.a ? v.b : v.a);
  return operands;
}

std::vector<int> ComputedValues(const RowProgram& program) {
  std::vector<int> values(program.values.size());
  std::iota(values.begin(), values.end(), 0);
  for (int value = 0; value < static_cast<int>(program.values.size()); ++value)
    std::erase(values, OperandsOf(program, value).product);
  return values;
}

RowPasses FindPasses(const RowProgram& program, const RowSchedule& schedule) {
  return Planner(program, schedule).Plan();
}

namespace {

bool Has(const std::vector<int>& list, int item) { return std::ranges::find(list, item) != list.end(); }

// True if `value` can stay in the place of `result` from the pass that computes it to the pass that reads it
// last.
bool CanBeKeptAt(const RowProgram& program, const RowPasses& plan, int value, int result) {
  const RowResult& info = program.results[static_cast<size_t>(result)];
  if (info.dtype != RealOf(program) || plan.per_row[static_cast<size_t>(info.value)]) return false;
  // The passes in order: the value may be neither kept nor read once the result has been stored over it.
  bool kept = false, stored = false;
  for (const RowPass& pass : plan.passes) {
    if (stored && (Has(pass.kept, value) || Has(pass.read, value))) return false;
    // Within one pass, the value and the result would overwrite each other.
    if (Has(pass.kept, value) && Has(pass.results, result)) return false;
    kept |= Has(pass.kept, value);
    stored |= Has(pass.results, result);
  }
  return kept && stored;
}

// True if the result can be stored past the caches. Elements near the ends of a row may then be computed
// twice, so whatever they are computed from must still be there, and nothing may be added up twice.
bool CanBeStreamed(const RowProgram& program, const RowSchedule& schedule, const RowPasses& plan) {
  const RowResult& result = program.results[static_cast<size_t>(schedule.streamed)];
  // Lines are counted in words.
  if (result.dtype != ValueAt(program, result.value).type || Bytes(result.dtype) != kWordBytes ||
      plan.per_row[static_cast<size_t>(result.value)])
    return false;
  const RowPass& pass =
      *std::ranges::find_if(plan.passes, [&](const RowPass& p) { return Has(p.results, schedule.streamed); });
  return pass.reductions.empty() && !pass.online &&
         std::ranges::none_of(pass.read, [&](int v) { return Has(pass.results, schedule.KeptAt(v)); });
}

// True if reductions down the columns can use the schedule. All passes go over the same columns, so they need
// the same unrolling, and nothing can be kept in a scratch row.
bool CanReduceRows(const RowSchedule& schedule) {
  return !schedule.online && schedule.streamed == RowSchedule::kNone && schedule.prefetch == 0 &&
         !Has(schedule.kept, RowSchedule::kInScratch) &&
         std::ranges::adjacent_find(schedule.unroll, std::not_equal_to<>()) == schedule.unroll.end();
}

}  // namespace

bool IsSound(const RowProgram& program, const RowSchedule& schedule) {
  // Nothing but floats can be kept.
  const std::vector<bool> per_row = PerRow(program);
  for (size_t value = 0; value < schedule.kept.size(); ++value)
    if (schedule.kept[value] != RowSchedule::kRecomputed &&
        (per_row[value] || !IsFloating(program.values[value].type)))
      return false;
  // The schedule fits the program's passes, and any special form is one that this program allows.
  const RowPasses plan = FindPasses(program, schedule);
  if (schedule.unroll.size() != plan.passes.size() || (schedule.online && !plan.online)) return false;
  if (program.reduces_rows && !CanReduceRows(schedule)) return false;
  if (schedule.streamed != RowSchedule::kNone && !CanBeStreamed(program, schedule, plan)) return false;
  // No two values are kept in the place of one result.
  std::vector<bool> taken(program.results.size(), false);
  for (size_t value = 0; value < schedule.kept.size(); ++value) {
    const int at = schedule.kept[value];
    if (at < 0) continue;
    if (taken[static_cast<size_t>(at)] || !CanBeKeptAt(program, plan, static_cast<int>(value), at))
      return false;
    taken[static_cast<size_t>(at)] = true;
  }
  return true;
}

bool MayBeInPlace(const RowProgram& program, const RowSchedule& schedule, int result, int input) {
  // A streamed result computes elements twice, from inputs that it would have overwritten.
  if (schedule.streamed != RowSchedule::kNone) return false;
  // Did an earlier pass store anything in the result's place: the result, or a value that is kept there?
  bool stored = false;
  for (const RowPass& pass : FindPasses(program, schedule).passes) {
    const auto reads = [&](int v) {
      return ValueAt(program, v).op == Operation::kLoad && ValueAt(program, v).input == input;
    };
    if (stored && std::ranges::any_of(pass.computed, reads)) return false;
    const auto is_there = [&](int v) { return schedule.KeptAt(v) == result; };
    stored |= std::ranges::any_of(pass.kept, is_there) ||
              std::ranges::find(pass.results, result) != pass.results.end();
  }
  return true;
}

int64_t ScratchOffset(const RowSchedule& schedule, int value, int64_t columns) {
  const auto end = schedule.kept.begin() + std::min<std::ptrdiff_t>(value, std::ssize(schedule.kept));
  const int64_t before = std::count(schedule.kept.begin(), end, RowSchedule::kInScratch);
  // Whole lines, so that each kept value begins on one.
  return before * ((columns + kLineElements - 1) / kLineElements * kLineElements);
}

int64_t ScratchElements(const RowSchedule& schedule, int64_t columns) {
  return ScratchOffset(schedule, static_cast<int>(schedule.kept.size()), columns);
}

}  // namespace kirsch
