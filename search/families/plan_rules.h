// SPDX-License-Identifier: Apache-2.0
// Searches for plans of a family's members, and makes rules of them (symbolic_plan.h).
#ifndef KIRSCH_SEARCH_FAMILIES_PLAN_RULES_H_
#define KIRSCH_SEARCH_FAMILIES_PLAN_RULES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "search/families/plan_regions.h"
#include "search/families/symbolic_plan.h"

namespace kirsch {

// Finds rules for one family. FindPlanRegions decides which members to ask about.
class PlanRuleFinder {
 public:
  using Rules = std::vector<std::unique_ptr<SymbolicPlan>>;

  // `members` must outlive this.
  explicit PlanRuleFinder(const PlanMembers& members) : members_(members) {}

  // Returns rules made of the plan for these sizes, if it costs less than the cutoff; none if there is no
  // such plan. Of keys, the plan works for all at once, or for blocks, and for what these leave at once.
  // `placement`: where operands are, which may be elsewhere than the sizes' own would be.
  absl::StatusOr<Rules> Find(const SymbolValues& sizes, Level placement, double cutoff) const;

  // Returns rules for members that no other rule serves. Of keys, the plan works for blocks, and for halves
  // of what these leave.
  absl::StatusOr<Rules> FindOthers(const SymbolValues& sizes, Level placement) const;

  // The size to search for instead of this one: near it, and no larger.
  int64_t Representative(SizeSymbol symbol, int64_t size) const;
  // The number of keys to search for instead: near it, and no smaller.
  int64_t NextRepresentative(int64_t keys) const;

 private:
  SymbolValues PointAt(size_t i) const;
  bool Varies(SizeSymbol symbol) const { return members_.number(symbol) != nullptr; }
  absl::StatusOr<Rules> Search(SymbolValues sizes, Level placement, KeyUse keys, double cutoff) const;
  std::optional<Graph> WithOtherKeys(SymbolValues sizes) const;
  std::optional<Plan> WithRowSymbol(Plan plan, const SymbolValues& sizes) const;
  void AddRules(const Plan& plan, const std::optional<Plan>& with_rows, const SymbolValues& sizes,
                const SymbolicScheduleOptions& choice, Rules* rules) const;

  const PlanMembers& members_;
};

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_FAMILIES_PLAN_RULES_H_
