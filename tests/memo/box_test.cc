// SPDX-License-Identifier: Apache-2.0
// Boxes and their index against plain lists of points.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "memo/box_index.h"

namespace kirsch {
namespace {

using Point = std::array<uint32_t, 3>;
using Decisions = std::map<Point, uint32_t>;

Box BoxOf(const Point& point, uint32_t decision) {
  Box box;
  std::copy(point.begin(), point.end(), box.low.begin());
  box.high = box.low;
  box.decision = decision;
  return box;
}

// Points of a cube, most of them, with decisions that change seldom. `scale` pulls the points apart.
Decisions RandomDecisions(uint32_t side, uint32_t scale, std::mt19937* random) {
  Decisions decisions;
  const uint32_t border = (*random)() % side;
  for (uint32_t x = 0; x < side; ++x)
    for (uint32_t y = 0; y < side; ++y)
      for (uint32_t z = 0; z < side; ++z)
        if ((*random)() % 8 != 0) decisions[{x * scale, y * scale, z}] = (x < border) + (y + z < border);
  return decisions;
}

std::vector<Box> Merged(const Decisions& decisions, std::mt19937* random) {
  std::vector<Box> points;
  for (const auto& [point, decision] : decisions) points.push_back(BoxOf(point, decision));
  std::shuffle(points.begin(), points.end(), *random);
  return MergeBoxes(std::move(points), 3);
}

bool Same(const Box& a, const Box& b) {
  return a.low == b.low && a.high == b.high && a.decision == b.decision;
}

TEST(BoxTest, NeighboursJoinAlongTheLastCoordinateFirst) {
  std::mt19937 random(1);
  // An L: two points at x = 0 and one at x = 1 beside the first.
  const std::vector<Box> boxes =
      Merged({{{0, 0, 0}, 7}, {{0, 0, 1}, 7}, {{1, 0, 0}, 7}, {{5, 0, 0}, 7}, {{6, 0, 0}, 8}}, &random);
  ASSERT_EQ(boxes.size(), 4u);
  EXPECT_EQ(boxes[0].high[2], 1u);
  EXPECT_EQ(boxes[1].low[0], 1u);
  EXPECT_EQ(boxes[2].low[0], 5u) << "not next to x = 1";
  EXPECT_EQ(boxes[3].low[0], 6u) << "another decision";
}

TEST(BoxTest, BoxesHoldEveryPointOnceAndNoOther) {
  std::mt19937 random(2);
  for (uint32_t side = 1; side <= 9; ++side) {
    const Decisions decisions = RandomDecisions(side, 1, &random);
    if (decisions.empty()) continue;
    const std::vector<Box> boxes = Merged(decisions, &random);
    for (uint32_t x = 0; x < side; ++x)
      for (uint32_t y = 0; y < side; ++y)
        for (uint32_t z = 0; z < side; ++z) {
          const Point point{x, y, z};
          const auto expected = decisions.find(point);
          int holders = 0;
          for (const Box& box : boxes) {
            if (!box.Contains(point, 3)) continue;
            ++holders;
            ASSERT_NE(expected, decisions.end());
            EXPECT_EQ(box.decision, expected->second);
          }
          EXPECT_EQ(holders, expected != decisions.end() ? 1 : 0);
        }
    int64_t volume = 0;
    for (const Box& box : boxes) volume += box.volume(3);
    EXPECT_EQ(volume, static_cast<int64_t>(decisions.size()));
  }
}

TEST(BoxTest, BoxesDependOnTheSetOfPointsOnlyAndAreInOrder) {
  std::mt19937 random(3);
  const Decisions decisions = RandomDecisions(7, 1, &random);
  const std::vector<Box> boxes = Merged(decisions, &random);
  for (int i = 0; i < 10; ++i) {
    const std::vector<Box> again = Merged(decisions, &random);
    EXPECT_TRUE(std::equal(boxes.begin(), boxes.end(), again.begin(), again.end(), Same));
  }
  for (size_t i = 1; i < boxes.size(); ++i)
    EXPECT_TRUE(std::lexicographical_compare(boxes[i - 1].low.rbegin(), boxes[i - 1].low.rend(),
                                             boxes[i].low.rbegin(), boxes[i].low.rend()));
}

TEST(BoxTest, MergingTheLargestCoordinatesWorks) {
  constexpr uint32_t kMost = ~uint32_t{0};
  const std::vector<Box> boxes =
      MergeBoxes({BoxOf({kMost, 0, 0}, 1), BoxOf({0, 0, 0}, 1), BoxOf({kMost - 1, 0, 0}, 1)}, 3);
  ASSERT_EQ(boxes.size(), 2u);
  EXPECT_EQ(boxes[1].high[0], kMost);
}

// Scale 1: a bitmap per value. 1000: neighbours share one. 2^28: up to the largest values.
TEST(BoxIndexTest, CandidatesAreAllBoxesThatHoldThePointAscending) {
  std::mt19937 random(4);
  const auto below = [&](uint32_t end) { return static_cast<uint32_t>(random() % end); };
  for (const uint32_t scale : {1u, 1000u, 1u << 28})
    for (uint32_t side = 2; side <= 12; side += 2) {
      const std::vector<Box> boxes = Merged(RandomDecisions(side, scale, &random), &random);
      const BoxIndex index(boxes, 3);
      for (int i = 0; i < 500; ++i) {
        const Point point{below(side + 1) * scale, below(side + 1) * scale, below(side + 1)};
        std::vector<size_t> candidates, holders;
        index.ForEachCandidate(point, [&](size_t box) { candidates.push_back(box); });
        EXPECT_TRUE(std::is_sorted(candidates.begin(), candidates.end()));
        for (size_t box = 0; box < boxes.size(); ++box)
          if (boxes[box].Contains(point, 3)) holders.push_back(box);
        if (scale == 1) {
          EXPECT_EQ(candidates, holders);
        } else {
          EXPECT_TRUE(std::includes(candidates.begin(), candidates.end(), holders.begin(), holders.end()));
        }
      }
    }
}

TEST(BoxIndexTest, NoCoordinatesOrNoBoxes) {
  int used = 0;
  BoxIndex({}, 3).ForEachCandidate(Point{}, [&](size_t) { ++used; });
  EXPECT_EQ(used, 0);
  BoxIndex({BoxOf({1, 2, 3}, 0)}, 0).ForEachCandidate(Point{}, [&](size_t) { ++used; });
  EXPECT_EQ(used, 1);
}

}  // namespace
}  // namespace kirsch
