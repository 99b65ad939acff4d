// SPDX-License-Identifier: Apache-2.0
#include "search/ranking/ranked_lists.h"

#include <algorithm>
#include <queue>
#include <utility>

#include "rewrites/spec/rewrite.h"
#include "search/solver/limits.h"
#include "spec/check.h"

namespace kirsch {
namespace {

// A question that comes again with a higher limit is answered for a limit that is so many times as far above
// the optimum.
constexpr Cost kLimitGrowth = 2;

// The cost that a child must stay below, so that all its runs together stay below `room`.
Cost RoomOf(const Expansion::Child& child, Cost room) { return (room + child.weight - 1) / child.weight; }

// A choice of a program for each child, by their ranks, and the cost of the whole.
struct Combination {
  Cost cost;
  std::array<int, 3> ranks;

  // For a heap with the least on top; of equal costs, what comes first in the lists.
  friend bool operator<(const Combination& a, const Combination& b) {
    return a.cost != b.cost ? a.cost > b.cost : a.ranks > b.ranks;
  }
};

}  // namespace

// A decision of a spec that may have programs below the limit.
struct RankedLists::Candidate {
  Decision decision;
  Cost bound = 0;
  int order = 0;
  Expansion expansion;
  Lines below = 0;
  Cost base = 0;
  std::array<Cost, 3> least = {};  // of each child, once solved
  Cost total = 0;                  // with those
};

// Keeps the cheapest programs found so far that differ in code.
class RankedLists::Pool {
 public:
  Pool(size_t count, Cost limit) : count_(count), limit_(limit) {}

  // Programs that cost this much are not among the cheapest.
  Cost limit() const { return limit_; }

  // Adds a program, unless one of the same code is as cheap. A dearer one of the same code is marked, and
  // goes with Settle.
  void Add(Entry entry) {
    const auto [place, is_new] = places_.try_emplace(entry.code.key(), entries_.size());
    if (!is_new) {
      if (entry.cost >= entries_[place->second].cost) return;
      entries_[place->second].cost = kInfiniteCost;
      place->second = entries_.size();
    }
    entries_.push_back(std::move(entry));
  }

  // Sorts what was added, drops what the same code at a lower cost replaced, and lowers the limit. Entries of
  // equal cost stay in the order in which they came.
  void Settle() {
    std::stable_sort(entries_.begin(), entries_.end(),
                     [](const Entry& a, const Entry& b) { return a.cost < b.cost; });
    while (!entries_.empty() && entries_.back().cost >= kInfiniteCost) entries_.pop_back();
    if (entries_.size() >= count_) {
      entries_.erase(entries_.begin() + static_cast<ptrdiff_t>(count_), entries_.end());
      limit_ = std::min(limit_, entries_.back().cost);
    }
    places_.clear();
    for (size_t i = 0; i < entries_.size(); ++i) places_[entries_[i].code.key()] = i;
  }

  std::vector<Entry> entries() && { return std::move(entries_); }

 private:
  const size_t count_;
  Cost limit_;
  std::vector<Entry> entries_;
  absl::flat_hash_map<CodeFragment::Key, size_t> places_;
};

absl::Span<const RankedLists::Entry> RankedLists::List::Below(Cost limit) const {
  const auto end = std::partition_point(entries.begin(), entries.end(),
                                        [&](const Entry& entry) { return entry.cost < limit; });
  return absl::MakeConstSpan(entries).first(static_cast<size_t>(end - entries.begin()));
}

// True if the list's entries below the limit are the cheapest programs with so many lines. A list for more
// lines answers too, if all of those entries fit. A full list answers for any limit.
bool RankedLists::Answers(const List& list, Lines available, Cost limit) const {
  if (list.available < available || (list.limit < limit && list.entries.size() < count_)) return false;
  const absl::Span<const Entry> below = list.Below(limit);
  return std::all_of(below.begin(), below.end(), [&](const Entry& entry) { return entry.peak <= available; });
}

// An earlier list that answers the question, or null.
const RankedLists::List* RankedLists::Known(const Spec& spec, Lines available, Cost limit) const {
  const auto found = lists_.find(spec);
  if (found == lists_.end()) return nullptr;
  for (const std::unique_ptr<List>& list : found->second)
    if (Answers(*list, available, limit)) return list.get();
  return nullptr;
}

// The limit up to which a list is made. If there is a list for as many lines, its limit was too low: then the
// new one goes further than was asked.
Cost RankedLists::Widened(const Spec& spec, Lines available, Cost limit) const {
  const auto found = lists_.find(spec);
  if (found == lists_.end() || limit >= kInfiniteCost) return limit;
  for (const std::unique_ptr<List>& list : found->second)
    if (list->available == available && !list->entries.empty())
      return limit + (kLimitGrowth - 1) * (limit - list->entries.front().cost);
  return limit;
}

// Stores a list where its address stays the same.
const RankedLists::List& RankedLists::Keep(const Spec& spec, List list) {
  Lists& lists = lists_[spec];
  lists.push_back(std::make_unique<List>(std::move(list)));
  return *lists.back();
}

const RankedLists::List& RankedLists::Below(const Spec& spec, Lines available, Cost limit) {
  if (const List* known = Known(spec, available, limit)) return *known;
  const bool serial = spec.threads == 1 && spec.out().level != Level::kVrf;
  const Lines empty = EmptyLevel(spec, model_.target());
  if (serial && available < empty) {  // a list for the empty level serves many questions, if its entries fit
    const List& roomy = Below(spec, empty, limit);
    if (Answers(roomy, available, limit)) return roomy;
  }
  // If the optimum is not below the limit, neither is anything else: the solver's bounds end most questions
  // here.
  if (solver_.stopped() || !solver_.Solve(spec, available, limit).solved)
    return Keep(spec, {available, limit, {}});
  const Cost widened = Widened(spec, available, limit);
  Pool pool(count_, widened);
  // The pool's limit falls as it fills, so later candidates are often cut off by their bounds.
  for (Candidate& candidate : Candidates(spec, available, widened)) {
    if (candidate.bound >= pool.limit()) continue;
    if (!SolveChildren(&candidate, pool.limit())) continue;
    Combine(spec, candidate, pool.limit(), &pool);
    pool.Settle();
  }
  return Keep(spec, {available, widened, std::move(pool).entries()});
}

// The decisions that fit and whose closed forms are below the limit, in the solver's order of trial.
std::vector<RankedLists::Candidate> RankedLists::Candidates(const Spec& spec, Lines available, Cost limit) {
  std::vector<Decision> decisions;
  EnumerateDecisions(spec, model_.target(), &decisions);
  std::vector<Candidate> candidates;
  int order = 0;
  for (const Decision& decision : decisions) {
    Candidate candidate;
    candidate.decision = decision;
    candidate.order = ++order;
    Expand(spec, decision, model_.target(), &candidate.expansion);
    candidate.below = AvailableBelow(spec, candidate.expansion, available, model_.target());
    if (candidate.below < 0) continue;
    candidate.base = candidate.bound = model_.Base(spec, decision, candidate.expansion);
    for (int i = 0; i < candidate.expansion.num_children && candidate.bound < limit; ++i) {
      const Expansion::Child& child = candidate.expansion.children[static_cast<size_t>(i)];
      if (child.weight > 0) candidate.bound += child.weight * model_.LowerBound(child.spec);
    }
    if (candidate.bound < limit) candidates.push_back(candidate);
  }
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    return a.bound != b.bound ? a.bound < b.bound : a.order < b.order;
  });
  return candidates;
}

// Finds the children's optima. False if the decision costs the limit or more even with those, as then it has
// no programs to combine.
bool RankedLists::SolveChildren(Candidate* candidate, Cost limit) {
  const Expansion& expansion = candidate->expansion;
  candidate->total = candidate->base;
  for (size_t i = 0; i < static_cast<size_t>(expansion.num_children); ++i) {
    const Expansion::Child& child = expansion.children[i];
    const kirsch::Known known = memo_.Find(child.spec, candidate->below);
    candidate->least[i] =
        known.solution ? known.solution->cost : std::max(known.bound, model_.LowerBound(child.spec));
    if (candidate->least[i] >= kInfiniteCost) return false;
    candidate->total += child.weight * candidate->least[i];
  }
  for (size_t i = 0; i < static_cast<size_t>(expansion.num_children); ++i) {
    if (candidate->total >= limit) return false;
    const Expansion::Child& child = expansion.children[i];
    const Cost rest = candidate->total - child.weight * candidate->least[i];
    const Cost budget = child.weight == 0 ? kInfiniteCost : RoomOf(child, limit - rest);
    const Solver::Outcome outcome = solver_.Solve(child.spec, candidate->below, budget);
    if (!outcome.solved || solver_.stopped()) return false;
    candidate->least[i] = outcome.cost;
    candidate->total = rest + child.weight * outcome.cost;
  }
  return candidate->total < limit;
}

// The lists of the children's programs. Each goes as far as its child may cost while the other children are
// at their optima.
std::array<const RankedLists::List*, 3> RankedLists::ChildLists(const Candidate& candidate, Cost limit) {
  std::array<const List*, 3> lists = {};
  for (size_t i = 0; i < static_cast<size_t>(candidate.expansion.num_children); ++i) {
    const Expansion::Child& child = candidate.expansion.children[i];
    const Cost rest = candidate.total - child.weight * candidate.least[i];
    const Cost below = child.weight == 0 ? candidate.least[i] + 1 : RoomOf(child, limit - rest);
    lists[i] = &Below(child.spec, candidate.below, below);
    KIRSCH_CHECK(solver_.stopped() || !lists[i]->Below(below).empty());
  }
  return lists;
}

// The entry of one combination: its peak and its code follow from those of the children.
RankedLists::Entry RankedLists::Combined(const Spec& spec, const Candidate& candidate, Cost cost,
                                         const std::array<const List*, 3>& lists,
                                         const std::array<int, 3>& ranks) {
  Entry entry;
  entry.cost = cost;
  entry.decision = candidate.decision;
  entry.lists = lists;
  entry.ranks = ranks;
  const auto children = static_cast<size_t>(candidate.expansion.num_children);
  std::array<const CodeFragment*, 3> codes = {};
  Lines peak = 0;
  for (size_t i = 0; i < children; ++i) {
    const Entry& chosen = lists[i]->entries[static_cast<size_t>(ranks[i])];
    codes[i] = &chosen.code;
    peak = std::max(peak, chosen.peak);
  }
  entry.peak = PeakAbove(spec, candidate.expansion, peak);
  entry.code = CodeFragment::Of(spec, candidate.decision, candidate.expansion,
                                absl::MakeConstSpan(codes).first(children));
  return entry;
}

// Adds the cheapest combinations of the children's programs below the limit, best first from a heap. The
// first has all optima.
void RankedLists::Combine(const Spec& spec, const Candidate& candidate, Cost limit, Pool* pool) {
  const std::array<const List*, 3> lists = ChildLists(candidate, limit);
  if (solver_.stopped()) return;
  std::priority_queue<Combination> heap;
  heap.push({candidate.total, {}});
  for (size_t found = 0; found < count_ && !heap.empty() && heap.top().cost < limit; ++found) {
    const Combination best = heap.top();
    heap.pop();
    pool->Add(Combined(spec, candidate, best.cost, lists, best.ranks));
    // Every combination has one predecessor: the one whose last rank above 0 is one less. So each comes once.
    for (size_t i = static_cast<size_t>(candidate.expansion.num_children); i-- > 0;) {
      const auto rank = static_cast<size_t>(best.ranks[i]);
      const std::vector<Entry>& entries = lists[i]->entries;
      const int64_t weight = candidate.expansion.children[i].weight;
      if (weight > 0 && rank + 1 < entries.size()) {
        Combination next = best;
        ++next.ranks[i];
        next.cost += weight * (entries[rank + 1].cost - entries[rank].cost);
        heap.push(next);
      }
      if (rank > 0) break;
    }
  }
}

Impl RankedLists::Program(const Spec& spec, Lines available, const Entry& entry) const {
  Impl impl{spec, entry.decision, {}};
  Expansion expansion;
  Expand(spec, entry.decision, model_.target(), &expansion);
  const Lines below = AvailableBelow(spec, expansion, available, model_.target());
  for (size_t i = 0; i < static_cast<size_t>(expansion.num_children); ++i) {
    const Expansion::Child& child = expansion.children[i];
    const Entry& chosen = entry.lists[i]->entries[static_cast<size_t>(entry.ranks[i])];
    impl.children.push_back({child.trips, Program(child.spec, below, chosen)});
  }
  return impl;
}

}  // namespace kirsch
