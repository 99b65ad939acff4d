// SPDX-License-Identifier: Apache-2.0
#include "spec/meaning/interpreter.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "rewrites/spec/rewrite.h"
#include "spec/meaning/reference.h"
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
          shape.constant = static_cast<int>(k % 2);
          if (shape.b == 1) specs.push_back(MatmulSpec(shape));
        }
  return specs;
}

// Sides that leave a rest in groups and panels, and those that do not.
std::vector<Spec> SmallSpecsOf(const MatmulTypes& types) {
  std::vector<Spec> specs;
  for (uint32_t m : {1u, 3u})
    for (uint32_t k = 1; k <= 5; ++k)
      for (uint32_t n : {1u, 5u})
        for (unsigned mix = 0; mix < 8; ++mix) {
          testing::MatmulShape shape{.m = m, .k = k, .n = n, .accumulate = (mix & 4) != 0, .types = types};
          shape.lhs = (mix & 1) != 0 ? Order::kCol : Order::kRow;
          shape.rhs = (mix & 2) != 0 ? Order::kCol : Order::kRow;
          shape.out_gap = n % 2;
          specs.push_back(MatmulSpec(shape));
          shape.constant = static_cast<int>(k % 2);
          if (shape.b == 1) specs.push_back(MatmulSpec(shape));
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
    Spec spec = testing::RandomMatmulSpec(
        {.max_side = 150, .max_flops = 2e6, .constants = true, .constant_batches = true}, &random);
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

// The same for all types, on targets that have one arithmetic or another for them.
class EveryTypes : public ::testing::TestWithParam<MatmulTypes> {
 protected:
  static std::vector<Target> Targets() {
    return {testing::Avx2Target(), testing::Avx512Target(), testing::Avx512DotTarget(),
            testing::MatrixTarget()};
  }
  // Programs of every first decision of the spec, each followed by whatever.
  void ExpectSound(const Spec& spec, const Target& target, std::mt19937_64* random) {
    std::vector<Decision> decisions;
    EnumerateDecisions(spec, target, &decisions);
    ASSERT_FALSE(decisions.empty()) << Describe(spec);
    for (const Decision& decision : decisions) {
      const Impl impl = testing::RandomImplFrom(spec, decision, target, random);
      ASSERT_TRUE(InterpretedEqualsReference(impl, target)) << target.name << ": " << Describe(spec) << "\n"
                                                            << Describe(impl);
    }
  }
};
INSTANTIATE_TEST_SUITE_P(, EveryTypes, ::testing::ValuesIn(testing::EveryTypes()),
                         [](const auto& info) { return testing::NameOf(info.param); });

TEST_P(EveryTypes, EveryDecisionOfSmallSpecsIsSound) {
  std::mt19937_64 random(5);
  for (const Target& target : Targets())
    for (const Spec& spec : SmallSpecsOf(GetParam())) {
      ExpectSound(spec, target, &random);
      ASSERT_FALSE(HasFailure());
    }
}

TEST_P(EveryTypes, EveryDecisionOfLargerSpecsIsSound) {
  std::mt19937_64 random(6);
  for (const Target& target : Targets())
    for (int round = 0; round < 4; ++round) {
      const Spec spec = testing::RandomMatmulSpec({.max_side = 130,
                                                   .max_batch = 1,
                                                   .max_flops = 3e5,
                                                   .types = GetParam(),
                                                   .constants = true,
                                                   .constant_batches = true},
                                                  &random);
      ExpectSound(spec, target, &random);
      ASSERT_FALSE(HasFailure());
    }
}

TEST_P(EveryTypes, RandomProgramsOfLargerSpecsAreSound) {
  std::mt19937_64 random(7);
  for (const Target& target : Targets())
    for (int round = 0; round < 30; ++round) {
      Spec spec = testing::RandomMatmulSpec({.max_side = 150,
                                             .max_flops = 1e6,
                                             .types = GetParam(),
                                             .constants = true,
                                             .constant_batches = true},
                                            &random);
      spec.threads = round % 3 == 0 ? 4 : 1;
      const Impl impl = testing::RandomImpl(spec, target, &random);
      ASSERT_TRUE(InterpretedEqualsReference(impl, target)) << target.name << ": " << Describe(spec) << "\n"
                                                            << Describe(impl);
    }
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
  EXPECT_DEATH(InterpretedEqualsReference(impl, target_), "position == ");
}

TEST_F(WrongPrograms, ATileTooManyAborts) {
  Impl impl = SplitReduction(false);
  impl.children[1].trips = 2;
  EXPECT_DEATH(InterpretedEqualsReference(impl, target_), "check failed");
}

TEST_F(WrongPrograms, ALayoutThatIsNotThereAborts) {
  Impl impl = SplitReduction(false);
  impl.children[0].impl.spec.operand[MatmulDims::kRhs].layout.kind = LayoutKind::kPacked;
  EXPECT_DEATH(InterpretedEqualsReference(impl, target_), "view.packed");
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
  EXPECT_DEATH(InterpretedEqualsReference(impl, target_), "panel == 0");
}

// rhs as groups of four, but in a program that takes it for something else.
class WrongCopies : public WrongPrograms {
 protected:
  WrongCopies() {
    target_ = testing::Avx512DotTarget();
    const Spec spec = MatmulSpec({.m = 2, .k = 10, .n = 10, .types = {Dtype::kU8, Dtype::kS8, Dtype::kS32}});
    std::vector<Decision> decisions;
    EnumerateDecisions(spec, target_, &decisions);
    std::mt19937_64 random(0);
    for (const Decision& decision : decisions)
      if (decision.kind == RewriteKind::kPack && decision.layout.group == 4)
        impl_ = {spec, decision, {{1, InRegisters(Packed(spec, decision))}}};
  }
  static Spec Packed(Spec spec, const Decision& decision) {
    TensorSpec& copy = spec.operand[decision.operand];
    copy.level = decision.level;
    copy.dtype = decision.dtype;
    copy.layout = decision.layout;
    return spec;
  }
  Impl& child() { return impl_.children[0].impl; }
  TensorSpec& rhs_of_child() { return child().spec.operand[MatmulDims::kRhs]; }

  Impl impl_;
};

TEST_F(WrongCopies, TheRightOnePasses) { EXPECT_TRUE(InterpretedEqualsReference(impl_, target_)); }

TEST_F(WrongCopies, AnotherTypeAborts) {
  rhs_of_child().dtype = Dtype::kS16;
  EXPECT_DEATH(InterpretedEqualsReference(impl_, target_), "dtype == ");
  impl_.decision.dtype = Dtype::kU8;
  rhs_of_child().dtype = Dtype::kS8;
  EXPECT_DEATH(InterpretedEqualsReference(impl_, target_), "dtype == ");
}

TEST_F(WrongCopies, AnotherGroupAborts) {
  rhs_of_child().layout.group = 2;
  EXPECT_DEATH(InterpretedEqualsReference(impl_, target_), "group == ");
}

TEST_F(WrongCopies, AnotherArithmeticAborts) {
  child().decision.layout.group = 1;
  EXPECT_DEATH(InterpretedEqualsReference(impl_, target_), "group == ");
}

TEST_F(WrongCopies, TypesThatNoInstructionTakesAbort) {
  Impl& microkernel = child();
  impl_.decision.dtype = Dtype::kU8;
  rhs_of_child().dtype = Dtype::kU8;
  microkernel.children[0].impl.spec.operand[MatmulDims::kRhs].dtype = Dtype::kU8;
  EXPECT_DEATH(InterpretedEqualsReference(impl_, target_), "kInstructions.end");
}

TEST_F(WrongCopies, ATileThatEntersAGroupInItsMiddleAborts) {
  Impl tiles{child().spec, {}, {}};
  tiles.decision.kind = RewriteKind::kTile;
  tiles.decision.dim = MatmulDims::kK;
  tiles.decision.size = 5;
  Spec half = tiles.spec;
  half.size[MatmulDims::kK] = 5;
  tiles.children.push_back({1, InRegisters(half)});
  half.accumulate = true;
  tiles.children.push_back({1, InRegisters(half)});
  impl_.children[0].impl = tiles;
  EXPECT_DEATH(InterpretedEqualsReference(impl_, target_), "group == 0");
}

}  // namespace
}  // namespace kirsch
