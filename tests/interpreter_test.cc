#include "spec/interpreter.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "rewrites/rewrite.h"
#include "spec/reference.h"
#include "tests/testing/oracle.h"
#include "tests/testing/random_impl.h"
#include "tests/testing/random_spec.h"
#include "tests/testing/targets.h"

namespace kirsch {
namespace {

using testing::Describe;
using testing::InterpretedEqualsReference;
using testing::MatmulSpec;

std::vector<Spec> SmallSpecs() {
  std::vector<Spec> specs;
  for (uint32_t m = 1; m <= 5; ++m)
    for (uint32_t k = 1; k <= 5; ++k)
      for (uint32_t n = 1; n <= 5; ++n)
        for (unsigned mix = 0; mix < 8; ++mix) {
          testing::MatmulShape shape{.m = m, .k = k, .n = n, .accumulate = (mix & 4) != 0};
          shape.lhs = (mix & 1) != 0 ? Order::kCol : Order::kRow;
          shape.rhs = (mix & 2) != 0 ? Order::kCol : Order::kRow;
          shape.b = 1 + (m + k + n) % 3 / 2;
          shape.out_gap = n % 2;
          specs.push_back(MatmulSpec(shape));
        }
  return specs;
}

class EveryTarget : public ::testing::TestWithParam<Target> {};
INSTANTIATE_TEST_SUITE_P(, EveryTarget, ::testing::Values(testing::Avx2Target(), testing::Avx512Target()),
                         [](const auto& info) { return info.index == 0 ? "Avx2" : "Avx512"; });

// Every rewrite x every small spec: whatever follows a first decision computes the spec.
TEST_P(EveryTarget, EveryDecisionOfSmallSpecsIsSound) {
  std::mt19937_64 random(1);
  std::vector<Decision> decisions;
  int programs = 0;
  for (const Spec& spec : SmallSpecs()) {
    EnumerateDecisions(spec, GetParam(), &decisions);
    ASSERT_FALSE(decisions.empty()) << Describe(spec);
    for (const Decision& decision : decisions) {
      const Impl impl = testing::RandomImplFrom(spec, decision, GetParam(), &random);
      ASSERT_TRUE(InterpretedEqualsReference(impl, GetParam())) << Describe(spec) << "\n" << Describe(impl);
      ++programs;
    }
  }
  EXPECT_GT(programs, 5000);
}

// The same for sides that do not fit registers, so that reductions are tiled and panels have neighbours.
TEST_P(EveryTarget, EveryDecisionOfLargerSpecsIsSound) {
  std::mt19937_64 random(4);
  std::vector<Decision> decisions;
  for (int round = 0; round < 24; ++round) {
    Spec spec = testing::RandomMatmulSpec({.max_side = 130, .max_batch = 1, .max_flops = 1e6}, &random);
    spec.threads = round % 4 == 0 ? 6 : 1;
    EnumerateDecisions(spec, GetParam(), &decisions);
    for (const Decision& decision : decisions) {
      const Impl impl = testing::RandomImplFrom(spec, decision, GetParam(), &random);
      ASSERT_TRUE(InterpretedEqualsReference(impl, GetParam())) << Describe(spec) << "\n" << Describe(impl);
    }
  }
}

TEST_P(EveryTarget, RandomProgramsOfLargerSpecsAreSound) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 300; ++round) {
    Spec spec = testing::RandomMatmulSpec({.max_side = 150, .max_flops = 2e6}, &random);
    spec.threads = round % 3 == 0 ? 4 : 1;
    const Impl impl = testing::RandomImpl(spec, GetParam(), &random);
    ASSERT_TRUE(InterpretedEqualsReference(impl, GetParam())) << Describe(spec) << "\n" << Describe(impl);
  }
}

// The decisions that the soundness tests above draw from cover every kind of rewrite.
TEST_P(EveryTarget, RandomProgramsUseEveryRewrite) {
  std::mt19937_64 random(3);
  std::array<int, 6> seen = {};
  const std::function<void(const Impl&)> count = [&](const Impl& impl) {
    ++seen[static_cast<size_t>(impl.decision.kind)];
    for (const Impl::Child& child : impl.children) count(child.impl);
  };
  for (int round = 0; round < 50; ++round) {
    Spec spec = testing::RandomMatmulSpec({.max_side = 60}, &random);
    spec.threads = 2;
    count(testing::RandomImpl(spec, GetParam(), &random));
  }
  for (size_t kind = 1; kind < seen.size(); ++kind) EXPECT_GT(seen[kind], 0) << kind;
}

// The tests above can fail: programs that mean something else are told apart.
class WrongPrograms : public ::testing::Test {
 protected:
  // 8x8x8 split along k, in registers right below.
  Impl SplitReduction(bool accumulate) const {
    const Spec spec = MatmulSpec({.m = 8, .k = 8, .n = 8, .accumulate = accumulate});
    Spec half = spec;
    half.size[MatmulDims::kK] = 4;
    Impl impl{spec, {}, {{1, InRegisters(half)}}};
    impl.decision.kind = RewriteKind::kTile;
    impl.decision.dim = MatmulDims::kK;
    impl.decision.size = 4;
    half.accumulate = true;
    impl.children.push_back({1, InRegisters(half)});
    return impl;
  }

  Impl InRegisters(const Spec& spec) const {
    std::mt19937_64 random(0);
    std::vector<Decision> decisions;
    EnumerateDecisions(spec, target_, &decisions);
    for (const Decision& decision : decisions)
      if (decision.kind == RewriteKind::kMove && decision.level == Level::kVrf)
        return testing::RandomImplFrom(spec, decision, target_, &random);
    ADD_FAILURE() << "no register tile for " << Describe(spec);
    return {};
  }

  Target target_ = testing::Avx512Target();
};

TEST_F(WrongPrograms, TheRightOnesPass) {
  EXPECT_TRUE(InterpretedEqualsReference(SplitReduction(false), target_));
  EXPECT_TRUE(InterpretedEqualsReference(SplitReduction(true), target_));
}

TEST_F(WrongPrograms, OverwritingTwiceIsSeen) {
  Impl impl = SplitReduction(false);
  impl.children[1].impl = impl.children[0].impl;
  EXPECT_FALSE(InterpretedEqualsReference(impl, target_));
}

TEST_F(WrongPrograms, AccumulatingOntoWhatWasToBeOverwrittenIsSeen) {
  Impl impl = SplitReduction(true);
  impl.spec.accumulate = false;
  EXPECT_FALSE(InterpretedEqualsReference(impl, target_));
}

TEST_F(WrongPrograms, ATileLeftOutAborts) {
  Impl impl = SplitReduction(false);
  impl.children.pop_back();
  EXPECT_DEATH(InterpretedEqualsReference(impl, target_), "covered == ");
}

TEST_F(WrongPrograms, ATileTooManyAborts) {
  Impl impl = SplitReduction(false);
  impl.children[1].trips = 2;
  EXPECT_DEATH(InterpretedEqualsReference(impl, target_), "check failed");
}

TEST_F(WrongPrograms, ALayoutThatIsNotThereAborts) {
  Impl impl = SplitReduction(false);
  impl.children[0].impl.spec.operand[MatmulDims::kRhs].layout.kind = LayoutKind::kPacked;
  EXPECT_DEATH(InterpretedEqualsReference(impl, target_), "stated.kind == ");
}

TEST_F(WrongPrograms, ATileThatEntersAPanelInItsMiddleAborts) {
  const Spec spec = MatmulSpec({.m = 2, .k = 3, .n = 64});
  Decision pack;
  pack.kind = RewriteKind::kPack;
  pack.operand = MatmulDims::kRhs;
  pack.level = Level::kL1;
  pack.layout = {LayoutKind::kPacked, Order::kRow, 32, 1, 0};
  Spec packed = spec;
  packed.operand[MatmulDims::kRhs].layout = pack.layout;
  Spec tile = packed;
  tile.size[MatmulDims::kN] = 16;
  Impl tiles{packed, {}, {{4, InRegisters(tile)}}};
  tiles.decision.kind = RewriteKind::kTile;
  tiles.decision.dim = MatmulDims::kN;
  tiles.decision.size = 16;
  const Impl impl{spec, pack, {{1, tiles}}};
  EXPECT_DEATH(InterpretedEqualsReference(impl, target_), "% view.panel == 0");
}

}  // namespace
}  // namespace kirsch
