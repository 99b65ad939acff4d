// SPDX-License-Identifier: Apache-2.0
// Random families whose members share programs of a run-time number of rows, columns or steps of the
// reduction: the JIT's code, between guard pages, against the reference for every number of them, so for
// every remainder of every tile. KIRSCH_SIZE_FAMILIES=500 draws so many of each type.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "codegen/verify/verify.h"
#include "memo/hash_memo.h"
#include "search/families/size_rule.h"
#include "search/families/spec_regions.h"
#include "search/families/symbolic_schedule.h"
#include "search/solver/search.h"
#include "spec/program/impl_program.h"
#include "tests/testing/header_testing.h"
#include "tests/testing/random_impl.h"
#include "tests/testing/random_spec.h"
#include "tests/testing/targets.h"

namespace kirsch::testing {
namespace {

constexpr int kM = MatmulDims::kM, kN = MatmulDims::kN, kK = MatmulDims::kK;

int FamiliesOfEachType() {
  const char* const asked = std::getenv("KIRSCH_SIZE_FAMILIES");
  return asked != nullptr ? std::atoi(asked) : 2;
}

// Members of sizes first .. last along `dim` of the family that `largest` is the largest member of.
std::vector<Spec> Members(const Spec& largest, int dim, uint32_t first, const Target& target) {
  std::vector<Spec> roots;
  for (uint32_t size = first; size <= largest.size[static_cast<size_t>(dim)]; ++size)
    roots.push_back(PlaceOperands(WithSize(largest, dim, size), Residency::kWarm, target));
  return roots;
}

class SizeFamiliesTest : public ::testing::TestWithParam<Target> {
 protected:
  SizeFamily Find(const std::vector<Spec>& roots, const std::vector<size_t>& dims) const {
    return *FindOf(roots, dims, [](size_t, uint32_t size) { return size; });
  }

  absl::StatusOr<SizeFamily> FindOf(const std::vector<Spec>& roots, const std::vector<size_t>& dims,
                                    const LeastServed& least) const {
    const CostModel model(GetParam());
    HashMemo memo;
    const auto solve = [&](size_t i, Cost cutoff) -> absl::StatusOr<SolvedSize> {
      SearchOptions options;
      options.cutoff = cutoff;
      const SearchResult result = Search(roots[i], model, memo, options);
      return SolvedSize{result.impl, result.cost, result.bound};
    };
    return FindSpecRegions(roots, dims, model, solve, least);
  }

  // How many regions have several members, all of which are right.
  int ExpectRight(const std::vector<Spec>& roots, int dim) const {
    int shared = 0;
    for (const SpecRegion& region : Find(roots, {static_cast<size_t>(dim)}).regions) {
      shared += region.members.size() > 1 ? 1 : 0;
      ExpectRight(region.program,
                  std::vector<Spec>(roots.begin() + static_cast<std::ptrdiff_t>(region.members.front()),
                                    roots.begin() + static_cast<std::ptrdiff_t>(region.members.back()) + 1),
                  dim);
    }
    return shared;
  }

  // Of a program for a range of two sizes, some of these members, corners included.
  void ExpectSomeRight(const Impl& range, const std::vector<Spec>& members, std::mt19937_64* random) const {
    constexpr size_t kSome = 24;
    std::vector<Spec> some = {members.front(), members.back()};
    for (size_t i = 0; i < kSome && members.size() > 2; ++i)
      some.push_back(members[(*random)() % members.size()]);
    ExpectRight(range, some, kN);
  }

  void ExpectRight(const Impl& range, const std::vector<Spec>& members, int dim) const {
    VerifyOptions options;
    options.header = false;
    for (const VerifyReport& report : VerifySizes(range, members, GetParam(), "rows", options))
      EXPECT_TRUE(report.ok) << Describe(members.back()) << ", dim " << dim << " from "
                             << members.front().size[static_cast<size_t>(dim)] << ": "
                             << report.first_mismatch << "\n"
                             << Describe(range);
  }
};

std::string NameOfTarget(const ::testing::TestParamInfo<Target>& info) {
  constexpr std::array kNames = {"Avx2", "Avx512", "Avx512Dot", "Matrix"};
  return kNames[info.index];
}

INSTANTIATE_TEST_SUITE_P(, SizeFamiliesTest,
                         ::testing::Values(Avx2Target(), Avx512Target(), Avx512DotTarget(), MatrixTarget()),
                         NameOfTarget);

TEST_P(SizeFamiliesTest, EverySizeIsRight) {
  if (!HostRuns(GetParam())) GTEST_SKIP() << "this host lacks " << MissingOnHost(GetParam().features);
  std::mt19937_64 random(17);
  std::map<int, int> shared;
  for (const MatmulTypes& types : EveryTypes())
    for (int round = 0; round < FamiliesOfEachType() && !HasFailure(); ++round) {
      const RandomSpecOptions options{.max_side = 70, .max_batch = 1, .types = types};
      Spec largest = RandomMatmulSpec(options, &random);
      if (random() % 3 == 0) largest = WithRandomEpilogue(largest, &random);
      for (const int dim : {kM, kN, kK}) {
        const uint32_t first = 1 + static_cast<uint32_t>(random() % largest.size[static_cast<size_t>(dim)]);
        shared[dim] += ExpectRight(Members(largest, dim, first, GetParam()), dim);
      }
    }
  EXPECT_GT(shared[kM], 10);
  EXPECT_GT(shared[kN], 10);
  EXPECT_GT(shared[kK], 10);
}

// Of the search's decisions, and of decisions by chance. (With a side of 1, matrices lie otherwise.)
TEST_P(SizeFamiliesTest, TwoSizesAreRight) {
  if (!HostRuns(GetParam())) GTEST_SKIP() << "this host lacks " << MissingOnHost(GetParam().features);
  const CostModel model(GetParam());
  std::map<int, int> searched, drawn;  // by the first dim
  uint64_t number = 0;                 // of the family, whose draws are its own
  for (const MatmulTypes& types : EveryTypes())
    for (int round = 0; round < 4 * FamiliesOfEachType() && !HasFailure(); ++round) {
      const int slow = round % 4 < 2 ? kN : kM, fast = round % 4 < 2 ? kM : kK;
      std::mt19937_64 random(++number);
      Spec largest = RandomMatmulSpec({.max_side = 45, .max_batch = 1, .types = types}, &random);
      if (random() % 3 == 0) largest = WithRandomEpilogue(largest, &random);
      const auto most = [&](int dim) { return largest.size[static_cast<size_t>(dim)]; };
      if (most(slow) < 3 || most(fast) < 3 || IsOfBlocks(types.rhs)) continue;
      const auto from = [&](int dim) {
        return std::max(2 + static_cast<uint32_t>(random() % (most(dim) - 2)),
                        most(dim) < 14 ? 2 : most(dim) - 12);
      };
      const uint32_t first = from(slow), first_fast = from(fast);
      const std::vector<size_t> dims = {static_cast<size_t>(slow), static_cast<size_t>(fast)};
      SizeRule rule(RandomImpl(largest, GetParam(), &random), dims, model);
      std::vector<Spec> roots, members;
      bool legal = true;
      for (uint32_t a = first; a <= most(slow); ++a)
        for (uint32_t b = first_fast; b <= most(fast); ++b) {
          members.push_back(WithSize(WithSize(largest, slow, a), fast, b));
          roots.push_back(PlaceOperands(members.back(), Residency::kWarm, GetParam()));
          legal = legal && rule.Price(members.back()) < kInfiniteCost;
        }
      if (round % 2 == 0) {
        for (const SpecRegion& region : Find(roots, dims).regions) {
          std::vector<Spec> of_region;
          for (size_t i : region.members) of_region.push_back(roots[i]);
          ExpectSomeRight(region.program, of_region, &random);
          searched[slow] += SymbolicDims(region.program).size() > 1 ? 1 : 0;
        }
      } else if (const auto range =
                     legal ? rule.ApplyToRange(members.front(), members.back()) : std::nullopt) {
        ExpectSomeRight(*range, members, &random);
        drawn[slow] += SymbolicDims(*range).size() > 1 ? 1 : 0;
      }
    }
  for (const int slow : {kN, kM}) {
    EXPECT_GT(searched[slow], 5) << slow;
    EXPECT_GT(drawn[slow], 2) << slow;
  }
}

// Some of the sizes of each dim are looked at. What serves those serves what is between them, too.
TEST_P(SizeFamiliesTest, SizesBetweenAreRight) {
  if (!HostRuns(GetParam())) GTEST_SKIP() << "this host lacks " << MissingOnHost(GetParam().features);
  int served = 0;
  uint64_t number = 100;
  for (const MatmulTypes& types : EveryTypes())
    for (int round = 0; round < 2 * FamiliesOfEachType() && !HasFailure(); ++round) {
      const int slow = round % 2 == 0 ? kN : kM, fast = round % 2 == 0 ? kM : kK;
      std::mt19937_64 random(++number);
      const Spec largest = RandomMatmulSpec({.max_side = 60, .max_batch = 1, .types = types}, &random);
      if (IsOfBlocks(types.rhs)) continue;
      std::map<size_t, std::vector<uint32_t>> looked_at;
      for (const int dim : {slow, fast}) {
        const uint32_t most = largest.size[static_cast<size_t>(dim)];
        std::vector<uint32_t>& sizes = looked_at[static_cast<size_t>(dim)];
        for (uint32_t size = std::min(2u, most); size <= most; ++size)
          if (sizes.empty() || size == most || random() % 4 == 0) sizes.push_back(size);
      }
      const auto least = [&](size_t dim, uint32_t size) {
        const std::vector<uint32_t>& sizes = looked_at[dim];
        const auto at = std::lower_bound(sizes.begin(), sizes.end(), size);
        return at == sizes.begin() ? size : *std::prev(at) + 1;
      };
      std::vector<Spec> roots;
      for (uint32_t a : looked_at[static_cast<size_t>(slow)])
        for (uint32_t b : looked_at[static_cast<size_t>(fast)])
          roots.push_back(
              PlaceOperands(WithSize(WithSize(largest, slow, a), fast, b), Residency::kWarm, GetParam()));
      const absl::StatusOr<SizeFamily> family =
          FindOf(roots, {static_cast<size_t>(slow), static_cast<size_t>(fast)}, least);
      if (!family.ok()) continue;  // there is no such code: of columns and of steps, say
      for (const SpecRegion& region : family->regions) {
        std::vector<Spec> members;
        for (size_t i : region.members)
          for (const uint32_t share : {0, 1, 2}) {
            Spec between = roots[i];
            for (const int dim : {slow, fast}) {
              const uint32_t size = roots[i].size[static_cast<size_t>(dim)],
                             from = least(static_cast<size_t>(dim), size);
              between = WithSize(between, dim, from + (size - from) * share / 2);
            }
            members.push_back(between);
          }
        ExpectSomeRight(region.program, members, &random);
        served += static_cast<int>(members.size());
      }
    }
  EXPECT_GT(served, 1000);
}

// Decisions by chance, which have tiles along the reduction where those of the search have none: sums in
// parts, whose number is known at run time only, and copies of what is left.
TEST_P(SizeFamiliesTest, AnyDecisionsAreRight) {
  if (!HostRuns(GetParam())) GTEST_SKIP() << "this host lacks " << MissingOnHost(GetParam().features);
  const CostModel model(GetParam());
  std::mt19937_64 random(23);
  int ranges = 0;
  for (const MatmulTypes& types : EveryTypes())
    for (int round = 0; round < 2 * FamiliesOfEachType() && !HasFailure(); ++round) {
      Spec largest = RandomMatmulSpec({.max_side = 40, .max_batch = 1, .types = types}, &random);
      if (random() % 3 == 0) largest = WithRandomEpilogue(largest, &random);
      if (round % 2 == 0) largest = WithSize(largest, kK, 70);
      SymbolicSchedule sizes(RandomImpl(largest, GetParam(), &random), kK, model);
      std::vector<Spec> members;
      for (uint32_t size = 1; size <= largest.size[kK]; ++size)
        if (const Spec member = WithSize(largest, kK, size); sizes.Price(member) < kInfiniteCost)
          members.push_back(member);
        else
          members.clear();
      if (members.size() < 2) continue;
      const std::optional<Impl> range = sizes.ApplyToRange(members.front(), members.back());
      if (!range) continue;
      ExpectRight(*range, members, kK);
      ++ranges;
    }
  EXPECT_GT(ranges, 10);
}

// A rule that was found for one group of members suits no other, where it has no register tile.
TEST_P(SizeFamiliesTest, GroupsThatDifferInAnotherSizeAreRight) {
  if (!HostRuns(GetParam())) GTEST_SKIP() << "this host lacks " << MissingOnHost(GetParam().features);
  ExpectRight(Members(MatmulSpec({.m = 1, .k = 32, .n = 70, .rhs = Order::kCol}), kN, 1, GetParam()), kM);
}

// Rows enough for tiles to be shared out anew behind whole ones, and columns for panels.
TEST_P(SizeFamiliesTest, ManyAreRight) {
  if (!HostRuns(GetParam())) GTEST_SKIP() << "this host lacks " << MissingOnHost(GetParam().features);
  for (const bool accumulate : {false, true}) {
    const Spec largest = MatmulSpec({.m = 150, .k = 40, .n = 70, .accumulate = accumulate});
    EXPECT_GT(ExpectRight(Members(largest, kM, 1, GetParam()), kM), 0);
    EXPECT_GT(ExpectRight(Members(MatmulSpec({.m = 70, .k = 40, .n = 150, .accumulate = accumulate}), kN, 1,
                                  GetParam()),
                          kN),
              0);
    EXPECT_GT(ExpectRight(Members(MatmulSpec({.m = 30, .k = 300, .n = 50, .accumulate = accumulate}), kK, 1,
                                  GetParam()),
                          kK),
              0);
  }
}

}  // namespace
}  // namespace kirsch::testing
