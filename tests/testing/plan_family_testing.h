// SPDX-License-Identifier: Apache-2.0
// What the tests of plans for a range of sizes share: families as text, and whether their plans are right.
#ifndef KIRSCH_TESTS_TESTING_PLAN_FAMILY_TESTING_H_
#define KIRSCH_TESTS_TESTING_PLAN_FAMILY_TESTING_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "codegen/verify/verify.h"
#include "memo/hash_memo.h"
#include "search/families/plan_regions.h"
#include "spec/language/graph_family.h"
#include "spec/text/cat.h"
#include "tests/testing/plan_testing.h"

namespace kirsch::testing {

// A size, and what it counts.
struct SharedSize {
  VaryingSize size;
  SizeSymbol symbol = SizeSymbol::kRows;
};

struct Family {
  GraphFamily all;
  std::vector<SharedSize> sizes;  // as looked at
  std::vector<Graph> members;

  std::vector<VaryingSize> varying() const {
    std::vector<VaryingSize> varying;
    for (const SharedSize& shared : sizes) varying.push_back(shared.size);
    return varying;
  }
  // Of a family of one size.
  int64_t size(size_t member) const { return sizes[0].size.values[member]; }
  Graph MemberOf(const SymbolValues& point) const {
    std::vector<uint32_t> values;
    for (const SharedSize& shared : sizes) values.push_back(static_cast<uint32_t>(point[shared.symbol]));
    return *all.MemberOf(values);
  }
};

inline void MakeMembers(Family* family) {
  family->members.clear();
  const std::vector<VaryingSize> varying = family->varying();
  for (int64_t i = 0; i < CountMembers(varying); ++i)
    family->members.push_back(*family->all.MemberOf(ValuesOf(varying, i)));
}

// Of a kernel whose sizes are these symbols.
inline Family MakeFamily(const std::string& text, const std::vector<SizeSymbol>& symbols) {
  const auto family = ParseGraphFamily(Split({text, {}}, '\n'), "test");
  EXPECT_TRUE(family.ok()) << family.status() << "\n" << text;
  Family made{*family, {}, {}};
  for (size_t i = 0; i < symbols.size(); ++i) made.sizes.push_back({family->sizes()[i], symbols[i]});
  MakeMembers(&made);
  return made;
}

// Looks at the first two values of each size, the last, and one in so many between.
inline Family Sampled(Family family, size_t one_in) {
  for (SharedSize& shared : family.sizes) {
    const std::vector<uint32_t> values = shared.size.values;
    shared.size = {shared.size.name, {}, true};
    for (size_t i = 0; i < values.size(); ++i)
      if (i <= 1 || i + 1 == values.size() || i % one_in == 0) shared.size.values.push_back(values[i]);
  }
  MakeMembers(&family);
  return family;
}

// `stopped`: see PlanMembers. `searches` gets the number of programs that were asked for, if it is not null.
inline std::optional<PlanFamily> RegionsOf(const Family& family, const Target& target,
                                           const std::function<bool()>& stopped = {},
                                           int* searches = nullptr) {
  const CostModel model(target);
  HashMemo memo;
  PlanOptions options;
  SearchStages(model, memo, &options);
  if (searches != nullptr)
    options.solve = [solve = options.solve, searches](const Spec& placed, Cost cutoff) {
      ++*searches;
      return solve(placed, cutoff);
    };
  const std::function<std::optional<Graph>(SymbolValues)> graph_of = [&](const SymbolValues& point) {
    return family.MemberOf(point);
  };
  const std::vector<VaryingSize> varying = family.varying();
  std::vector<PlanNumber> numbers;
  for (size_t i = 0; i < family.sizes.size(); ++i) numbers.push_back({family.sizes[i].symbol, SizeSum(i)});
  const auto found =
      FindPlanRegions({family.members, varying, numbers, graph_of, "test", model, options, stopped});
  EXPECT_TRUE(found.ok()) << found.status();
  return found.ok() ? *found : std::nullopt;
}

// The sizes that a member is looked at for: those up to it from the last one that is.
inline std::vector<SymbolValues> PointsServedAs(const Family& family, size_t member) {
  const std::vector<VaryingSize> varying = family.varying();
  const std::vector<uint32_t> most = ValuesOf(varying, static_cast<int64_t>(member));
  std::vector<SymbolValues> points(1);
  for (size_t i = 0; i < varying.size(); ++i) {
    std::vector<SymbolValues> longer;
    for (SymbolValues point : points)
      for (uint32_t value = varying[i].LeastServedAs(most[i]); value <= most[i]; ++value) {
        point[family.sizes[i].symbol] = value;
        longer.push_back(point);
      }
    points = std::move(longer);
  }
  return points;
}

// The regions are of all members, and each of these, and of those between them, is right, interpreted and as
// machine code.
inline void ExpectEveryMemberIsRight(const Family& family, const PlanFamily& plans, const Target& target) {
  std::vector<bool> served(family.members.size());
  for (const PlanRegion& region : plans.regions) {
    std::deque<Graph> graphs;
    std::vector<MemberOfSize> members;
    for (size_t member : region.members) {
      EXPECT_FALSE(served[member]);
      served[member] = true;
      for (const SymbolValues& point : PointsServedAs(family, member)) {
        graphs.push_back(family.MemberOf(point));
        MemberOfSize& served_by = members.emplace_back(MemberOfSize{&graphs.back(), {}});
        for (const SymbolRange& range : region.plan.symbols) served_by.sizes.push_back(point[range.symbol]);
      }
    }
    VerifyOptions options;
    options.header = false;
    const std::vector<VerifyReport> reports = VerifySizes(region.plan, members, target, "kernel", options);
    ASSERT_EQ(reports.size(), members.size());
    for (size_t i = 0; i < reports.size(); ++i)
      ASSERT_TRUE(reports[i].ok) << "number " << i << " of those from member " << region.members.front()
                                 << ": " << reports[i].first_mismatch << "\n"
                                 << PrintPlan(region.plan);
  }
  EXPECT_THAT(served, ::testing::Each(true));
}

}  // namespace kirsch::testing

#endif  // KIRSCH_TESTS_TESTING_PLAN_FAMILY_TESTING_H_
