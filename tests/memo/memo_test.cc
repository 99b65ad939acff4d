// SPDX-License-Identifier: Apache-2.0
// The memo against a naive list of everything it was told.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <thread>
#include <vector>

#include "memo/hash_memo.h"
#include "tests/testing/random_spec.h"

namespace kirsch {
namespace {

Spec SpecNumber(uint32_t i) { return testing::MatmulSpec({.m = i + 1, .k = 2, .n = 3}); }

Decision TileOf(uint32_t size) {
  Decision decision;
  decision.kind = RewriteKind::kTile;
  decision.size = size;
  return decision;
}

TEST(HashMemoTest, KnowsNothingAtFirst) {
  const HashMemo memo;
  const Known known = memo.Find(SpecNumber(0), 10);
  EXPECT_FALSE(known.solution.has_value());
  EXPECT_EQ(known.bound, 0);
  EXPECT_EQ(memo.counts().specs, 0);
}

TEST(HashMemoTest, SolutionHoldsInItsBoxAndBoundsBelowIt) {
  HashMemo memo;
  memo.AddSolution(SpecNumber(0), {100, 5, 20, TileOf(1)});
  for (Lines lines : {5, 12, 20}) {
    const Known known = memo.Find(SpecNumber(0), lines);
    ASSERT_TRUE(known.solution.has_value()) << lines;
    EXPECT_EQ(known.solution->cost, 100);
    EXPECT_EQ(known.solution->decision, TileOf(1));
    EXPECT_EQ(known.bound, 100);
  }
  EXPECT_FALSE(memo.Find(SpecNumber(0), 21).solution.has_value()) << "more lines may be cheaper";
  EXPECT_EQ(memo.Find(SpecNumber(0), 21).bound, 0);
  EXPECT_FALSE(memo.Find(SpecNumber(0), 4).solution.has_value()) << "it doesn't fit";
  EXPECT_EQ(memo.Find(SpecNumber(0), 4).bound, 100) << "fewer lines cannot be cheaper";
  EXPECT_FALSE(memo.Find(SpecNumber(1), 12).solution.has_value());
}

TEST(HashMemoTest, BoundHoldsForFewerLines) {
  HashMemo memo;
  memo.AddBound(SpecNumber(0), 10, 50);
  memo.AddBound(SpecNumber(0), 20, 30);
  EXPECT_EQ(memo.Find(SpecNumber(0), 10).bound, 50);
  EXPECT_EQ(memo.Find(SpecNumber(0), 11).bound, 30);
  EXPECT_EQ(memo.Find(SpecNumber(0), 20).bound, 30);
  EXPECT_EQ(memo.Find(SpecNumber(0), 21).bound, 0);
  memo.AddBound(SpecNumber(0), 20, 60);  // says more than both
  EXPECT_EQ(memo.Find(SpecNumber(0), 10).bound, 60);
}

TEST(HashMemoTest, SameSolutionWithMoreLinesWidensItsBox) {
  HashMemo memo;
  memo.AddSolution(SpecNumber(0), {100, 5, 10, TileOf(1)});
  memo.AddSolution(SpecNumber(0), {100, 5, 20, TileOf(1)});
  EXPECT_EQ(memo.counts().solutions, 1);
  EXPECT_TRUE(memo.Find(SpecNumber(0), 15).solution.has_value());
}

TEST(HashMemoTest, SpecsThatDifferInAnyWordAreDistinct) {
  HashMemo memo;
  const Spec spec = SpecNumber(0);
  std::vector<Spec> others(6, spec);
  others[0].accumulate = true;
  others[1].threads = 2;
  others[2].active_threads = 2;
  others[3].size[MatmulDims::kB] = 2;
  others[4].out().level = Level::kL2;
  others[5].operand[MatmulDims::kRhs].layout.ld = 77;
  memo.AddSolution(spec, {1, 0, 10, TileOf(1)});
  for (const Spec& other : others) EXPECT_FALSE(memo.Find(other, 5).solution.has_value());
}

// A made-up truth: the least cost with so many lines is a staircase. Whatever is told of it, in any order,
// what the memo answers is what follows from the list of all that it was told.
class Truth {
 public:
  explicit Truth(std::mt19937_64* random) {
    Cost cost = 1000;
    for (Lines peak = 0; peak < 60; peak += 1 + static_cast<Lines>((*random)() % 15)) {
      steps_.push_back({cost, peak, 0, TileOf(static_cast<uint32_t>(steps_.size()))});
      cost -= 1 + static_cast<Cost>((*random)() % 100);
    }
  }

  Solution At(Lines available) const {
    Solution best = steps_.front();
    for (const Solution& step : steps_)
      if (step.peak <= available) best = step;
    best.available = available;
    return best;
  }

 private:
  std::vector<Solution> steps_;
};

struct Facts {
  std::vector<Solution> solutions;
  std::vector<std::pair<Lines, Cost>> bounds;

  const Solution* SolutionFor(Lines available) const {
    for (const Solution& solution : solutions)
      if (solution.peak <= available && available <= solution.available) return &solution;
    return nullptr;
  }
  Cost BoundFor(Lines available) const {
    Cost best = 0;
    for (const Solution& solution : solutions)
      if (available <= solution.available) best = std::max(best, solution.cost);
    for (const auto& [lines, cost] : bounds)
      if (available <= lines) best = std::max(best, cost);
    return best;
  }
};

void ExpectSame(const HashMemo& memo, const Spec& spec, const Facts& facts) {
  Cost before = kInfiniteCost;
  for (Lines lines = 0; lines < 70; ++lines) {
    const Known known = memo.Find(spec, lines);
    const Solution* const expected = facts.SolutionFor(lines);
    ASSERT_EQ(known.solution.has_value(), expected != nullptr) << lines;
    EXPECT_EQ(known.bound, facts.BoundFor(lines)) << lines;
    EXPECT_LE(known.bound, before) << "more lines, yet a higher bound";
    before = known.bound;
    if (expected == nullptr) continue;
    EXPECT_EQ(known.solution->cost, expected->cost);
    EXPECT_EQ(known.solution->peak, expected->peak);
    EXPECT_EQ(known.solution->decision, expected->decision);
  }
}

TEST(HashMemoTest, IsTheListOfAllItWasTold) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 200; ++round) {
    constexpr uint32_t kSpecs = 5;
    HashMemo memo;
    std::vector<Truth> truths;
    std::vector<Facts> facts(kSpecs);
    for (uint32_t i = 0; i < kSpecs; ++i) truths.emplace_back(&random);
    for (int step = 0; step < 40; ++step) {
      const uint32_t i = static_cast<uint32_t>(random() % kSpecs);
      const Lines lines = static_cast<Lines>(random() % 70);
      const Solution best = truths[i].At(lines);
      if (random() % 2 == 0) {
        memo.AddSolution(SpecNumber(i), best);
        facts[i].solutions.push_back(best);
      } else {
        const Cost bound = best.cost - static_cast<Cost>(random() % 50);
        memo.AddBound(SpecNumber(i), lines, bound);
        facts[i].bounds.emplace_back(lines, bound);
      }
    }
    for (uint32_t i = 0; i < kSpecs; ++i) ExpectSame(memo, SpecNumber(i), facts[i]);
    ASSERT_FALSE(HasFailure()) << "round " << round;
  }
}

TEST(HashMemoTest, ForgetsEverything) {
  HashMemo memo;
  for (uint32_t i = 0; i < 1000; ++i) memo.AddSolution(SpecNumber(i), {100, 5, 20, TileOf(1)});
  EXPECT_EQ(memo.counts().specs, 1000);
  EXPECT_GE(memo.counts().bytes, static_cast<int64_t>(1000 * sizeof(Spec)));
  memo.Clear();
  EXPECT_EQ(memo.counts().specs, 0);
  EXPECT_EQ(memo.counts().solutions, 0);
  EXPECT_EQ(memo.counts().bytes, 0);
  EXPECT_FALSE(memo.Find(SpecNumber(7), 10).solution.has_value());
}

// Threads that tell facts of the same specs and ask at once: nothing is lost, nothing is half said.
TEST(HashMemoTest, ServesThreadsAtOnce) {
  constexpr uint32_t kSpecs = 2000, kThreads = 4;
  HashMemo memo;
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < kThreads; ++t)
    threads.emplace_back([&memo, t] {
      for (uint32_t i = 0; i < kSpecs; ++i) {
        const Cost cost = 100 + i;
        memo.AddBound(SpecNumber(i), 100, cost - 1 - static_cast<Cost>(t));
        memo.AddSolution(SpecNumber(i), {cost, 5, static_cast<Lines>(20 + t), TileOf(i + 1)});
        const Known known = memo.Find(SpecNumber(i), 10);
        EXPECT_TRUE(known.solution.has_value() && known.solution->decision == TileOf(i + 1));
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(memo.counts().specs, kSpecs);
  EXPECT_EQ(memo.counts().solutions, kSpecs) << "the same solution, its box widened";
  for (uint32_t i = 0; i < kSpecs; ++i) {
    EXPECT_EQ(memo.Find(SpecNumber(i), 20 + kThreads - 1).bound, 100 + i);
    EXPECT_EQ(memo.Find(SpecNumber(i), 100).bound, 99 + i);
  }
}

}  // namespace
}  // namespace kirsch
