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
#include "search/graph/stage_cost.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

// Returns the cycles that a plan saves by storing elements of single rows past the caches, where the one for
// any number of rows does not.
double SavedByStreaming(const Plan& plan, const Plan& with_rows, const Target& target) {
  double saved = 0;
  for (size_t i = 0; i < plan.nests.size(); ++i) {
    const LoopNest& nest = plan.nests[i];
    for (size_t j = 0; j < nest.stages.size(); ++j) {
      const Stage &stage = nest.stages[j], &any = with_rows.nests[i].stages[j];
      if (any.columns.symbol() != SizeSymbol::kTileRows || any.schedule.streamed == stage.schedule.streamed)
        continue;
      Stage plain = stage;
      plain.schedule = any.schedule;
      const auto cycles = [&](const Stage& one) {
        return RowCyclesFor(one, stage.rows, stage.columns, target);
      };
      saved += nest.cycles * (cycles(plain) / cycles(stage) - 1);
    }
  }
  return saved;
}

}  // namespace

absl::StatusOr<PlanRuleFinder::Rules> PlanRuleFinder::Find(const SymbolValues& sizes, Level placement,
                                                           double cutoff) const {
  return Search(sizes, placement, KeyUse::kAtOnce, cutoff);
}

absl::StatusOr<PlanRuleFinder::Rules> PlanRuleFinder::FindOthers(const SymbolValues& sizes,
                                                                 Level placement) const {
  return Search(sizes, placement, KeyUse::kBlocks, kInfiniteCycles);
}

// Keys: one less than a multiple of the largest block, of which blocks of all sizes leave nearly a block.
// Example, of blocks of 64 keys: for 1000 keys it is 959. Rows: the size itself.
int64_t PlanRuleFinder::Representative(SizeSymbol symbol, int64_t size) const {
  if (symbol != SizeSymbol::kKeys) return size;
  const int64_t block = LargestKeyBlock(members_.model.target());
  return size < block ? size : (size + 1) / block * block - 1;
}

int64_t PlanRuleFinder::NextRepresentative(int64_t keys) const {
  const int64_t block = LargestKeyBlock(members_.model.target());
  return keys < block ? keys : (keys / block + 1) * block - 1;
}

// The numbers for value `i` of each size, or for the last one.
SymbolValues PlanRuleFinder::PointAt(size_t i) const {
  std::vector<uint32_t> values;
  for (const VaryingSize& size : members_.sizes)
    values.push_back(size.values[std::min(i, size.values.size() - 1)]);
  return members_.PointOf(values);
}

// The same member with another number of keys: the two show the search which nodes go by keys.
std::optional<Graph> PlanRuleFinder::WithOtherKeys(SymbolValues sizes) const {
  const int64_t least = PointAt(0)[SizeSymbol::kKeys];
  int64_t& keys = sizes[SizeSymbol::kKeys];
  keys = keys == least ? PointAt(1)[SizeSymbol::kKeys] : least;
  return members_.graph_of(sizes);
}

absl::StatusOr<PlanRuleFinder::Rules> PlanRuleFinder::Search(SymbolValues sizes, Level placement, KeyUse keys,
                                                             double cutoff) const {
  // The steps: say what the plan must be for; search it; find what grows with the rows; make rules of both
  // plans.
  PlanOptions options = members_.options;
  options.cutoff = cutoff;
  options.placement = placement;
  options.symbolic_rows = Varies(SizeSymbol::kRows);
  // A single row is not like others: it has no distance to a next one.
  if (Varies(SizeSymbol::kColumns)) sizes[SizeSymbol::kRows] = std::max<int64_t>(sizes[SizeSymbol::kRows], 2);
  Rules rules;
  std::optional<Graph> other_keys;
  if (Varies(SizeSymbol::kKeys)) {
    // A matrix of one key does not show how keys lie.
    sizes[SizeSymbol::kKeys] = std::max<int64_t>(sizes[SizeSymbol::kKeys], 2);
    other_keys = WithOtherKeys(sizes);
    if (!other_keys) return rules;
    options.other_keys = &*other_keys;
    options.keys = keys;
  }
  const std::optional<Graph> graph = members_.graph_of(sizes);
  if (!graph) return rules;
  KIRSCH_ASSIGN_OR_RETURN(OrNoPlan<PlanResult> answer,
                          SearchPlan(*graph, members_.source, members_.model, options));
  auto* const result = std::get_if<PlanResult>(&answer);
  if (result == nullptr || result->plan.nests.empty()) return rules;
  if (other_keys) result->plan.symbols.push_back({"", 1, 1, SizeSymbol::kKeys});
  const std::optional<Plan> with_rows = WithRowSymbol(result->plan, sizes);
  // If a division of columns leaves some, there are two ways to treat these: like whole tiles, or as the plan
  // did.
  AddRules(result->plan, with_rows, sizes, {}, &rules);
  const bool leaves_columns =
      std::any_of(rules.begin(), rules.end(), [](const auto& rule) { return rule->LeavesColumns(); });
  if (leaves_columns) AddRules(result->plan, with_rows, sizes, {.own_rest = true}, &rules);
  return rules;
}

// Adds a rule for any number of rows. If that is much slower for the plan's own rows, it also adds a rule for
// these alone. A rule chooses register tiles itself, which may be others than the search's. Stores past the
// caches that make up much of a plan are worth one for each number of rows.
void PlanRuleFinder::AddRules(const Plan& plan, const std::optional<Plan>& with_rows,
                              const SymbolValues& sizes, const SymbolicScheduleOptions& choice,
                              Rules* rules) const {
  auto own = std::make_unique<SymbolicPlan>(plan, sizes, members_.model, choice);
  std::unique_ptr<SymbolicPlan> any;
  const double own_cycles = own->CyclesFor(sizes);
  if (with_rows && SavedByStreaming(plan, *with_rows, members_.model.target()) <= kMostLoss * own_cycles)
    any = std::make_unique<SymbolicPlan>(*with_rows, sizes, members_.model, choice);
  const bool slower = any == nullptr || any->CyclesFor(sizes) > (1 + kMostLoss) * own_cycles;
  if (slower) rules->push_back(std::move(own));
  if (any != nullptr) rules->push_back(std::move(any));
}

// The plan with symbols for the rows, and for the columns if these vary too. Nothing: the number of rows does
// not vary, or the plan is no rule. It is compared with a neighbour of one row, or one column, more or less,
// which need not be a member.
std::optional<Plan> PlanRuleFinder::WithRowSymbol(Plan plan, const SymbolValues& sizes) const {
  if (!Varies(SizeSymbol::kRows)) return std::nullopt;
  const std::vector<bool> of_keys = sizes[SizeSymbol::kKeys] == 0
                                        ? std::vector<bool>()
                                        : NodesOfKeys(plan.graph, CanonicalGraph(*WithOtherKeys(sizes)));
  for (const SizeSymbol symbol : {SizeSymbol::kRows, SizeSymbol::kColumns}) {
    if (!Varies(symbol)) continue;
    SymbolValues other = sizes;
    other[symbol] += sizes[symbol] <= std::max<int64_t>(PointAt(0)[symbol], 2) ? 1 : -1;
    const std::optional<Graph> neighbour = members_.graph_of(other);
    if (!neighbour || !MarkGrowth({symbol, sizes[symbol], other[symbol]}, CanonicalGraph(*neighbour), of_keys,
                                  members_.model.target(), &plan))
      return std::nullopt;
  }
  return plan;
}

}  // namespace kirsch
