// SPDX-License-Identifier: Apache-2.0
// Finds the cheapest program of a spec: exact branch and bound over the rewrite space, on top of a memo. See
// README.md.
#ifndef KIRSCH_SEARCH_SOLVER_SEARCH_H_
#define KIRSCH_SEARCH_SOLVER_SEARCH_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <string_view>

#include "cost/cost_model.h"
#include "memo/memo.h"
#include "search/solver/placement.h"  // of what is searched
#include "search/solver/trace.h"
#include "spec/impl.h"
#include "spec/spec.h"

namespace kirsch {

class DecisionRanking;

enum class StopReason {
  kOptimal,    // proven optimal in the stated space
  kBudget,     // the time budget ran out: the best program so far, with its proven gap
  kCancelled,  // cancelled from outside, likewise
  kPinned,     // not a search: a schedule was given
  kCutoff,     // there is no program in the result: proven that none costs less than the cutoff, or that an
               // extension (spec/extension.h) allows none
};

std::string_view Name(StopReason reason);

// Counts of what a search did. With several workers, they depend on timing; the answer does not.
struct SearchStats {
  int64_t specs_solved = 0;  // (spec, limits) expanded
  int64_t memo_hits = 0;     // answered by a stored box
  int64_t pruned = 0;        // answered by a bound, and decisions never tried because of theirs

  SearchStats& operator+=(const SearchStats& other) {
    specs_solved += other.specs_solved;
    memo_hits += other.memo_hits;
    pruned += other.pruned;
    return *this;
  }
};

// Facts that are known while a search runs. With a cutoff, `best` is that cutoff.
struct SearchProgress {
  SearchStats stats;
  Cost best = kInfiniteCost;  // cost of the best program so far
  Cost bound = 0;             // no program costs less
  double seconds = 0;
};

struct SearchOptions {
  double time_budget_seconds = 0;  // 0: none
  const std::atomic<bool>* cancel = nullptr;
  std::function<void(const SearchProgress&)> progress = {};  // called now and then, from the calling thread
  int workers = 1;  // threads that search, at least 1, the calling one included; not what the kernel is for
  int64_t specs_before_helpers = 4096;  // solved before the other workers start: they would come too late
  Cost cutoff = kInfiniteCost;          // programs that cost as much are of no use
  SearchTrace trace = {};               // of the calling thread's work; the first program has none
  bool prune = true;                    // false: exhaustive dynamic programming (to test the pruning)
  // Not null: what earlier searches of this thread have ranked by the same cost model. The calling thread's
  // solver goes on from there. Must outlive the search.
  DecisionRanking* ranking = nullptr;
};

// A program and what is proven of it. If `stop` is kCutoff there is no program: `impl` is empty, and `cost`
// is the proven bound, which is no less than the cutoff.
struct SearchResult {
  Impl impl;
  Cost cost = kInfiniteCost;
  Cost bound = 0;  // == cost when optimal
  StopReason stop = StopReason::kOptimal;
  SearchStats stats;  // of all workers
  double seconds = 0;
  bool from_table = false;   // recalled, not searched (search/table/answer.h)
  double table_seconds = 0;  // of `seconds`, in the table; not what it takes to write to it
};

// Returns the cheapest program for `placed_root` on the cost model's target. Precondition: the root has room
// for the copy it needs (HasRoom, search/solver/placement.h).
//
// Program, cost and bound don't depend on the number of workers, on timing, or on what the memo holds. The
// exception is a search that a time budget or a cancellation ends.
SearchResult Search(const Spec& placed_root, const CostModel& model, Memo& memo,
                    const SearchOptions& options);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_SOLVER_SEARCH_H_
