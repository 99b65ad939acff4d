// SPDX-License-Identifier: Apache-2.0
// Lists programs that differ from the best in an outer choice, each the cheapest of its kind. They are for
// people, for tuning, and for judging the model. The cheapest programs of all would show little: mostly they
// differ in a size or a remainder only.
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

// The part of a decision that is no size: rewrite, dim, operand, level, kind of layout and its panel. So
// `tile m 6` and `tile m 12` are of one kind.
using ChoiceKind = std::tuple<RewriteKind, int, int, Level, LayoutKind, int>;

// Returns the choices of a program that have code, from the root on to where most of the work is done. Tiles
// right inside tiles along the same dim are left out, as they only choose remainders. Programs with the same
// choices are twins.
std::vector<ChoiceKind> ChoicesOf(const Impl& program, const Target& target);

// Returns `best`, the cheapest program, and others that depart from it at one node, by cost. These nodes are
// on the way from the root to the register tile that does most of the work. At its node, a program has
// another kind of decision: which dim is tiled, which operand is moved or packed where and how, which form
// the register tile has.
//
// Of each kind there is the cheapest, unless it costs a quarter more than what it replaces. Some may be
// twins, or the same code: KBest sorts them out. Stops early, with what it has, where `options` say so.
KBestResult OuterChoices(const Impl& best, Cost cost, const CostModel& model, Memo& memo,
                         const SearchOptions& options);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_RANKING_OUTER_CHOICES_H_
