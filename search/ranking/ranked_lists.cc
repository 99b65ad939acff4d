// SPDX-License-Identifier: Apache-2.0
#include "search/ranking/ranked_lists.h"

#include <algorithm>
#include <queue>
#include <utility>

#include "spec/check.h"

namespace kirsch {
namespace {

// A question that comes again with a higher limit is answered for a limit that is so many times as far above
// the optimum.
constexpr Cost kLimitGrowth = 2;

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
    std::ranges::stable_sort(entries_, {}, &Entry::cost);
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
  const auto end =
      std::ranges::partition_point(entries, [&](const Entry& entry) { return entry.cost < limit; });
  return absl::MakeConstSpan(entries).first(static_cast<size_t>(end - entries.begin()));
}

// True if the list's entries below the limit are the cheapest programs with so many lines. A list for more
// lines answers too, if all of those entries fit. A full list answers for any limit.
bool RankedLists::Answers(const List& list, Lines available, Cost limit) const {
  if (list.available < available || (list.limit < limit && list.entries.size() < count_)) return false;
  const absl::Span<const Entry> below = list.Below(limit);
  return std::ranges::all_of(below, [&](const Entry& entry) { return entry.peak <= available; });
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
  // The pool's limit falls as it fills, so later choices are often cut off by their bounds.
  for (const Choice& choice : ChoicesBelow(widened, spec, available, model_)) {
    const Solver::Outcome best = solver_.Solve(spec, choice, available, pool.limit());
    if (!best.solved || solver_.stopped()) continue;
    Combine(spec, choice, best.cost, &pool);
    pool.Settle();
  }
  return Keep(spec, {available, widened, std::move(pool).entries()});
}

// The lists of the children's programs, whose optima make up `best`. Each goes as far as its child may cost
// while the other children are at their optima.
std::array<const RankedLists::List*, 3> RankedLists::ChildLists(const Choice& choice, Cost best, Cost limit) {
  std::array<const List*, 3> lists = {};
  for (size_t i = 0; i < static_cast<size_t>(choice.expansion.num_children); ++i) {
    const Expansion::Child& child = choice.expansion.children[i];
    const Cost least = solver_.Solve(child.spec, choice.below, kInfiniteCost).cost;
    const Cost rest = best - child.weight * least;
    const Cost below = child.weight == 0 ? least + 1 : ChildBudget(limit, rest, child.weight);
    lists[i] = &Below(child.spec, choice.below, below);
    KIRSCH_CHECK(solver_.stopped() || !lists[i]->Below(below).empty());
  }
  return lists;
}

// The entry of one combination: its peak and its code follow from those of the children.
RankedLists::Entry RankedLists::Combined(const Spec& spec, const Choice& choice, Cost cost,
                                         const std::array<const List*, 3>& lists,
                                         const std::array<int, 3>& ranks) {
  Entry entry;
  entry.cost = cost;
  entry.decision = choice.decision;
  entry.lists = lists;
  entry.ranks = ranks;
  const auto children = static_cast<size_t>(choice.expansion.num_children);
  std::array<const CodeFragment*, 3> codes = {};
  Lines peak = 0;
  for (size_t i = 0; i < children; ++i) {
    const Entry& chosen = lists[i]->entries[static_cast<size_t>(ranks[i])];
    codes[i] = &chosen.code;
    peak = std::max(peak, chosen.peak);
  }
  entry.peak = PeakAbove(spec, choice.expansion, peak);
  entry.code =
      CodeFragment::Of(spec, choice.decision, choice.expansion, absl::MakeConstSpan(codes).first(children));
  return entry;
}

// Adds the cheapest combinations of the children's programs below the pool's limit, best first from a heap.
// The first has all optima, and costs `least`.
void RankedLists::Combine(const Spec& spec, const Choice& choice, Cost least, Pool* pool) {
  const Cost limit = pool->limit();
  const std::array<const List*, 3> lists = ChildLists(choice, least, limit);
  if (solver_.stopped()) return;
  std::priority_queue<Combination> heap;
  heap.push({least, {}});
  for (size_t found = 0; found < count_ && !heap.empty() && heap.top().cost < limit; ++found) {
    const Combination best = heap.top();
    heap.pop();
    pool->Add(Combined(spec, choice, best.cost, lists, best.ranks));
    // Every combination has one predecessor: the one whose last rank above 0 is one less. So each comes once.
    for (size_t i = static_cast<size_t>(choice.expansion.num_children); i-- > 0;) {
      const auto rank = static_cast<size_t>(best.ranks[i]);
      const std::vector<Entry>& entries = lists[i]->entries;
      const int64_t weight = choice.expansion.children[i].weight;
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
  return BuildProgram(spec, entry.decision, available, model_.target(),
                      [&](const Expansion& expansion, size_t i, Lines below) {
                        const Entry& chosen = entry.lists[i]->entries[static_cast<size_t>(entry.ranks[i])];
                        return Program(expansion.children[i].spec, below, chosen);
                      });
}

}  // namespace kirsch
