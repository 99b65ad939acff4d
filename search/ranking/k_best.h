// SPDX-License-Identifier: Apache-2.0
// Lists the K cheapest programs of a spec that differ in code (same_code.h): exactly those, in the stated
// space. Or the K cheapest that depart from the best in an outer choice (outer_choices.h).
//
// A program of a spec is a decision and a program for each child. So the K cheapest of a spec are among the
// combinations of the K cheapest of its children (Huang & Chiang, "Better k-best parsing", 2005). Programs
// that are the same code are taken once, the cheapest of them. This is right at every spec, since the code
// below a decision enters a program only by that decision.
//
// Only programs below a limit are looked at. The limit grows from a little above the optimum until there are
// K below it. It also limits each child, given the optima of the others, and the solver's proofs (solver.h)
// end most questions at once.
//
// A child that takes no time of its own has its cheapest program only. Such a child runs beside another: the
// smaller last tile of a parallel one.
#ifndef KIRSCH_SEARCH_RANKING_K_BEST_H_
#define KIRSCH_SEARCH_RANKING_K_BEST_H_

#include <limits>
#include <vector>

#include "cost/cost_model.h"
#include "memo/memo.h"
#include "search/solver/search.h"
#include "spec/program/program_tree.h"

namespace kirsch {

// The first limit is 1 / kFirstPart above the optimum. Each later one is twice as far above, up to
// kLargestShare times the optimum, and then everything counts.
inline constexpr int kFirstPart = 1024, kLargestShare = 64;

// One program of the list, with its predicted cycles.
struct RankedProgram {
  ProgramTree tree;
  double cycles = kInfiniteCycles;
};

// Says what tells two programs of a list apart.
enum class Distinct {
  kCode,         // anything in their code
  kOuterChoice,  // an outer choice (outer_choices.h); each is the best, or departs from it in one
};

struct RankOptions {
  int count = 1;  // at least 1
  Distinct distinct = Distinct::kCode;
  // Programs that cost 1 + this times the best, or more, are left out.
  double farthest = std::numeric_limits<double>::infinity();
  bool stages = true;  // of plans; false: only those that differ above their stages
};

// Programs of a spec, or plans of a graph (k_best_plans.h).
struct KBestResult {
  std::vector<RankedProgram> programs;  // by cycles; the first is the search's. Fewer than asked for: there
  bool complete = true;                 // are no more, or, if not complete, none was known when it stopped
  double seconds = 0;
};

// Lists the cheapest programs of `placed_root`, which must have room. `memo`: of a search for it, or empty;
// the result doesn't depend on it. Of the options, the time budget, cancellation and progress count. If they
// stop the first search, its best program so far is the only one.
KBestResult KBest(const Spec& placed_root, const RankOptions& rank, const CostModel& model, Memo& memo,
                  const SearchOptions& options);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_RANKING_K_BEST_H_
