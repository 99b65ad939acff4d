// SPDX-License-Identifier: Apache-2.0
#include "search/families/rule_costs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace kirsch {
namespace {

// Sizes from 1 on.
RuleCosts Members(size_t count) {
  std::vector<double> sizes(count);
  std::iota(sizes.begin(), sizes.end(), 1);
  return RuleCosts({sizes}, /*in_boxes=*/true);
}

TEST(RuleCosts, SharesAreOfAllMembers) {
  constexpr size_t kMembers = 7;
  std::mt19937_64 random(1);
  for (int time = 0; time < 300; ++time) {
    RuleCosts costs = Members(kMembers);
    for (int i = 0; i < 3; ++i) {
      std::vector<double> rule;
      for (size_t member = 0; member < kMembers; ++member)
        rule.push_back(random() % 8 == 0 ? RuleCosts::kNone : 100 + static_cast<double>(random() % 3) * 2);
      costs.Add(rule);
    }
    bool all_served = true;
    for (size_t i = 0; i < kMembers; ++i) all_served &= costs.Least(i) < RuleCosts::kNone;
    if (!all_served) continue;
    for (int again = 0; again < 2; ++again) {
      std::vector<int> served(kMembers);
      size_t first = 0;
      for (const RuleCosts::Share& share : costs.Cover()) {
        EXPECT_GE(share.members.front(), first);
        first = share.members.front();
        for (size_t member = share.first; member <= share.last; ++member)
          EXPECT_LT(costs.cost(share.rule, member), RuleCosts::kNone);
        for (size_t member : share.members) {
          ++served[member];
          EXPECT_LE(costs.Loss(costs.cost(share.rule, member), member), kMostLoss);
        }
      }
      EXPECT_THAT(served, ::testing::Each(1));
    }
  }
}

TEST(RuleCosts, OfThoseThatServeAsManyTheCheapest) {
  RuleCosts costs = Members(2);
  costs.Add({102, 102});
  costs.Add({100, 101});
  costs.Add({100, 100});
  costs.Add({100, 200});
  EXPECT_EQ(costs.Largest({false, false})->rule, 2);
}

TEST(RuleCosts, SharesHaveGapsWhereCodeNeedsNoBox) {
  const std::vector<double> some = {100, RuleCosts::kNone, 100}, most = {RuleCosts::kNone, 100, 104};
  for (bool in_boxes : {true, false}) {
    RuleCosts costs({{1, 2, 3}}, in_boxes);
    costs.Add(some);
    costs.Add(most);
    EXPECT_EQ(costs.Cover().size(), in_boxes ? 3 : 2);
  }
}

TEST(RuleCosts, WhatNoRuleServesIsInNone) {
  RuleCosts costs = Members(2);
  costs.Add({104, 100});
  costs.SetOwn(0, 100);
  EXPECT_THAT(costs.Largest({false, false})->members, ::testing::ElementsAre(1));
  EXPECT_FALSE(costs.Largest({false, true}).has_value());
  EXPECT_EQ(costs.Least(0), 100);
}

TEST(RuleCosts, NoRuleServesWhereNoneHasAProgram) {
  RuleCosts costs = Members(1);
  costs.Add({RuleCosts::kNone});
  EXPECT_FALSE(costs.Largest({false}).has_value());
}

// Members on a line need no more; where some cost more than it, it is halved, as ratios are.
TEST(RuleCosts, RefinesWhereALineIsLeft) {
  constexpr size_t kMembers = 64;
  const auto solved_of = [&](double bump) {
    RuleCosts costs = Members(kMembers);
    std::vector<double> rule;
    for (size_t i = 0; i < kMembers; ++i)
      rule.push_back(static_cast<double>(i + 1) * (i >= 10 && i < 40 ? bump : 1));
    costs.Add(rule);
    std::set<size_t> solved;
    EXPECT_TRUE(costs
                    .Refine(0, kMembers - 1, RuleCosts::kNone,
                            [&](size_t member) {
                              EXPECT_TRUE(solved.insert(member).second);
                              return true;
                            })
                    .ok());
    return solved;
  };
  EXPECT_THAT(solved_of(1), ::testing::IsEmpty());
  const std::set<size_t> solved = solved_of(2);
  EXPECT_TRUE(solved.contains(7));   // 8, of 1 to 64
  EXPECT_TRUE(solved.contains(22));  // 23, of 8 to 64
  EXPECT_LT(solved.size(), 20);
}

// A plan serves smaller members only. So where a known rule ends, one search is enough: of the last member
// that is not served. In a middle, where specs are searched, it would leave those above.
TEST(RuleCosts, PlansAreSearchedForWhereARuleEnds) {
  constexpr size_t kMembers = 64, kEnd = 40;
  const auto solved_of = [&](bool in_boxes) {
    std::vector<double> sizes(kMembers), rule(kMembers);
    std::iota(sizes.begin(), sizes.end(), 1);
    for (size_t i = 0; i < kMembers; ++i) rule[i] = sizes[i] * (i >= 10 && i < kEnd ? 2 : 1);
    RuleCosts costs({sizes}, in_boxes);
    costs.Add(rule);
    std::vector<size_t> solved;
    const auto solve = [&](size_t member) {
      solved.push_back(member);
      std::vector<double> own(kMembers, RuleCosts::kNone);
      std::copy_n(sizes.begin(), member + 1, own.begin());
      costs.Add(own);
      return true;
    };
    EXPECT_TRUE(costs.Refine(0, kMembers - 1, RuleCosts::kNone, solve).ok());
    return solved;
  };
  EXPECT_THAT(solved_of(false), ::testing::ElementsAre(kEnd - 1));
  EXPECT_GT(solved_of(true).size(), 2);
}

TEST(RuleCosts, RefinesNoFurtherWhereNothingIsNew) {
  RuleCosts costs = Members(64);
  std::vector<double> rule;
  for (size_t i = 0; i < 64; ++i) rule.push_back(static_cast<double>(i + 1) * (i >= 10 && i < 40 ? 2 : 1));
  costs.Add(rule);
  int solved = 0;
  EXPECT_TRUE(costs.Refine(0, 63, RuleCosts::kNone, [&](size_t) { return ++solved == 0; }).ok());
  EXPECT_EQ(solved, 1);
}

TEST(RuleCosts, RefinesWhatIsFarApart) {
  RuleCosts costs = Members(64);
  std::vector<double> rule;
  for (size_t i = 0; i < 64; ++i) rule.push_back(static_cast<double>(i + 1));
  costs.Add(rule);
  int solved = 0;
  EXPECT_TRUE(costs.Refine(0, 63, 16, [&](size_t) { return ++solved > 0; }).ok());
  EXPECT_EQ(solved, 1);
  EXPECT_FALSE(
      costs.Refine(0, 63, 16, [](size_t) -> absl::StatusOr<bool> { return absl::CancelledError(); }).ok());
}

// The most members that one rule serves of a box of all of which it makes programs, by trying all boxes.
size_t MostInABox(const RuleCosts& costs, const std::vector<bool>& taken) {
  const SizeGrid& grid = costs.grid();
  size_t most = 0;
  for (size_t first = 0; first < grid.members(); ++first)
    for (size_t last = first; last < grid.members(); ++last) {
      const SizeGrid::Place low = grid.At(first), high = grid.At(last);
      if (low.back() > high.back()) continue;
      for (size_t rule = 0; rule < costs.count(); ++rule) {
        size_t members = 0;
        const bool has_all = grid.Every(low, high, [&](size_t member) {
          const double cost = costs.cost(rule, member);
          members += !taken[member] && costs.Loss(cost, member) <= kMostLoss ? 1 : 0;
          return cost < RuleCosts::kNone;
        });
        if (has_all) most = std::max(most, members);
      }
    }
  return most;
}

// Three, each of which does not serve one in so many members, and makes no program of as many.
void AddRules(uint64_t one_in, std::mt19937_64* random, RuleCosts* costs) {
  for (int rule = 0; rule < 3; ++rule) {
    std::vector<double> of_rule(costs->grid().members());
    for (double& cost : of_rule) {
      const uint64_t draw = (*random)() % one_in;
      cost = draw == 0 ? 110 : draw == 1 ? RuleCosts::kNone : 100;
    }
    costs->Add(std::move(of_rule));
  }
}

// Of one size and of two, one share after the other, as members are taken.
TEST(RuleCosts, LargestSharesAreThoseOfAllBoxes) {
  std::mt19937_64 random(3);
  for (int time = 0; time < 60; ++time) {
    std::vector<std::vector<double>> sizes = {{1, 2, 3, 4, 5}, {1, 2, 3, 4, 5, 6}};
    if (time % 3 == 0) sizes.pop_back();
    RuleCosts costs(sizes, /*in_boxes=*/true);
    AddRules(/*one_in=*/5, &random, &costs);
    std::vector<bool> taken(costs.grid().members());
    while (const auto share = costs.Largest(taken)) {
      ASSERT_EQ(share->members.size(), MostInABox(costs, taken));
      EXPECT_EQ(costs.grid().Around(share->members), std::pair(share->first, share->last));
      EXPECT_TRUE(costs.grid().Every(
          costs.grid().At(share->first), costs.grid().At(share->last),
          [&](size_t member) { return costs.cost(share->rule, member) < RuleCosts::kNone; }));
      for (size_t member : share->members) {
        EXPECT_FALSE(taken[member]);
        EXPECT_LE(costs.Loss(costs.cost(share->rule, member), member), kMostLoss);
        taken[member] = true;
      }
    }
    EXPECT_EQ(MostInABox(costs, taken), 0);
  }
}

// Costs that are linear in each size need no more than the corners.
TEST(RuleCosts, TwoSizesAreRefinedWhereCornersDoNotSay) {
  const auto solved_of = [](double bump) {
    const std::vector<double> sizes = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    RuleCosts costs({sizes, sizes}, /*in_boxes=*/true);
    std::vector<double> rule;
    for (double row : sizes)
      for (double column : sizes) rule.push_back((row * column + row) * (row == 9 && column == 9 ? bump : 1));
    costs.Add(rule);
    std::set<size_t> solved;
    const auto solve = [&](size_t member) {
      EXPECT_TRUE(solved.insert(member).second);
      return true;
    };
    for (size_t corner : {143, 132, 11, 0}) solve(corner);
    EXPECT_TRUE(costs.Refine(0, costs.grid().members() - 1, RuleCosts::kNone, solve).ok());
    return solved;
  };
  EXPECT_EQ(solved_of(1), (std::set<size_t>{0, 11, 132, 143}));
  EXPECT_GT(solved_of(1.1).size(), 4);
}

}  // namespace
}  // namespace kirsch
