// SPDX-License-Identifier: Apache-2.0
// The statistics, each against what its definition says, done slowly.
#include "fidelity/agreement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace kirsch {
namespace {

Predictions RandomPredictions(std::mt19937& random, bool ties) {
  Predictions programs(2 + random() % 12);
  for (ComparedPrediction& program : programs) {
    program.predicted = static_cast<double>(1 + random() % (ties ? 6 : 1000000));
    program.measured = static_cast<double>(1 + random() % (ties ? 6 : 1000000));
    program.noise = static_cast<double>(random() % 3) * 0.1;
  }
  return programs;
}

// By all ordered pairs, each told apart by name.
std::optional<double> SlowTau(const Predictions& programs) {
  double right = 0, wrong = 0, same = 0;
  for (const ComparedPrediction& a : programs)
    for (const ComparedPrediction& b : programs) {
      if (!(a.measured < b.measured)) continue;
      const double gap = b.measured - a.measured;
      if (gap <= a.noise * a.measured || gap <= b.noise * b.measured || gap <= 0.01 * a.measured) continue;
      if (a.predicted < b.predicted)
        ++right;
      else if (a.predicted > b.predicted)
        ++wrong;
      else
        ++same;
    }
  if (right + wrong + same == 0) return std::nullopt;
  return (right - wrong) / (right + wrong + same);
}

TEST(KendallTau, IsTheOneByPairs) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    const Predictions programs = RandomPredictions(random, round % 2 == 0);
    const std::optional<double> tau = KendallTau(programs), slow = SlowTau(programs);
    ASSERT_EQ(tau.has_value(), slow.has_value());
    ASSERT_NEAR(tau.value_or(0), slow.value_or(0), 1e-12);
  }
}

TEST(KendallTau, OfKnownOrders) {
  EXPECT_EQ(KendallTau({{1, 10}, {2, 20}, {3, 30}}), 1);
  EXPECT_EQ(KendallTau({{3, 10}, {2, 20}, {1, 30}}), -1);
  EXPECT_DOUBLE_EQ(*KendallTau({{1, 10}, {3, 20}, {2, 30}}), 1.0 / 3);
  EXPECT_DOUBLE_EQ(*KendallTau({{1, 10}, {1, 20}, {2, 30}}), 2.0 / 3);  // a tie in what was predicted
}

TEST(KendallTau, PairsWithinTheNoiseDoNotCount) {
  EXPECT_EQ(KendallTau({{1, 100}, {2, 99.5}}), std::nullopt);  // too near
  EXPECT_EQ(KendallTau({{1, 100}, {2, 90}}), -1);
  EXPECT_EQ(KendallTau({{1, 100, 0.2}, {2, 90}}), std::nullopt);  // the noise of one of them
  EXPECT_EQ(KendallTau({{1, 100, 0.2}, {2, 90}, {3, 200}}), 1);
  EXPECT_EQ(KendallTau({}), std::nullopt);
}

TEST(Choice, IsTheLeastPredictedAndOfEqualOnesTheFirst) {
  EXPECT_EQ(Chosen({{5, 1}, {3, 9}, {3, 2}, {4, 1}}), 1u);
}

TEST(TileApe, IsTheShareThatChoicesLose) {
  const Predictions a = {{1, 120}, {2, 100}}, b = {{1, 300}, {2, 400}};
  EXPECT_DOUBLE_EQ(LossOfChoice(a), 0.2);
  EXPECT_DOUBLE_EQ(LossOfChoice(b), 0);
  EXPECT_DOUBLE_EQ(TileApe({a}), 0.2);
  EXPECT_DOUBLE_EQ(TileApe({a, b}), 20.0 / 400);
  EXPECT_EQ(TileApe({}), 0);
}

TEST(BestWithinFirst, IsWhatSortingSays) {
  std::mt19937 random(2);
  for (int round = 0; round < 2000; ++round) {
    Predictions programs = RandomPredictions(random, round % 2 == 0);
    double best = programs[0].measured;
    for (const ComparedPrediction& program : programs) best = std::min(best, program.measured);
    for (size_t count : {1, 3, 5, 10}) {
      // The k-th by prediction: as many before it as cost less, or as much and come before.
      bool found = false;
      for (size_t i = 0; i < programs.size(); ++i) {
        size_t before = 0;
        for (size_t j = 0; j < programs.size(); ++j)
          before += programs[j].predicted < programs[i].predicted ||
                    (programs[j].predicted == programs[i].predicted && j < i);
        found |= before < count && programs[i].measured <= 1.01 * best;
      }
      ASSERT_EQ(BestWithinFirst(programs, count), found);
    }
  }
}

TEST(MeanAbsoluteError, IsOfWhatWasMeasured) {
  EXPECT_DOUBLE_EQ(MeanAbsoluteError({{150, 100}, {90, 100}}), 0.3);
  EXPECT_DOUBLE_EQ(ErrorOfChoice({{150, 100}, {90, 100}}), 0.1);
}

}  // namespace
}  // namespace kirsch
