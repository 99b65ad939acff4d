// SPDX-License-Identifier: Apache-2.0
// The candidates for a fusion group with the programs of their stages, by what they cost: for the K cheapest
// plans.
//
// Best first: a candidate at what it costs at least, then with each choice of copies, then with programs; and
// of each with programs the neighbours that have in one stage the next cheapest one.
#ifndef KIRSCH_SEARCH_RANKING_GROUP_K_BEST_H_
#define KIRSCH_SEARCH_RANKING_GROUP_K_BEST_H_

#include <cstddef>
#include <cstdint>
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

// Not thread-safe. All arguments outlive it. `threads` work at the same time.
class GroupKBest {
 public:
  GroupKBest(OperationSet set, Workers workers, int threads, GroupPricer& pricer, StageKBest& stages)
      : set_(set), workers_(workers), cost_(threads), pricer_(pricer), stages_(stages) {}

  // The cheapest costs no less; infinity: there is none.
  absl::StatusOr<double> Bound();
  // Is what the cheapest costs known?
  bool is_priced() const { return !found_.empty(); }
  // The group of a rank (0: the cheapest) if it costs less than `budget` cycles; else null. Stays where it
  // is. An error is the search's.
  absl::StatusOr<const PricedGroup*> At(size_t rank, double budget);
  // One that At returned.
  const PricedGroup& at(size_t rank) const { return found_[rank]; }

 private:
  // A candidate with programs for all of its stages.
  struct Solved {
    GroupPricer::Candidate candidate;
    GroupDecision copies;
    std::vector<StagePlace> places;                  // of what may be otherwise
    std::map<size_t, std::vector<Stage>> schedules;  // of rows, by place
  };
  // What is yet to be looked into.
  struct Open {
    explicit Open(GroupPricer::Candidate opened) : candidate(std::move(opened)) {}

    GroupPricer::Candidate candidate;
    std::vector<OperandCopies::Readers> matrices;  // that may be copied
    GroupDecision copies;                          // of those that are decided
    bool copied = false;                           // the next is to be copied, ...
    size_t asks = 0;                               // ... as this of its readers would have it
    std::vector<Decision> tried;                   // as those before
  };
  struct Entry {
    std::unique_ptr<Open> open;      // or
    std::shared_ptr<Solved> solved;  // with ...
    std::vector<size_t> ranks;       // ... these programs, by place
    size_t last = 0;                 // places before this one are not changed any more
  };

  absl::Status Start();
  void Add(double cycles, Entry entry) { queue_.emplace(cycles, std::move(entry)); }
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
