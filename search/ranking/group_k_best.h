// SPDX-License-Identifier: Apache-2.0
// Lists the variants of a fusion group, the cheapest first, for the K cheapest plans. A variant is a
// candidate, a choice of copies, and a program or schedule for each stage.
//
// It searches best first, and looks into a variant only as far as its place in the list needs. A candidate is
// in the queue at its bound, then with each choice of copies, then with programs. One with programs has
// neighbours, which have in one stage the next cheapest program.
//
//   candidate (bound) --> with copies (bound) --> with programs (cost) --> found, and its neighbours (cost)
#ifndef KIRSCH_SEARCH_RANKING_GROUP_K_BEST_H_
#define KIRSCH_SEARCH_RANKING_GROUP_K_BEST_H_

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "search/graph/group_cost.h"
#include "search/graph/group_pricer.h"
#include "search/graph/operand_copies.h"
#include "search/ranking/stage_k_best.h"

namespace kirsch {

// The ranked list of one group. Not thread-safe; all arguments must outlive it. `threads`: how many work at
// the same time.
class GroupKBest {
 public:
  GroupKBest(const OperationSet& set, Workers workers, int threads, GroupPricer& pricer, StageKBest& stages)
      : set_(set), workers_(workers), cost_(threads), pricer_(pricer), stages_(stages) {}

  // A number of cycles that the cheapest takes at least; the very number once is_priced. Infinity: there is
  // none.
  absl::StatusOr<double> Bound();
  // True once the cheapest is known.
  bool is_priced() const { return !found_.empty(); }
  // The group of a rank (0: the cheapest) if it costs less than `budget` cycles; else null. Its address stays
  // the same. An error is that of a search. Later calls with a larger budget go on where this one ended.
  absl::StatusOr<const PricedGroup*> At(size_t rank, double budget);
  // A group that At returned before.
  const PricedGroup& at(size_t rank) const { return found_[rank]; }

 private:
  // A candidate with programs for all of its stages.
  struct Solved {
    GroupPricer::Candidate candidate;
    GroupDecision copies;
    std::vector<StagePlace> places;  // of the stages that may have another program or schedule
    std::map<size_t, std::vector<Stage>> schedules;  // of rows, by place; filled when first asked for
  };
  // A candidate without programs. Its matrices are decided one after the other: first that the matrix is read
  // as it lies, then that it is copied as one of its readers would have it.
  struct Open {
    explicit Open(GroupPricer::Candidate opened) : candidate(std::move(opened)) {}

    GroupPricer::Candidate candidate;
    std::vector<OperandCopies::Readers> matrices;  // that may be copied
    GroupDecision copies;                          // of those that are decided
    bool copied = false;                           // the next is to be copied, ...
    size_t asks = 0;                               // ... as this of its readers would have it
    std::vector<Decision> tried;                   // as those before
  };
  // An element of the queue: either an Open, or a Solved with a choice of programs.
  struct Entry {
    std::unique_ptr<Open> open;      // or
    std::shared_ptr<Solved> solved;  // with ...
    std::vector<size_t> ranks;       // ... these programs, by place
    size_t last = 0;                 // places before this one are not changed any more
  };

  // Puts all candidates of the group into the queue, at their bounds.
  absl::Status Start();
  void Add(double cycles, Entry entry) { queue_.emplace(cycles, std::move(entry)); }
  // These take the entry that is first in the queue, and put back what it leads to. `least`: the entry's key,
  // which nothing that comes of it may fall below. Entries that the budget ends too early go back with the
  // budget as their key.
  absl::Status LookInto(Entry entry, double least, double budget);
  absl::Status TryCopy(Entry entry, double least, double budget);
  absl::Status Solve(Entry entry, double least, double budget);
  void AddDecided(const Open& before, GroupPricer::Candidate candidate, const Decision& decision,
                  double least);
  void Emit(const Entry& entry);
  bool Apply(size_t rank, size_t place, Solved* solved, GroupShape* shape);

  const OperationSet set_;
  const Workers workers_;
  const GroupCost cost_;
  GroupPricer& pricer_;
  StageKBest& stages_;
  bool started_ = false;
  double bound_ = -1;                   // before that; negative: not asked for
  std::multimap<double, Entry> queue_;  // by what they cost, or cost at least
  std::deque<PricedGroup> found_;       // by what they cost
};

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_RANKING_GROUP_K_BEST_H_
