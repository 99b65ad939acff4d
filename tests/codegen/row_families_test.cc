// Random families whose members share programs of a run-time number of rows: the JIT's code, between guard
// pages, against the reference for every number of rows, so for every remainder of every tile.
// KIRSCH_ROW_FAMILIES=500 draws so many of each type.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "codegen/verify/verify.h"
#include "memo/hash_memo.h"
#include "search/row_regions.h"
#include "search/search.h"
#include "tests/testing/header_testing.h"
#include "tests/testing/random_spec.h"
#include "tests/testing/targets.h"

namespace kirsch::testing {
namespace {

constexpr size_t kM = MatmulDims::kM;

int FamiliesOfEachType() {
  const char* const asked = std::getenv("KIRSCH_ROW_FAMILIES");
  return asked != nullptr ? std::atoi(asked) : 2;
}

// Members first .. last of the family that `largest` is the largest member of.
std::vector<Spec> Members(const Spec& largest, uint32_t first, const Target& target) {
  std::vector<Spec> roots;
  for (uint32_t rows = first; rows <= largest.size[kM]; ++rows) {
    roots.push_back(largest);
    roots.back().size[kM] = rows;
    roots.back() = PlaceOperands(roots.back(), Residency::kWarm, target);
  }
  return roots;
}

class RowFamiliesTest : public ::testing::TestWithParam<Target> {
 protected:
  RowFamily Find(const std::vector<Spec>& roots) const {
    const CostModel model(GetParam());
    HashMemo memo;
    const auto solve = [&](size_t i, Cost cutoff) -> absl::StatusOr<SolvedRows> {
      SearchOptions options;
      options.cutoff = cutoff;
      const SearchResult result = Search(roots[i], model, memo, options);
      return SolvedRows{result.impl, result.cost, result.bound};
    };
    return *FindRowRegions(roots, model, solve);
  }

  // How many regions have several members, all of which are right.
  int ExpectRight(const std::vector<Spec>& roots) const {
    VerifyOptions options;
    options.header = false;
    int shared = 0;
    for (const RowRegion& region : Find(roots).regions) {
      shared += region.first < region.last ? 1 : 0;
      const std::vector<Spec> members(roots.begin() + static_cast<std::ptrdiff_t>(region.first),
                                      roots.begin() + static_cast<std::ptrdiff_t>(region.last) + 1);
      for (const VerifyReport& report : VerifyRows(region.program, members, GetParam(), "rows", options))
        EXPECT_TRUE(report.ok) << Describe(roots.back()) << " from " << roots.front().size[kM]
                               << " rows: " << report.first_mismatch;
    }
    return shared;
  }
};

std::string NameOfTarget(const ::testing::TestParamInfo<Target>& info) {
  constexpr std::array kNames = {"Avx2", "Avx512", "Avx512Dot"};
  return kNames[info.index];
}

INSTANTIATE_TEST_SUITE_P(, RowFamiliesTest,
                         ::testing::Values(Avx2Target(), Avx512Target(), Avx512DotTarget()), NameOfTarget);

TEST_P(RowFamiliesTest, EveryNumberOfRowsIsRight) {
  if (!HostRuns(GetParam())) GTEST_SKIP() << "this host lacks " << MissingOnHost(GetParam().features);
  std::mt19937_64 random(17);
  int shared = 0;
  for (const MatmulTypes& types : EveryTypes())
    for (int round = 0; round < FamiliesOfEachType() && !HasFailure(); ++round) {
      const RandomSpecOptions options{.max_side = 70, .max_batch = 1, .types = types};
      Spec largest = RandomMatmulSpec(options, &random);
      if (random() % 3 == 0) largest = WithRandomEpilogue(largest, &random);
      shared +=
          ExpectRight(Members(largest, 1 + static_cast<uint32_t>(random() % largest.size[kM]), GetParam()));
    }
  EXPECT_GT(shared, 10);
}

// Rows enough for tiles to be shared out anew behind whole ones.
TEST_P(RowFamiliesTest, ManyRowsAreRight) {
  if (!HostRuns(GetParam())) GTEST_SKIP() << "this host lacks " << MissingOnHost(GetParam().features);
  for (const bool accumulate : {false, true}) {
    const Spec largest = MatmulSpec({.m = 150, .k = 40, .n = 70, .accumulate = accumulate});
    EXPECT_GT(ExpectRight(Members(largest, 1, GetParam())), 0);
  }
}

}  // namespace
}  // namespace kirsch::testing
