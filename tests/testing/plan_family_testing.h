// SPDX-License-Identifier: Apache-2.0
// What the tests of plans for a range of sizes share: families as text, and whether their plans are right.
#ifndef KIRSCH_TESTS_TESTING_PLAN_FAMILY_TESTING_H_
#define KIRSCH_TESTS_TESTING_PLAN_FAMILY_TESTING_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
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

struct Family {
  GraphFamily all;
  VaryingSize looked_at;  // the members' sizes
  std::vector<Graph> members;

  int64_t size(size_t member) const { return looked_at.values[member]; }
  Graph MemberOf(int64_t size) const { return all.MemberOf({static_cast<uint32_t>(size)}); }
};

// Of a kernel one of whose sizes varies.
inline Family MakeFamily(const std::string& text) {
  const auto family = ParseGraphFamily(Split({text, {}}, '\n'), "test");
  EXPECT_TRUE(family.ok()) << family.status() << "\n" << text;
  Family made{*family, family->sizes()[0], {}};
  for (int64_t i = 0; i < family->count(); ++i) made.members.push_back(family->member(i));
  return made;
}

// Looks at the first two sizes, the last, and one in so many between.
inline Family Sampled(Family family, size_t one_in) {
  const std::vector<uint32_t> values = family.looked_at.values;
  const std::vector<Graph> members = std::exchange(family.members, {});
  family.looked_at = {family.looked_at.name, {}, true};
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 1 && i + 1 < values.size() && i % one_in != 0) continue;
    family.looked_at.values.push_back(values[i]);
    family.members.push_back(members[i]);
  }
  return family;
}

inline std::optional<PlanFamily> RegionsOf(
    const Family& family, const Target& target,
    absl::StatusOr<std::optional<PlanFamily>> (*find)(const PlanMembers&)) {
  const CostModel model(target);
  HashMemo memo;
  PlanOptions options;
  SearchStages(model, memo, &options);
  const auto graph_of = [&](int64_t size) { return family.MemberOf(size); };
  const auto found = find({family.members, family.looked_at, graph_of, "test", model, options});
  EXPECT_TRUE(found.ok()) << found.status();
  return found.ok() ? *found : std::nullopt;
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
      for (int64_t size = family.looked_at.LeastServed(member); size <= family.size(member); ++size) {
        graphs.push_back(family.MemberOf(size));
        members.push_back({&graphs.back(), std::vector<int64_t>(region.plan.size ? 1 : 0, size)});
      }
    }
    VerifyOptions options;
    options.header = false;
    const std::vector<VerifyReport> reports = VerifySizes(region.plan, members, target, "kernel", options);
    ASSERT_EQ(reports.size(), members.size());
    for (size_t i = 0; i < reports.size(); ++i)
      ASSERT_TRUE(reports[i].ok) << "number " << i << " of those from size "
                                 << family.size(region.members.front()) << ": " << reports[i].first_mismatch
                                 << "\n"
                                 << PrintPlan(region.plan);
  }
  EXPECT_THAT(served, ::testing::Each(true));
}

}  // namespace kirsch::testing

#endif  // KIRSCH_TESTS_TESTING_PLAN_FAMILY_TESTING_H_
