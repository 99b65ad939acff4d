// SPDX-License-Identifier: Apache-2.0
// A plan as a rule for other numbers of rows.
#ifndef KIRSCH_SEARCH_FAMILIES_ROW_COUNT_SCHEDULE_H_
#define KIRSCH_SEARCH_FAMILIES_ROW_COUNT_SCHEDULE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include "cost/cost_model.h"
#include "search/families/plan_regions.h"
#include "search/families/symbolic_schedule.h"
#include "spec/graph/graph.h"
#include "spec/program/plan.h"

namespace kirsch {

// Loop nests do as often what they do for a tile as there are tiles of the rows, which grow in proportion to
// the size; what is left is treated like a whole tile, and so is a tile that is all rows: of contractions as
// SymbolicSchedule says, row programs go over as many rows as there are. Operands are where those of the
// plan's member were. Not thread-safe.
class RowCountSchedule : public PlanRule {
 public:
  // `plan` is for a member of this size, `other` another member, in its canonical form, which the same
  // decisions are taken for: what grows in proportion from one to the other is a number of rows, or how far
  // items with as many rows are apart. Null: something else differs, or what grows is not known to.
  static std::unique_ptr<RowCountSchedule> Create(Plan plan, int64_t size, const Graph& other,
                                                  int64_t other_size, const CostModel& model);

  int64_t most() const override { return size_; }
  double CyclesFor(int64_t size) override;
  std::optional<Plan> ApplyToRange(int64_t least, int64_t most) override;

 private:
  RowCountSchedule(Plan plan, int64_t size, const CostModel& model)
      : plan_(std::move(plan)), size_(size), model_(model) {}

  bool FindGrowth(const Graph& other, int64_t other_size);
  void AddTemplates();
  double StageCycles(const Stage& stage, int64_t rows);
  std::optional<Impl> RangeOf(const Stage& stage, int64_t least, int64_t most);
  int64_t Grown(int64_t planned, int64_t size) const { return planned / size_ * size; }

  Plan plan_;
  const int64_t size_;
  const CostModel& model_;
  std::map<const Stage*, std::unique_ptr<SymbolicSchedule>> contractions_;  // of any number of rows
};

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_FAMILIES_ROW_COUNT_SCHEDULE_H_
