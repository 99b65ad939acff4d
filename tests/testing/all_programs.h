// SPDX-License-Identifier: Apache-2.0
// All programs of a small spec, written out one by one. Tests that use it link kirsch_search.
#ifndef KIRSCH_TESTS_TESTING_ALL_PROGRAMS_H_
#define KIRSCH_TESTS_TESTING_ALL_PROGRAMS_H_

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "memo/hash_memo.h"
#include "rewrites/spec/rewrite.h"
#include "search/solver/solver.h"
#include "tests/testing/brute_force.h"

namespace kirsch::testing {

struct Priced {
  Cost cost = 0;
  Impl impl;
};

// Every program of a spec that costs less than a limit, each by itself; nothing of use if there are more than
// `most`.
class AllPrograms {
 public:
  AllPrograms(const CostModel& model, size_t most) : model_(model), brute_force_(model), most_(most) {}

  Cost Best(const Spec& spec, Lines available) { return brute_force_.Best(spec, available); }

  std::vector<Priced> Below(Cost limit, const Spec& spec, Lines available) {
    std::vector<Decision> decisions;
    EnumerateDecisions(spec, model_.target(), &decisions);
    std::vector<Priced> programs;
    for (const Decision& decision : decisions) AddWith(spec, decision, available, limit, &programs);
    return programs;
  }

  bool too_many() const { return too_many_; }
  void StartAnew() { too_many_ = false; }

 private:
  void AddWith(const Spec& spec, const Decision& decision, Lines available, Cost limit,
               std::vector<Priced>* programs) {
    if (too_many_) return;
    Expansion expansion;
    Expand(spec, decision, model_.target(), &expansion);
    if (expansion.filled != Level::kVrf && expansion.filled != Level::kRam) {
      if (expansion.filled != FillingLevel(spec))
        available = LinesOf(model_.target(), expansion.filled, expansion.children[0].spec);
      if (expansion.filled_lines > available) return;
      available -= static_cast<Lines>(expansion.filled_lines);
    }
    const auto children = static_cast<size_t>(expansion.num_children);
    Priced node{model_.Base(spec, decision, expansion), {spec, decision, {}}};
    Cost least = node.cost;
    for (size_t i = 0; i < children && least < limit; ++i) {
      const Cost best = Best(expansion.children[i].spec, available);
      least = best >= kInfiniteCost ? best : least + expansion.children[i].weight * best;
    }
    if (least >= limit) return;
    std::vector<Priced> whole = {std::move(node)};
    for (size_t i = 0; i < children && !too_many_; ++i)
      AddChild(expansion.children[i], available, limit - least, &whole);
    for (Priced& program : whole)
      if (program.cost < limit) programs->push_back(std::move(program));
    too_many_ |= programs->size() > most_;
  }

  // Each of `programs` with each of the child's that costs so little more than its best.
  void AddChild(const Expansion::Child& child, Lines available, Cost more, std::vector<Priced>* programs) {
    const Cost best = Best(child.spec, available);
    // What takes no time of its own has the program that the search finds.
    const std::vector<Priced> below = child.weight == 0
                                          ? std::vector<Priced>{{best, Found(child.spec, available)}}
                                          : Below(best + more / child.weight + 1, child.spec, available);
    too_many_ |= programs->size() * below.size() > most_;
    if (too_many_) return;
    std::vector<Priced> longer;
    for (const Priced& program : *programs)
      for (const Priced& last : below) {
        longer.push_back(program);
        longer.back().cost += child.weight * last.cost;
        longer.back().impl.children.push_back({child.trips, last.impl});
      }
    *programs = std::move(longer);
  }

  Impl Found(const Spec& spec, Lines available) const {
    HashMemo memo;
    const SearchOptions options;
    Solver solver(model_, memo, options, 0);
    EXPECT_TRUE(solver.Solve(spec, available, kInfiniteCost).solved);
    return solver.Reconstruct(spec, available);
  }

  const CostModel& model_;
  BruteForce brute_force_;
  const size_t most_;
  bool too_many_ = false;
};

// All programs up to so much above the best that there are at most `most`; none if more cost the same.
inline std::vector<Priced> ProgramsNearTheBest(const Spec& placed, const CostModel& model, size_t most) {
  AllPrograms all(model, most);
  const Lines available = LinesLeftAtHome(placed, model.target());
  const Cost best = all.Best(placed, available);
  for (Cost more = 16 * best;; more /= 2) {
    if (more == 0) return {};
    all.StartAnew();
    std::vector<Priced> programs = all.Below(best + more + 1, placed, available);
    if (!all.too_many()) return programs;
  }
}

}  // namespace kirsch::testing

#endif  // KIRSCH_TESTS_TESTING_ALL_PROGRAMS_H_
