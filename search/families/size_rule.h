// SPDX-License-Identifier: Apache-2.0
// Makes a rule for programs of other sizes from the decisions of one program. The sizes may differ along one
// dim, or along several.
#ifndef KIRSCH_SEARCH_FAMILIES_SIZE_RULE_H_
#define KIRSCH_SEARCH_FAMILIES_SIZE_RULE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "cost/cost_model.h"
#include "memo/spec_hash.h"
#include "search/families/symbolic_schedule.h"
#include "spec/impl.h"
#include "spec/spec.h"

namespace kirsch {

// Goes through the dims, one after the other. Example, of columns and rows: SymbolicSchedule turns decisions
// into decisions for another number of columns. A second one continues with these: for any number of rows,
// with register tiles as high as suits these columns. Not thread-safe.
class SizeRule {
 public:
  // `dims`: one of M, N and K; or N and then M; or M and then K. `model` must outlive this.
  SizeRule(Impl program, std::vector<size_t> dims, const CostModel& model,
           const SymbolicScheduleOptions& options = {});

  const Impl& program() const { return first_.program(); }
  const SymbolicScheduleOptions& options() const { return options_; }

  // These are as SymbolicSchedule's. The root may differ from the program's in its sizes along the dims.
  Cost Price(const Spec& placed_root);
  TileHeights HeightsOf(const Spec& placed_root);
  Impl Apply(const Spec& placed_root);

  // One program for all roots with sizes from those of `least` to those of `most`. Nothing if there is no
  // code for it.
  std::optional<Impl> ApplyToRange(const Spec& least, const Spec& most);

 private:
  bool single() const { return dims_.size() == 1; }
  Spec AlongFirst(const Spec& root) const;
  SizeRule& Rest(const Spec& along_first);
  SizeRule MakeRest(Impl program) const;

  const std::vector<size_t> dims_;
  const CostModel& model_;
  const SymbolicScheduleOptions options_;
  SymbolicSchedule first_;  // along the first dim
  // Of the others: for the program of each root along the first one that was asked for.
  std::unordered_map<Spec, std::unique_ptr<SizeRule>, SpecHash> rest_;
};

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_FAMILIES_SIZE_RULE_H_
