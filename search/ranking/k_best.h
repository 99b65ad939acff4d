// SPDX-License-Identifier: Apache-2.0
// The K cheapest programs of a spec that differ in code (same_code.h): exactly those, in the stated space. Or
// the K cheapest that depart from the best in an outer choice (outer_choices.h).
//
// A program of a spec is a decision and a program for each child. So the K cheapest of a spec are among the
// combinations of the K cheapest of its children (Huang & Chiang, "Better k-best parsing", 2005). Programs
// that are the same code are taken once, the cheapest of them, at every spec: what is below a decision enters
// the program's code only by its own. Only what costs less than a limit is looked at, which grows from a
// little above the optimum until there are K below it; what a child may cost follows from that and the optima
// of the others, and the solver's proofs (solver.h) end most questions at once.
//
// A child that takes no time of its own, as it runs beside another (the smaller last tile of a parallel one),
// has its cheapest program only.
#ifndef KIRSCH_SEARCH_RANKING_K_BEST_H_
#define KIRSCH_SEARCH_RANKING_K_BEST_H_

#include <limits>
#include <vector>

#include "cost/cost_model.h"
#include "memo/memo.h"
#include "search/solver/search.h"
#include "spec/impl.h"

namespace kirsch {

// How far above the optimum is looked at first, 1 / kFirstPart of it; then twice as far, and so on, up to
// kLargestShare times the optimum, and then everything.
inline constexpr int kFirstPart = 1024, kLargestShare = 64;

// Where a program first departs from the best, in the order of its text.
struct Departure {
  std::vector<int> path;   // from the root, which child: that node's spec is the same in both
  Spec spec;               // of that node
  Decision best, instead;  // of kind kNone: it doesn't depart, it is the best
};

struct RankedProgram {
  Impl impl;
  Cost cost = kInfiniteCost;
  Departure departure;
};

// What tells two programs of a list apart.
enum class Distinct {
  kCode,         // anything in their code
  kOuterChoice,  // an outer choice (outer_choices.h); each is the best, or departs from it in one
};

struct RankOptions {
  int count = 1;  // at least 1
  Distinct distinct = Distinct::kCode;
  // What costs 1 + this times the best is left out.
  double farthest = std::numeric_limits<double>::infinity();
  bool stages = true;  // of plans; false: only those that differ above their stages
};

struct KBestResult {
  std::vector<RankedProgram>
      programs;          // by cost; the first is Search's. Fewer than asked for: there are no more,
  bool complete = true;  // or, if not complete, the search was stopped and no more are known
  double seconds = 0;
};

// The cheapest programs of `placed_root`, which has room. `memo`: of a search for it, or empty. The result
// doesn't depend on what the memo holds. Of the options, time budget, cancellation and progress.
KBestResult KBest(const Spec& placed_root, const RankOptions& rank, const CostModel& model, Memo& memo,
                  const SearchOptions& options);

// Where `impl` first departs from `best`, a program of the same spec.
Departure CompareWithBest(const Impl& impl, const Impl& best);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_RANKING_K_BEST_H_
