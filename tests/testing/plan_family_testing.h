// SPDX-License-Identifier: Apache-2.0
// What the tests of plans for a range of sizes share: families as text, and whether their plans are right.
#ifndef KIRSCH_TESTS_TESTING_PLAN_FAMILY_TESTING_H_
#define KIRSCH_TESTS_TESTING_PLAN_FAMILY_TESTING_H_

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "codegen/verify/verify.h"
#include "memo/hash_memo.h"
#include "search/families/plan_regions.h"
#include "spec/language/graph_family.h"
#include "spec/text/cat.h"
#include "tests/testing/plan_testing.h"

namespace kirsch::testing {

struct Family {
  std::vector<Graph> members;
  int64_t least = 1;

  int64_t size(size_t member) const { return least + static_cast<int64_t>(member); }
};

// Of a kernel one of whose sizes varies.
inline Family MakeFamily(const std::string& text) {
  const auto family = ParseGraphFamily(Split({text, {}}, '\n'), "test");
  EXPECT_TRUE(family.ok()) << family.status() << "\n" << text;
  Family made{{}, family->sizes()[0].values.front()};
  for (int64_t i = 0; i < family->count(); ++i) made.members.push_back(family->member(i));
  return made;
}

inline std::optional<PlanFamily> RegionsOf(
    const Family& family, const Target& target,
    absl::StatusOr<std::optional<PlanFamily>> (*find)(const PlanMembers&)) {
  const CostModel model(target);
  HashMemo memo;
  PlanOptions options;
  SearchStages(model, memo, &options);
  const auto found = find({family.members, family.least, "test", model, options});
  EXPECT_TRUE(found.ok()) << found.status();
  return found.ok() ? *found : std::nullopt;
}

// The regions are of all members, and each of these is right, interpreted and as machine code.
inline void ExpectEveryMemberIsRight(const Family& family, const PlanFamily& plans, const Target& target) {
  size_t next = 0;
  for (const PlanRegion& region : plans.regions) {
    EXPECT_EQ(region.first, next);
    next = region.last + 1;
    std::vector<MemberOfSize> members;
    for (size_t i = region.first; i <= region.last; ++i)
      members.push_back({&family.members[i], std::vector<int64_t>(region.plan.size ? 1 : 0, family.size(i))});
    VerifyOptions options;
    options.header = false;
    const std::vector<VerifyReport> reports = VerifySizes(region.plan, members, target, "kernel", options);
    ASSERT_EQ(reports.size(), members.size());
    for (size_t i = 0; i < reports.size(); ++i)
      ASSERT_TRUE(reports[i].ok) << "member " << region.first + i << ": " << reports[i].first_mismatch << "\n"
                                 << PrintPlan(region.plan);
  }
  EXPECT_EQ(next, family.members.size());
}

}  // namespace kirsch::testing

#endif  // KIRSCH_TESTS_TESTING_PLAN_FAMILY_TESTING_H_
