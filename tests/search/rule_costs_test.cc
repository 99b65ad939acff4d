// SPDX-License-Identifier: Apache-2.0
#include "search/families/rule_costs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

namespace kirsch {
namespace {

RuleCosts Members(size_t count) {
  return RuleCosts(0, count - 1, [](size_t member) { return static_cast<double>(member + 1); });
}

double Loss(const RuleCosts& costs, double cost, size_t member) { return cost / costs.Least(member) - 1; }

// The fewest intervals that end before `member`, by trying all.
size_t FewestBefore(const std::vector<std::vector<double>>& rules, const RuleCosts& costs, size_t member) {
  if (member == 0) return 0;
  size_t fewest = member + 1;
  for (size_t first = 0; first < member; ++first)
    for (const std::vector<double>& rule : rules) {
      bool serves = true;
      for (size_t i = first; i < member; ++i) serves &= Loss(costs, rule[i], i) <= kMostLoss;
      if (serves) fewest = std::min(fewest, FewestBefore(rules, costs, first) + 1);
    }
  return fewest;
}

TEST(RuleCosts, IntervalsAreTheFewest) {
  constexpr size_t kMembers = 7;
  std::mt19937_64 random(1);
  for (int time = 0; time < 300; ++time) {
    RuleCosts costs = Members(kMembers);
    std::vector<std::vector<double>> rules(3);
    for (std::vector<double>& rule : rules) {
      for (size_t i = 0; i < kMembers; ++i)
        rule.push_back(random() % 8 == 0 ? RuleCosts::kNone : 100 + static_cast<double>(random() % 3) * 2);
      costs.Add(rule);
    }
    bool all_served = true;
    for (size_t i = 0; i < kMembers; ++i) all_served &= costs.Least(i) < RuleCosts::kNone;
    if (!all_served) continue;
    size_t intervals = 0;
    for (size_t next = 0; next < kMembers; ++intervals) {
      const auto furthest =
          costs.Furthest(next, [&](double cost, size_t member) { return Loss(costs, cost, member); });
      ASSERT_TRUE(furthest.has_value());
      ASSERT_GE(furthest->last, next);
      next = furthest->last + 1;
    }
    EXPECT_EQ(intervals, FewestBefore(rules, costs, kMembers));
  }
}

TEST(RuleCosts, OfThoseThatReachAsFarTheCheapest) {
  RuleCosts costs = Members(2);
  costs.Add({102, 102});
  costs.Add({100, 101});
  costs.Add({100, 100});
  costs.Add({100, 200});
  const auto loss = [&](double cost, size_t member) { return Loss(costs, cost, member); };
  EXPECT_EQ(costs.Furthest(0, loss)->rule, 2);
}

TEST(RuleCosts, WhatNoRuleServesIsInNone) {
  RuleCosts costs = Members(2);
  costs.Add({104, 100});
  costs.SetOwn(0, 100);
  const auto loss = [&](double cost, size_t member) { return Loss(costs, cost, member); };
  EXPECT_FALSE(costs.Furthest(0, loss).has_value());
  EXPECT_EQ(costs.Furthest(1, loss)->last, 1);
  EXPECT_EQ(costs.Least(0), 100);
}

TEST(RuleCosts, NoRuleServesWhereNoneHasAProgram) {
  RuleCosts costs = Members(1);
  costs.Add({RuleCosts::kNone});
  EXPECT_FALSE(costs.Furthest(0, [&](double cost, size_t member) { return Loss(costs, cost, member); }));
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
                              return absl::OkStatus();
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

TEST(RuleCosts, RefinesWhatIsFarApart) {
  RuleCosts costs = Members(64);
  std::vector<double> rule;
  for (size_t i = 0; i < 64; ++i) rule.push_back(static_cast<double>(i + 1));
  costs.Add(rule);
  int solved = 0;
  EXPECT_TRUE(costs.Refine(0, 63, 16, [&](size_t) { return ++solved, absl::OkStatus(); }).ok());
  EXPECT_EQ(solved, 1);
  EXPECT_FALSE(costs.Refine(0, 63, 16, [](size_t) { return absl::CancelledError(); }).ok());
}

}  // namespace
}  // namespace kirsch
