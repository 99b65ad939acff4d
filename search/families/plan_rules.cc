// SPDX-License-Identifier: Apache-2.0
#include "search/families/plan_rules.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "cost/cost.h"
#include "rewrites/graph/canonical_graph.h"
#include "rewrites/graph/online_attention.h"
#include "search/families/plan_growth.h"
#include "search/families/rule_costs.h"
#include "search/graph/key_nodes.h"

namespace kirsch {

absl::StatusOr<PlanRuleFinder::Rules> PlanRuleFinder::Find(const PlanPoint& sizes, double cutoff) const {
  return Search(sizes, KeyUse::kAtOnce, cutoff);
}

absl::StatusOr<PlanRuleFinder::Rules> PlanRuleFinder::FindOthers(const PlanPoint& sizes) const {
  return Search(sizes, KeyUse::kBlocks, kInfiniteCycles);
}

// Of such a number of keys all blocks leave nearly a block.
int64_t PlanRuleFinder::Representative(PlanSizeKind kind, int64_t size) const {
  if (kind == PlanSizeKind::kRows) return size;
  const int64_t block = LargestKeyBlock(members_.model.target());
  return size < block ? size : (size + 1) / block * block - 1;
}

// Null: there is none of the kind.
const SharedSize* PlanRuleFinder::SizeOf(PlanSizeKind kind) const {
  const auto found = std::find_if(members_.sizes.begin(), members_.sizes.end(),
                                  [kind](const SharedSize& size) { return size.kind == kind; });
  return found == members_.sizes.end() ? nullptr : &*found;
}

Graph PlanRuleFinder::WithOtherKeys(PlanPoint sizes) const {
  const std::vector<uint32_t>& values = SizeOf(PlanSizeKind::kKeys)->size.values;
  sizes.keys = values[sizes.keys == values[0] ? 1 : 0];
  return members_.graph_of(sizes);
}

absl::StatusOr<PlanRuleFinder::Rules> PlanRuleFinder::Search(PlanPoint sizes, KeyUse keys,
                                                             double cutoff) const {
  PlanOptions options = members_.options;
  options.cutoff = cutoff;
  options.any_rows = SizeOf(PlanSizeKind::kRows) != nullptr;
  Graph other_keys;
  if (SizeOf(PlanSizeKind::kKeys) != nullptr) {
    if (sizes.keys == 1) sizes.keys = 2;  // a matrix of one key does not show how keys lie
    other_keys = WithOtherKeys(sizes);
    options.other_keys = &other_keys;
    options.keys = keys;
  }
  absl::StatusOr<OrNoPlan<PlanResult>> answer =
      SearchPlan(members_.graph_of(sizes), members_.source, members_.model, options);
  if (!answer.ok()) return answer.status();
  auto* const result = std::get_if<PlanResult>(&*answer);
  Rules rules;
  if (result == nullptr || result->plan.nests.empty()) return rules;
  const std::optional<Plan> any_rows = ForAnyRows(result->plan, sizes);
  AddRules(result->plan, any_rows, sizes, {}, &rules);
  const bool leaves_columns =
      std::any_of(rules.begin(), rules.end(), [](const auto& rule) { return rule->LeavesColumns(); });
  if (leaves_columns) AddRules(result->plan, any_rows, sizes, {.own_rest = true}, &rules);
  return rules;
}

// A rule for any number of rows, and one for those of the plan alone if the first is much slower for these:
// rules choose register tiles themselves, which may be others than the search's.
void PlanRuleFinder::AddRules(const Plan& plan, const std::optional<Plan>& any_rows, const PlanPoint& sizes,
                              const SymbolicScheduleOptions& choice, Rules* rules) const {
  auto own = std::make_unique<SymbolicPlan>(plan, sizes, /*any_rows=*/false, members_.model, choice);
  std::unique_ptr<SymbolicPlan> any;
  if (any_rows)
    any = std::make_unique<SymbolicPlan>(*any_rows, sizes, /*any_rows=*/true, members_.model, choice);
  if (any == nullptr || any->CyclesFor(sizes) > (1 + kMostLoss) * own->CyclesFor(sizes))
    rules->push_back(std::move(own));
  if (any != nullptr) rules->push_back(std::move(any));
}

// The plan with what grows along rows marked. Nothing: their number does not vary, or the plan is no rule.
// The neighbour that it is compared with need not be a member.
std::optional<Plan> PlanRuleFinder::ForAnyRows(Plan plan, const PlanPoint& sizes) const {
  const SharedSize* const rows = SizeOf(PlanSizeKind::kRows);
  if (rows == nullptr) return std::nullopt;
  PlanPoint other = sizes;
  other.rows += sizes.rows == rows->size.values[0] ? 1 : -1;
  const std::vector<bool> of_keys =
      sizes.keys == 0 ? std::vector<bool>() : NodesOfKeys(plan.graph, CanonicalGraph(WithOtherKeys(sizes)));
  const Graph neighbour = CanonicalGraph(members_.graph_of(other));
  if (!MarkGrowth(sizes.rows, neighbour, other.rows, of_keys, members_.model.target(), &plan))
    return std::nullopt;
  return plan;
}

}  // namespace kirsch
