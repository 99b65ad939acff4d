// SPDX-License-Identifier: Apache-2.0
// Specs with a constant operand: how it may be prepacked, and that the search chooses exactly.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "memo/hash_memo.h"
#include "rewrites/spec/rewrite.h"
#include "search/solver/limits.h"
#include "search/solver/search.h"
#include "spec/language/schedule.h"
#include "tests/testing/brute_force.h"
#include "tests/testing/random_spec.h"
#include "tests/testing/targets.h"

namespace kirsch {
namespace {

using testing::BruteForce;
using testing::LinesLeftAtHome;
using testing::MatmulShape;

constexpr int kLhs = MatmulDims::kLhs, kRhs = MatmulDims::kRhs;
constexpr Residency kResidencies[] = {Residency::kWarm, Residency::kCold};
constexpr MatmulTypes kBf16 = {Dtype::kBf16, Dtype::kBf16, Dtype::kF32},
                      kF16 = {Dtype::kF16, Dtype::kF16, Dtype::kF32},
                      kU8S8 = {Dtype::kU8, Dtype::kS8, Dtype::kS32};

// The space
// ---------------------------------------------------------------------------------------------------

std::vector<std::string> DecisionsFor(const MatmulShape& shape, const Target& target) {
  std::vector<Decision> decisions;
  EnumerateDecisions(testing::MatmulSpec(shape), target, &decisions);
  std::vector<std::string> texts;
  for (const Decision& decision : decisions) texts.push_back(PrintDecision(OpKind::kMatmul, decision));
  return texts;
}

// Nor does what a program below needs get lost.
TEST(ConstantDecisions, ACopyInASlowLevelTakesNothingFromAFasterOne) {
  const Target target = testing::Avx512Target();
  for (Level slow : {Level::kL3, Level::kRam}) {
    Spec spec = testing::MatmulSpec({.m = 40, .k = 40, .n = 40, .constant = kRhs});
    for (TensorSpec& operand : spec.operand) operand.level = slow;
    spec.out().level = Level::kL2;
    std::vector<Decision> decisions;
    EnumerateDecisions(spec, target, &decisions);
    Expansion expansion;
    Expand(spec, decisions.front(), target, &expansion);
    EXPECT_EQ(AvailableBelow(spec, expansion, 100, target), 100) << Index(slow);
    EXPECT_EQ(PeakAbove(spec, expansion, 70), 70) << Index(slow);
  }
}

// As every copy that would be made while computing, with rows padded, with rows as they come.
TEST(ConstantDecisions, AreAllWaysToPackTheOperand) {
  const Target plain = testing::Avx512Target(), dot = testing::Avx512DotTarget();
  const MatmulShape rhs{.m = 40, .k = 40, .n = 40, .constant = kRhs};
  EXPECT_EQ(DecisionsFor(rhs, plain),
            (std::vector<std::string>{"pack rhs RAM packed32 f32", "pack rhs RAM packed48 f32",
                                      "pack rhs RAM packed f32", "pack rhs RAM row f32"}));
  MatmulShape column = rhs;
  column.rhs = Order::kCol;
  EXPECT_EQ(DecisionsFor(column, plain),
            (std::vector<std::string>{"pack rhs RAM packed32 f32", "pack rhs RAM packed48 f32",
                                      "pack rhs RAM packed-col f32", "pack rhs RAM col f32"}));
  MatmulShape groups = rhs;
  groups.types = kU8S8;
  EXPECT_EQ(DecisionsFor(groups, dot),
            (std::vector<std::string>{"pack rhs RAM packed32x4 s8", "pack rhs RAM packed48x4 s8",
                                      "pack rhs RAM packed s8", "pack rhs RAM row s8"}));
  MatmulShape lhs = rhs;
  lhs.constant = kLhs;
  EXPECT_EQ(DecisionsFor(lhs, plain),
            (std::vector<std::string>{"pack lhs RAM packed f32", "pack lhs RAM row f32"}));
  lhs.types = kBf16;
  EXPECT_EQ(DecisionsFor(lhs, plain),
            (std::vector<std::string>{"pack lhs RAM packed f32", "pack lhs RAM packed bf16",
                                      "pack lhs RAM row bf16"}));
  lhs.lhs = Order::kCol;
  EXPECT_EQ(DecisionsFor(lhs, dot),
            (std::vector<std::string>{"pack lhs RAM packed bf16", "pack lhs RAM packed-col f32",
                                      "pack lhs RAM packed-col bf16", "pack lhs RAM col bf16"}));
}

// Whatever else is asked of the spec, and only once.
TEST(ConstantDecisions, ComeFirstAndOnce) {
  const Target target = testing::Avx512Target();
  for (int operand : {kLhs, kRhs}) {
    Spec spec = testing::MatmulSpec({.m = 40, .k = 41, .n = 42, .rhs_gap = 5, .constant = operand});
    spec.threads = 4;
    std::vector<Decision> decisions;
    EnumerateDecisions(spec, target, &decisions);
    for (const Decision& decision : decisions) {
      Expansion expansion;
      Expand(spec, decision, target, &expansion);
      ASSERT_EQ(expansion.num_children, 1);
      const Spec& child = expansion.children[0].spec;
      EXPECT_EQ(ConstantOperand(child), -1);
      EXPECT_EQ(child.threads, 4);
      const TensorSpec& copy = child.tensor(operand);
      // What tiles take of a copy without panels is that of plain rows.
      EXPECT_EQ(copy.layout.kind == LayoutKind::kPacked, decision.layout.panel != 0);
      const auto inner = static_cast<uint32_t>(ExtentOf(child, operand).inner);
      const bool plain = decision.layout.kind == LayoutKind::kStrided;
      EXPECT_EQ(copy.layout.ld, plain                        ? inner
                                : decision.layout.panel == 0 ? PackedLd(inner, copy.dtype, target)
                                                             : 0u);
    }
  }
}

// Threads share out the packed operand by whole panels.
TEST(ConstantDecisions, PanelsAreNotSplitAmongThreads) {
  const Target target = testing::Avx512Target();
  Spec spec = testing::MatmulSpec({.m = 1, .k = 40, .n = 200});
  spec.threads = 3;
  bool shared_out = false;
  for (uint8_t panel : {32, 48, 64}) {
    spec.operand[kRhs].layout = {LayoutKind::kPacked, Order::kRow, panel, 1, 0};
    std::vector<Decision> decisions;
    EnumerateDecisions(spec, target, &decisions);
    for (const Decision& decision : decisions) {
      if (decision.parts == 1) continue;
      EXPECT_EQ(decision.size % panel, 0u);
      shared_out = true;
    }
  }
  EXPECT_TRUE(shared_out);
}

TEST(ConstantDecisions, ArePaidOnce) {
  const CostModel model(testing::Avx512Target());
  const Spec spec = testing::MatmulSpec({.m = 40, .k = 40, .n = 40, .constant = kRhs});
  std::vector<Decision> decisions;
  EnumerateDecisions(spec, model.target(), &decisions);
  for (const Decision& decision : decisions) {
    Expansion expansion;
    Expand(spec, decision, model.target(), &expansion);
    EXPECT_EQ(model.Base(spec, decision, expansion), 0);
    EXPECT_GT(model.PackCycles(spec, decision, expansion), 0);
  }
}

// The search
// --------------------------------------------------------------------------------------------------

Spec Placed(const MatmulShape& shape, Residency residency, int threads, const Target& target) {
  Spec placed = PlaceOperands(testing::MatmulSpec(shape), residency, target);
  placed.threads = static_cast<uint8_t>(threads);
  return placed;
}

// Calls use(shape) for some tiny shapes of these types, with lhs or rhs constant.
template <typename Use>
void ForTinyShapes(const MatmulTypes& types, uint32_t every, Use use) {
  uint32_t number = 0;
  for (uint32_t m = 1; m <= 5; ++m)
    for (uint32_t k = 1; k <= 6; ++k)
      for (uint32_t n = 1; n <= 6; ++n)
        for (Order lhs : {Order::kRow, Order::kCol})
          for (Order rhs : {Order::kRow, Order::kCol})
            for (int constant : {kLhs, kRhs})
              if (number++ % every == 0)
                use(MatmulShape{.b = number % 7 == 0 ? 1 + number % 3 : 1,
                                .m = m,
                                .k = k,
                                .n = n,
                                .lhs = lhs,
                                .rhs = rhs,
                                .lhs_gap = number % 3,
                                .rhs_gap = number % 2 * 9,
                                .accumulate = number % 5 == 0,
                                .types = types,
                                .constant = constant});
}

void ExpectBruteForce(const CostModel& model, const MatmulTypes& types, uint32_t every) {
  BruteForce brute_force(model);
  HashMemo shared;
  ForTinyShapes(types, every, [&](const MatmulShape& shape) {
    for (Residency residency : kResidencies) {
      const Spec placed = Placed(shape, residency, 1, model.target());
      const Cost best = brute_force.Best(placed, LinesLeftAtHome(placed, model.target()));
      ASSERT_LT(best, kInfiniteCost) << testing::Describe(placed);
      ASSERT_LE(model.LowerBound(placed), best) << testing::Describe(placed);
      HashMemo memo;
      const SearchResult result = Search(placed, model, memo, {});
      ASSERT_EQ(result.cost, best) << testing::Describe(placed);
      EXPECT_EQ(testing::CostOf(result.impl, model), best);
      EXPECT_EQ(PrintSchedule(Search(placed, model, shared, {}).impl), PrintSchedule(result.impl));
    }
  });
}

TEST(ConstantSearch, IsBruteForce) {
  ExpectBruteForce(CostModel(testing::TinyTarget()), {Dtype::kF32, Dtype::kF32, Dtype::kF32}, 23);
  ExpectBruteForce(CostModel(testing::TinyTarget()), kBf16, 211);
  ExpectBruteForce(CostModel(testing::TinyDotTarget()), kBf16, 211);
  ExpectBruteForce(CostModel(testing::TinyDotTarget()), kU8S8, 211);
}

// A constant operand may stay as it is (without the gaps between its rows): it never makes things worse.
TEST(ConstantSearch, NeverCostsMoreThanWithout) {
  const std::vector<MatmulTypes> all = testing::EveryTypes();
  for (const Target& target : {testing::Avx2Target(), testing::Avx512Target(), testing::Avx512DotTarget()}) {
    const CostModel model(target);
    HashMemo memo;
    std::mt19937_64 random(5);
    for (int round = 0; round < 80; ++round) {
      const MatmulTypes types = all[static_cast<size_t>(round) % all.size()];
      const Spec spec = testing::RandomMatmulSpec(
          {.max_side = 300, .max_flops = 4e6, .types = types, .constants = true, .constant_batches = true},
          &random);
      const int operand = ConstantOperand(spec);
      if (operand < 0) continue;
      Spec placed = PlaceOperands(spec, round % 2 == 0 ? Residency::kWarm : Residency::kCold, target);
      const Cost with = Search(placed, model, memo, {}).cost;
      placed.tensor(operand).constant = 0;
      EXPECT_LE(with, Search(placed, model, memo, {}).cost) << testing::Describe(spec);
    }
  }
}

TEST(ConstantSearch, PruningAndWorkersChangeNothing) {
  SearchOptions exhaustive, crowd;
  exhaustive.prune = false;
  crowd.workers = 4;
  crowd.specs_before_helpers = 0;
  for (const Target& target : {testing::Avx2Target(), testing::Avx512DotTarget()}) {
    const CostModel model(target);
    for (const MatmulTypes& types : {kBf16, kU8S8})
      for (int constant : {kLhs, kRhs})
        for (int threads : {1, 2}) {
          const Spec placed = Placed({.m = 17,
                                      .k = 33,
                                      .n = 61,
                                      .lhs = Order::kCol,
                                      .rhs_gap = 3,
                                      .types = types,
                                      .constant = constant},
                                     Residency::kWarm, threads, target);
          HashMemo memo, unpruned, shared;
          const SearchResult result = Search(placed, model, memo, {});
          EXPECT_EQ(Search(placed, model, unpruned, exhaustive).cost, result.cost)
              << testing::Describe(placed);
          EXPECT_EQ(PrintSchedule(Search(placed, model, shared, crowd).impl), PrintSchedule(result.impl));
        }
  }
}

// A copy that is wider than the operand must fit where the operand waits.
TEST(ConstantSearch, PacksOnlyWhatFits) {
  const Target target = testing::Avx512Target();
  const int64_t lines = target.at(Level::kL1).bytes / target.line_bytes;
  bool widened = false, kept = false;
  for (uint32_t k = 16; k <= 256; k += 16) {
    const Spec placed =
        Placed({.m = 1, .k = k, .n = 64, .types = kF16, .constant = kRhs}, Residency::kWarm, 1, target);
    if (FillingLevel(placed) != Level::kL1) continue;
    HashMemo memo;
    const Impl impl = Search(placed, CostModel(target), memo, {}).impl;
    int64_t taken = 0;
    for (int operand = 0; operand < 3; ++operand)
      taken += FootprintOf(impl.children[0].impl.spec, operand, target).lines;
    EXPECT_LE(taken, lines) << k;
    (impl.decision.dtype == Dtype::kF32 ? widened : kept) = true;
  }
  EXPECT_TRUE(widened);
  EXPECT_TRUE(kept);
}

}  // namespace
}  // namespace kirsch
