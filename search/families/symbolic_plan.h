// SPDX-License-Identifier: Apache-2.0
// Makes a rule of a plan: it prices and applies the plan's decisions for other numbers of rows, of keys, of
// rows and keys, or of rows and columns.
#ifndef KIRSCH_SEARCH_FAMILIES_SYMBOLIC_PLAN_H_
#define KIRSCH_SEARCH_FAMILIES_SYMBOLIC_PLAN_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <tuple>

#include "cost/cost_model.h"
#include "search/families/size_rule.h"
#include "spec/program/plan.h"

namespace kirsch {

// The sizes of a member of a family of graphs; 0: that number does not vary.
struct PlanPoint {
  int64_t rows = 0, keys = 0, columns = 0;

  int64_t& at(PlanSizeKind kind) {
    return kind == PlanSizeKind::kRows ? rows : kind == PlanSizeKind::kKeys ? keys : columns;
  }
  int64_t at(PlanSizeKind kind) const { return PlanPoint(*this).at(kind); }
};

// A plan as a rule. Operands must be where those of the plan's member were. Not thread-safe.
// - Rows: a loop nest runs a tile as often as there are whole tiles of the rows, which grow in proportion.
//   The rows that are left are treated like a whole tile. A tile that is all rows stays all rows.
// - Keys: stages for blocks are repeated as often as there are such blocks. Stages for keys at once do the
//   same for fewer keys than those searched for.
// - Contractions of any number of rows or keys are as SizeRule says. Row programs go over as many rows, or
//   columns, as there are.
class SymbolicPlan {
 public:
  // `plan`: of a member with `planned` sizes. If these have keys, it must have been searched for any number
  // of them (PlanOptions::other_keys). `any_rows`: what grows is marked (MarkGrowth); else the rule is for
  // `planned.rows` and `planned.columns` only. `choice`: for contractions that have the keys as their
  // columns. `model` must outlive this.
  SymbolicPlan(Plan plan, const PlanPoint& planned, bool any_rows, const CostModel& model,
               const SymbolicScheduleOptions& choice = {});
  SymbolicPlan(const SymbolicPlan&) = delete;

  // True if some contraction has the keys as its columns, and divides them so that some are left.
  bool LeavesColumns() const;

  // The least and the largest sizes that the rule is for.
  PlanPoint least() const {
    return {any_rows_ ? 1 : planned_.rows, planned_.keys == 0 ? 0 : 1,
            any_rows_ && planned_.columns != 0 ? 1 : planned_.columns};
  }
  PlanPoint most() const { return {planned_.rows, most_keys_, planned_.columns}; }

  // The predicted cycles of the plan for these sizes; infinity if it is not for them.
  double CyclesFor(const PlanPoint& sizes);

  // The plan for all sizes in the box. Its `graph`, and names and ends of its `sizes`, are left to the
  // caller. Nothing if there is no code for one of its programs.
  std::optional<Plan> ApplyToRange(const PlanPoint& least, const PlanPoint& most);

 private:
  void AddRule(const Stage& stage, const SymbolicScheduleOptions& choice);
  bool GrowsAlongRows(const Stage& stage) const {
    return any_rows_ && (stage.any_rows || stage.any_columns || stage.columns_grow);
  }
  int64_t Grown(int64_t planned, int64_t rows) const {
    return any_rows_ ? planned / planned_.rows * rows : planned;
  }
  // The columns of a row program that grow (Stage::columns_grow).
  int64_t GrownColumns(const Stage& stage, const PlanPoint& sizes) const {
    return planned_.columns == 0 ? Grown(stage.columns, sizes.rows)
                                 : stage.columns / planned_.columns * sizes.columns;
  }
  Spec SpecOf(const Stage& stage, int64_t rows, int64_t keys) const;
  double RunCycles(const Stage& stage, int64_t rows, int64_t keys);
  double StageCycles(const Stage& stage, int64_t block, int64_t rows, const PlanPoint& sizes);
  double NestCycles(const LoopNest& nest, const PlanPoint& sizes);

  const Plan plan_;
  const PlanPoint planned_;
  const bool any_rows_;
  const CostModel& model_;
  int64_t most_keys_;
  std::map<const Stage*, std::unique_ptr<SizeRule>> rules_;  // of contractions of any rows or keys
  std::map<std::tuple<const Stage*, int64_t, int64_t>, double> run_cycles_;
};

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_FAMILIES_SYMBOLIC_PLAN_H_
