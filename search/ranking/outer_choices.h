// SPDX-License-Identifier: Apache-2.0
// Programs that differ from the best in an outer choice, each the cheapest of its kind: for people, for
// tuning, and for judging the model. Programs that are as cheap mostly differ in a size or a remainder only.
#ifndef KIRSCH_SEARCH_RANKING_OUTER_CHOICES_H_
#define KIRSCH_SEARCH_RANKING_OUTER_CHOICES_H_

#include <tuple>
#include <vector>

#include "cost/cost_model.h"
#include "memo/memo.h"
#include "search/ranking/k_best.h"
#include "search/solver/search.h"
#include "spec/impl.h"

namespace kirsch {

// Of a decision, what is no size: rewrite, dim, operand, level, kind of layout and its panel.
using ChoiceKind = std::tuple<RewriteKind, int, int, Level, LayoutKind, int>;

// The choices of a program that have code, from the root on to where most of the work is done. Tiles right
// inside tiles along the same dim only choose remainders. Programs with the same choices are twins.
std::vector<ChoiceKind> ChoicesOf(const Impl& program, const Target& target);

// `best`, the cheapest program, and others that depart from it at one node. These nodes are on the way from
// the root to the register tile that does most of the work. At each, a program has another kind of decision:
// which dim is tiled, which operand is moved or packed where and how, which form the register tile has. Of
// each kind there is the cheapest, unless it costs a quarter more than what it replaces. By cost; some may be
// twins, or the same code. Stops early, with what it has, where `options` say so.
KBestResult OuterChoices(const Impl& best, Cost cost, const CostModel& model, Memo& memo,
                         const SearchOptions& options);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_RANKING_OUTER_CHOICES_H_
