// SPDX-License-Identifier: Apache-2.0
// One copy of a constant operand for all members of a family: the best one, by brute force over all of them.
#include "search/families/shared_copy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "memo/hash_memo.h"
#include "rewrites/spec/rewrite.h"
#include "search/families/common_packing.h"
#include "search/solver/limits.h"
#include "search/solver/search.h"
#include "search/solver/search_within.h"
#include "spec/language/family.h"
#include "spec/language/schedule.h"
#include "tests/testing/brute_force.h"
#include "tests/testing/targets.h"

namespace kirsch {
namespace {

using testing::BruteForce;
using testing::LinesLeftAtHome;

UserRequest Placed(const ParsedSpec& parsed, const Target& target) {
  return {PlaceOperands(parsed.spec, Residency::kWarm, target), parsed.swapped};
}

struct FamilyMember {
  UserRequest request;
  double weight = 0, own = 0;  // how often; cycles with its own copy, which is the next
  MatrixCopy own_copy = {};
};

// Members of `text` that are asked for as often as `weights` say, and what each costs with its own copy.
std::vector<FamilyMember> MembersOf(const std::string& text, const std::vector<double>& weights,
                                    const CostModel& model, Memo& memo) {
  const SpecFamily family = *ParseFamily(text);
  std::vector<FamilyMember> members;
  for (int64_t i = 0; i < family.count(); ++i) {
    const ParsedSpec parsed = family.member(i);
    FamilyMember member{Placed(parsed, model.target()), weights[static_cast<size_t>(i)]};
    const SearchResult own = Search(member.request.placed_root, model, memo, {});
    member.own = ToCycles(own.cost);
    member.own_copy = CopyOf(own.impl.decision, member.request);
    members.push_back(member);
  }
  return members;
}

// The best copy for all members.
absl::StatusOr<CommonPacking> FindCopy(
    const std::vector<FamilyMember>& members, const Target& target,
    const std::function<absl::StatusOr<Cost>(const PackedRequest&, Cost cutoff)>& price) {
  std::vector<UserRequest> requests;
  std::vector<PackedMember> counted;
  std::vector<UserRequest> of_counted;
  for (const FamilyMember& member : members) {
    requests.push_back(member.request);
    if (member.weight == 0) continue;
    counted.push_back({member.weight, member.own, PackingOf(member.own_copy)});
    of_counted.push_back(member.request);
  }
  return FindCommonPacking(
      counted, {{kOnlyConstant, CommonCopies(requests, target)}},
      [&](size_t i, const PlanPacking& packing, double cutoff) -> absl::StatusOr<double> {
        const Cost most = cutoff < 1e15 ? CostFromCycles(cutoff) : kInfiniteCost - 1;
        const absl::StatusOr<Cost> cost = price(*WithCopy(of_counted[i], OnlyCopy(packing), target), most);
        if (!cost.ok()) return cost.status();
        return ToCycles(*cost);
      });
}

auto Searched(const CostModel& model, Memo& memo) {
  return [&](const PackedRequest& request, Cost cutoff) -> absl::StatusOr<Cost> {
    SearchOptions options;
    options.cutoff = cutoff;
    return SearchWithin(request.kernel, request.available, model, memo, options).cost;
  };
}

// What one decision of the root's costs at least; the decision that makes bytes like those of `like`, where
// the first member may be asked for as it is and others as their transposes.
double BruteForceCost(const FamilyMember& member, const Decision& like, bool turned, const CostModel& model,
                      BruteForce* brute_force) {
  const Spec& root = member.request.placed_root;
  std::vector<Decision> decisions;
  EnumerateDecisions(root, model.target(), &decisions);
  Cost best = kInfiniteCost;
  for (const Decision& decision : decisions) {
    Layout layout = like.layout;
    if (turned) layout.order = layout.order == Order::kRow ? Order::kCol : Order::kRow;
    if (!(decision.layout == layout) || decision.dtype != like.dtype) continue;
    Expansion expansion;
    Expand(root, decision, model.target(), &expansion);
    const Lines below =
        AvailableBelow(root, expansion, LinesLeftAtHome(root, model.target()), model.target());
    if (below >= 0) best = brute_force->Best(expansion.children[0].spec, below);
  }
  return best >= kInfiniteCost ? std::numeric_limits<double>::infinity() : ToCycles(best);
}

TEST(SharedCopyTest, IsTheBestOfAllByBruteForce) {
  const char* const families[] = {"matmul f32 1..5x4x6 const-rhs",
                                  "matmul f32 1..4x5x3 rhs=col const-rhs",
                                  "matmul f32 5x3x1..5 const-lhs",
                                  "matmul f32 1..4x3x6 out=col const-rhs",
                                  "matmul bf16*bf16->f32 1..4x4x6 lhs=col const-rhs",
                                  "matmul u8*s8->s32 2..5x5x7 const-rhs ldb=9"};
  std::mt19937_64 random(3);
  int dearer = 0;
  for (const Target& target : {testing::TinyTarget(), testing::TinyDotTarget()}) {
    const CostModel model(target);
    BruteForce brute_force(model);
    for (const char* text : families)
      for (int round = 0; round < 3; ++round) {
        const auto count = static_cast<size_t>(ParseFamily(text)->count());
        std::vector<double> weights;
        for (size_t i = 0; i < count; ++i)
          weights.push_back(round == 0 ? 1 : static_cast<double>(random() % 4));
        weights[random() % count] += 0.5;
        HashMemo memo;
        const std::vector<FamilyMember> members = MembersOf(text, weights, model, memo);
        const absl::StatusOr<CommonPacking> found = FindCopy(members, target, Searched(model, memo));
        ASSERT_TRUE(found.ok());

        std::vector<Decision> decisions;
        EnumerateDecisions(members[0].request.placed_root, target, &decisions);
        double least = std::numeric_limits<double>::infinity(), own = 0;
        for (const Decision& decision : decisions) {
          double sum = 0;
          for (const FamilyMember& member : members) {
            const bool turned = member.request.swapped != members[0].request.swapped;
            const double cost = BruteForceCost(member, decision, turned, model, &brute_force);
            // All must be able to make it, however rarely they are asked for.
            sum += member.weight > 0 || cost > 1e300 ? std::max(member.weight, 1e-9) * cost : 0;
          }
          least = std::min(least, sum);
        }
        for (const FamilyMember& member : members) {
          if (member.weight == 0) continue;
          own += member.weight * member.own;
        }
        EXPECT_NEAR(found->loss, least / own - 1, 1e-9) << text << " " << round;
        dearer += found->loss > 0;
      }
  }
  EXPECT_GT(dearer, 0);
}

// The mixture decides: each extreme gets what it likes best.
TEST(SharedCopyTest, FollowsTheMixture) {
  const CostModel model(testing::Avx2Target());
  HashMemo memo;
  const std::string text = "matmul f32 1..40x256x512 const-rhs";
  std::vector<double> first(40, 0), last(40, 0);
  first[0] = last[39] = 1;
  const std::vector<FamilyMember> small = MembersOf(text, first, model, memo);
  const std::vector<FamilyMember> large = MembersOf(text, last, model, memo);
  const CommonPacking for_small = *FindCopy(small, model.target(), Searched(model, memo));
  const CommonPacking for_large = *FindCopy(large, model.target(), Searched(model, memo));
  EXPECT_EQ(for_small.packing, PackingOf(small[0].own_copy));
  EXPECT_EQ(for_large.packing, PackingOf(large[39].own_copy));
  EXPECT_NE(for_small.packing, for_large.packing);
  EXPECT_EQ(for_small.loss, 0);
  EXPECT_EQ(for_large.loss, 0);
}

// The program of a request is a program of its root: found by the root's own search where the copy is its
// own.
TEST(SharedCopyTest, WithItsOwnCopyAMemberHasItsOwnProgram) {
  for (const Target& target : {testing::TinyTarget(), testing::Avx2Target()}) {
    const CostModel model(target);
    for (const char* text : {"matmul f32 7x20x33 const-rhs", "matmul f32 7x20x33 out=col const-rhs",
                             "matmul bf16*bf16->f32 7x20x33 rhs=col const-rhs"}) {
      const UserRequest request = Placed(*ParseSpec(text), target);
      HashMemo memo, other;
      const SearchResult own = Search(request.placed_root, model, memo, {});
      const std::optional<PackedRequest> packed =
          WithCopy(request, CopyOf(own.impl.decision, request), target);
      ASSERT_TRUE(packed.has_value()) << text;
      const SearchResult kernel = SearchWithin(packed->kernel, packed->available, model, other, {});
      EXPECT_EQ(kernel.cost, own.cost) << text;
      EXPECT_EQ(PrintSchedule(packed->Program(kernel.impl)), PrintSchedule(own.impl)) << text;
    }
  }
}

TEST(SharedCopyTest, ErrorsOfPricesArePassedOn) {
  const CostModel model(testing::TinyTarget());
  HashMemo memo;
  std::vector<FamilyMember> members = MembersOf("matmul f32 1..2x4x6 const-rhs", {1, 1}, model, memo);
  for (FamilyMember& member : members) member.own_copy.dtype = Dtype::kS8;  // no candidate: all are priced
  const auto fail = [](const PackedRequest&, Cost) -> absl::StatusOr<Cost> {
    return absl::DataLossError("damaged");
  };
  EXPECT_EQ(FindCopy(members, model.target(), fail).status(), absl::DataLossError("damaged"));
}

}  // namespace
}  // namespace kirsch
