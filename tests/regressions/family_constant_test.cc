// SPDX-License-Identifier: Apache-2.0
// Members of a family with a constant operand were stated in ways that had no copy of the constant in common.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "search/families/shared_copy.h"
#include "search/solver/search.h"
#include "spec/language/family.h"
#include "spec/text/cat.h"
#include "tests/testing/cli_testing.h"
#include "tests/testing/targets.h"

namespace kirsch {
namespace {

using FamilyConstant = testing::CliTest;

TEST_F(FamilyConstant, OfASingleNumber) {
  for (const char* family :
       {"matmul f32 1..2x1x1 const-rhs", "matmul f32 1x1x1..2 out=col ldc=2 const-lhs"}) {
    const auto outcome = Run(Cat("synth '", family, "' --target haswell --no-db -o ", Path("family.h")));
    EXPECT_EQ(outcome.code, 0) << family << ": " << outcome.err;
    EXPECT_THAT(outcome.err, ::testing::HasSubstr("packed once: ")) << family;
  }
}

bool HaveACopyInCommon(const SpecFamily& family, const Target& target) {
  std::vector<UserRequest> requests;
  for (int64_t i = 0; i < family.count(); ++i) {
    const ParsedSpec parsed = family.member(i);
    requests.push_back({PlaceOperands(parsed.spec, Residency::kWarm, target), parsed.swapped});
  }
  return !CommonCopies(requests, target).empty();
}

std::vector<std::string> SmallFamilies() {
  std::vector<std::string> families;
  for (const char* types : {"f32", "bf16*bf16->f32", "u8*s8->s32"})
    for (const char* lhs : {"", " lhs=col", " lhs=col lda=3"})
      for (const char* rhs : {"", " rhs=col", " ldb=3"})
        for (const char* out : {"", " out=col", " ldc=3", " out=col ldc=3"})
          for (const char* one : {"1", "2"})
            for (const char* other : {"1", "3"}) {
              const std::string rest = Cat(lhs, rhs, out);
              families.push_back(Cat("matmul ", types, " 1..3x", one, "x", other, rest, " const-rhs"));
              families.push_back(Cat("matmul ", types, " ", one, "x", other, "x1..3", rest, " const-lhs"));
            }
  return families;
}

TEST_F(FamilyConstant, OfFewNumbersInAnyOrder) {
  const Target target = testing::Avx2Target();
  for (const std::string& text : SmallFamilies()) {
    const absl::StatusOr<SpecFamily> family = ParseFamily(text);
    ASSERT_TRUE(family.ok()) << text << ": " << family.status();
    EXPECT_TRUE(HaveACopyInCommon(*family, target)) << text;
  }
}

}  // namespace
}  // namespace kirsch
