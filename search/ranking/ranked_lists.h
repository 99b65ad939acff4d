// SPDX-License-Identifier: Apache-2.0
// Lists the cheapest programs of each spec that differ in code, below limits. KBest is made of them
// (k_best.h), as Search is of the solver's optima. Internal to search/.
#ifndef KIRSCH_SEARCH_RANKING_RANKED_LISTS_H_
#define KIRSCH_SEARCH_RANKING_RANKED_LISTS_H_

#include <array>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "memo/spec_hash.h"
#include "search/ranking/same_code.h"
#include "search/solver/solver.h"

namespace kirsch {

// Keeps the lists of all specs asked about. Entries point into the lists of their children, which therefore
// stay where they are. Not thread-safe.
class RankedLists {
 public:
  // Makes lists of at most `count` programs. `solver`: of the same model.
  RankedLists(int count, const CostModel& model, Solver& solver)
      : count_(static_cast<size_t>(count)), model_(model), solver_(solver) {}

  struct List;
  // A program, as a decision and a place in the list of each child.
  struct Entry {
    Cost cost = 0;
    Lines peak = 0;  // lines it uses at the level being filled
    Decision decision;
    CodeFragment code;
    std::array<const List*, 3> lists = {};  // of the children's programs ...
    std::array<int, 3> ranks = {};          // ... which one
  };
  struct List {
    Lines available = 0;
    Cost limit = 0;
    std::vector<Entry> entries;  // the cheapest that cost less than the limit, by cost; of equal cost in the
                                 // order of trial (solver.h)
    absl::Span<const Entry> Below(Cost limit) const;
  };

  // Returns a list whose entries below the limit are the cheapest programs there are below it. Its other
  // entries may need more lines than are available. Once the solver is stopped, the list means nothing.
  const List& Below(const Spec& spec, Lines available, Cost limit);

  // Builds the program of an entry, which must be of a list for this question.
  Impl Program(const Spec& spec, Lines available, const Entry& entry) const;

 private:
  class Pool;
  using Lists = std::vector<std::unique_ptr<List>>;

  // The parts of Below, and what they know of earlier questions: see ranked_lists.cc.
  const List* Known(const Spec& spec, Lines available, Cost limit) const;
  bool Answers(const List& list, Lines available, Cost limit) const;
  Cost Widened(const Spec& spec, Lines available, Cost limit) const;
  const List& Keep(const Spec& spec, List list);
  std::array<const List*, 3> ChildLists(const Choice& choice, Cost best, Cost limit);
  static Entry Combined(const Spec& spec, const Choice& choice, Cost cost,
                        const std::array<const List*, 3>& lists, const std::array<int, 3>& ranks);
  void Combine(const Spec& spec, const Choice& choice, Cost least, Pool* pool);

  const size_t count_;
  const CostModel& model_;
  Solver& solver_;
  absl::flat_hash_map<Spec, Lists, SpecHash> lists_;
};

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_RANKING_RANKED_LISTS_H_
