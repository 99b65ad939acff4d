// SPDX-License-Identifier: Apache-2.0
// Makes a rule of a plan: it prices and applies the plan's decisions for other numbers of rows, of keys, of
// rows and keys, or of rows and columns.
#ifndef KIRSCH_SEARCH_FAMILIES_SYMBOLIC_PLAN_H_
#define KIRSCH_SEARCH_FAMILIES_SYMBOLIC_PLAN_H_

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "cost/cost_model.h"
#include "search/families/size_rule.h"
#include "spec/program/plan.h"

namespace kirsch {

// The symbols that a plan may have as its parameters.
inline constexpr std::array<SizeSymbol, 3> kPlanSymbols = {SizeSymbol::kRows, SizeSymbol::kKeys,
                                                           SizeSymbol::kColumns};

// A plan as a rule. Operands must be where those of the plan's member were. Not thread-safe.
// - Rows: a loop nest runs a tile as often as there are whole tiles of the rows.
//   The rows that are left are treated like a whole tile. A tile that is all rows stays all rows.
// - Keys: stages for blocks are repeated as often as there are such blocks. Stages for keys at once do the
//   same for fewer keys than those searched for.
// - Contractions of any number of rows or keys are as SizeRule says. Row programs go over as many rows, or
//   columns, as there are.
class SymbolicPlan {
 public:
  // `plan`: of a member with these values, 0 where nothing varies. Its sizes have symbols where they vary
  // (PlanOptions::other_keys, MarkGrowth); of any other symbol, the rule is for the planned value only.
  // `choice`: for contractions; how rests are treated is of columns only. `model` must outlive this.
  SymbolicPlan(Plan plan, const SymbolValues& planned, const CostModel& model,
               const SymbolicScheduleOptions& choice = {});
  SymbolicPlan(const SymbolicPlan&) = delete;

  const SymbolicScheduleOptions& choice() const { return choice_; }
  // The same plan as a rule with another choice.
  std::unique_ptr<SymbolicPlan> With(const SymbolicScheduleOptions& choice) const;

  // True if some contraction has the keys as its columns, and divides them so that some are left.
  bool LeavesColumns() const;

  // True if the values are no less, or no more, than those that the rule is for.
  bool FitsLeast(const SymbolValues& values) const;
  bool FitsMost(const SymbolValues& values) const;

  // The predicted cycles of the plan for these values; infinity if it is not for them.
  double CyclesFor(const SymbolValues& values);

  // The heights of register tiles of all programs that were priced so far.
  TileHeights heights() const { return heights_; }

  // The plan for all values in the box. Its `graph`, and names and ends of its `symbols`, are left to the
  // caller. Nothing if there is no code for one of its programs.
  std::optional<Plan> ApplyToRange(const SymbolValues& least, const SymbolValues& most);

 private:
  void AddRule(const Stage& stage);
  double RunCycles(const Stage& stage, const SymbolValues& values);
  double StageCycles(const Stage& stage, int64_t block, const SymbolValues& values);
  double NestCycles(size_t number, SymbolValues values);

  const Plan plan_;
  const SymbolValues planned_;
  const SymbolicScheduleOptions choice_;
  std::vector<LoopNest> times_;  // of each nest, what NestCycles fills in: it is asked of each member
  SymbolValues most_;
  const CostModel& model_;
  std::map<const Stage*, std::unique_ptr<SizeRule>> rules_;  // of contractions with symbols
  std::map<std::pair<const Stage*, std::array<uint32_t, kMaxDims>>, double> run_cycles_;
  TileHeights heights_ = 0;
};

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_FAMILIES_SYMBOLIC_PLAN_H_
