// SPDX-License-Identifier: Apache-2.0
// The search is exact: it agrees with brute force, with pruning or without, whatever the memo already holds.
#include "search/solver/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "memo/hash_memo.h"
#include "rewrites/spec/rewrite.h"
#include "search/solver/limits.h"
#include "search/solver/relaxation.h"
#include "search/solver/solver.h"
#include "spec/language/parser.h"
#include "spec/language/printer.h"
#include "spec/language/schedule.h"
#include "spec/microkernel.h"
#include "spec/target/targets.h"
#include "spec/text/cat.h"
#include "tests/testing/brute_force.h"
#include "tests/testing/convolutions.h"
#include "tests/testing/random_spec.h"
#include "tests/testing/targets.h"

namespace kirsch {
namespace {

using testing::BruteForce;
using testing::LinesLeftAtHome;
using testing::LinesOf;
using testing::MatmulShape;

constexpr Residency kResidencies[] = {Residency::kWarm, Residency::kCold};
constexpr Order kOrders[] = {Order::kRow, Order::kCol};

Spec Placed(const MatmulShape& shape, Residency residency, int threads, const Target& target) {
  Spec placed = PlaceOperands(testing::MatmulSpec(shape), residency, target);
  placed.threads = static_cast<uint8_t>(threads);
  return placed;
}

// Calls use(shape) for every matmul with sides up to 4, and for some with sides up to 6 (KIRSCH_ALL_SHAPES in
// the environment: all).
template <typename Use>
void ForTinyShapes(Use use) {
  const bool all = std::getenv("KIRSCH_ALL_SHAPES") != nullptr;
  for (uint32_t m = 1; m <= 6; ++m)
    for (uint32_t k = 1; k <= 6; ++k)
      for (uint32_t n = 1; n <= 6; ++n) {
        if (!all && std::max({m, k, n}) > 4 && (m + 2 * k + 5 * n) % 11 != 0) continue;
        for (Order lhs : kOrders)
          for (Order rhs : kOrders)
            for (bool accumulate : {false, true})
              use(MatmulShape{.m = m, .k = k, .n = n, .lhs = lhs, .rhs = rhs, .accumulate = accumulate});
      }
}

// No level ever holds more than it has room for: operands at home, and all that moves and packs put there.
void ExpectFits(const Impl& impl, const Target& target, std::array<int64_t, kNumLevels> used) {
  Expansion expansion;
  Expand(impl.spec, impl.decision, target, &expansion);
  const Level filled = expansion.filled;
  if (filled != Level::kVrf && filled != Level::kRam) {
    used[static_cast<size_t>(filled)] += expansion.filled_lines;
    EXPECT_LE(used[static_cast<size_t>(filled)], LinesOf(target, filled, impl.children[0].impl.spec));
  }
  for (const Impl::Child& child : impl.children) ExpectFits(child.impl, target, used);
}

// The operands at home first take the share of the level that may not be filled, then of what may.
void ExpectFits(const Impl& root, const Target& target) {
  std::array<int64_t, kNumLevels> used = {};
  const Level home = FillingLevel(root.spec);
  const int64_t unfilled = target.at(home).bytes / target.line_bytes - LinesOf(target, home, root.spec);
  int64_t operands = 0;
  for (int operand = 0; operand < root.spec.op_info().num_operands; ++operand)
    operands += FootprintOf(root.spec, operand, target).lines;
  used[static_cast<size_t>(home)] = std::max<int64_t>(0, operands - unfilled);
  ExpectFits(root, target, used);
}

Spec SpecOf(const Spec::Words& words) { return std::bit_cast<Spec>(words); }

// Every bound of every spec that was solved is at most the optimum.
void ExpectBoundsBelow(BruteForce& brute_force, const CostModel& model) {
  const BruteForce::Answers answers = brute_force.answers();
  for (const auto& [question, best] : answers) {
    const Spec spec = SpecOf(question.first);
    ASSERT_LE(model.LowerBound(spec), best) << testing::Describe(spec);
    const std::optional<Relaxation> relaxed = Relax(spec, model);
    if (!relaxed) continue;
    const Lines empty = LinesOf(model.target(), FillingLevel(relaxed->spec), relaxed->spec);
    const Cost least = std::min(kInfiniteCost, brute_force.Best(relaxed->spec, empty) + relaxed->extra);
    ASSERT_LE(least, best) << testing::Describe(spec);
  }
}

// What 2, 3, 4 and 8 workers, all of them there from the start, find is what one finds; again and again.
void ExpectWorkersChangeNothing(const Spec& placed, const CostModel& model, int repetitions) {
  HashMemo memo;
  const SearchResult alone = Search(placed, model, memo, {});
  for (int i = 0; i < repetitions; ++i)
    for (int workers : {2, 3, 4, 8}) {
      SearchOptions options;
      options.workers = workers;
      options.specs_before_helpers = 0;
      HashMemo shared;
      const SearchResult together = Search(placed, model, shared, options);
      ASSERT_EQ(together.cost, alone.cost) << testing::Describe(placed) << ", workers: " << workers;
      ASSERT_EQ(together.bound, alone.bound);
      ASSERT_EQ(together.stop, StopReason::kOptimal);
      ASSERT_EQ(PrintSchedule(together.impl), PrintSchedule(alone.impl))
          << testing::Describe(placed) << ", workers: " << workers;
    }
}

class TinyMatmuls : public ::testing::TestWithParam<int> {
 protected:
  const CostModel model_{testing::TinyTarget()};
};
INSTANTIATE_TEST_SUITE_P(, TinyMatmuls, ::testing::Values(1, 2),
                         [](const auto& info) { return info.param == 1 ? "OneThread" : "TwoThreads"; });

TEST_P(TinyMatmuls, SearchIsBruteForce) {
  BruteForce brute_force(model_);
  const unsigned every = GetParam() == 1 ? 1 : 3;  // the programs below two threads are those of one
  HashMemo shared;                                 // knows all the shapes before
  ForTinyShapes([&](const MatmulShape& shape) {
    if ((shape.m + shape.k + shape.n) % every != 0) return;
    for (Residency residency : kResidencies) {
      const Spec placed = Placed(shape, residency, GetParam(), model_.target());
      const Cost best = brute_force.Best(placed, LinesLeftAtHome(placed, model_.target()));
      ASSERT_LT(best, kInfiniteCost) << testing::Describe(placed);
      HashMemo memo;
      const SearchResult result = Search(placed, model_, memo, {});
      ASSERT_EQ(result.cost, best) << testing::Describe(placed);
      EXPECT_EQ(result.bound, best);
      EXPECT_EQ(testing::CostOf(result.impl, model_), best);
      EXPECT_EQ(result.stop, StopReason::kOptimal);
      const SearchResult warmed = Search(placed, model_, shared, {});
      EXPECT_EQ(warmed.cost, best);
      EXPECT_EQ(PrintSchedule(warmed.impl), PrintSchedule(result.impl)) << testing::Describe(placed);
      ExpectFits(result.impl, model_.target());
    }
  });
}

TEST_P(TinyMatmuls, WorkersChangeNothing) {
  ForTinyShapes([&](const MatmulShape& shape) {
    if ((shape.m + 3 * shape.k + 2 * shape.n) % 11 != 0) return;
    for (Residency residency : kResidencies)
      ExpectWorkersChangeNothing(Placed(shape, residency, GetParam(), model_.target()), model_, 1);
  });
}

// Nothing that is used as a bound is above the optimum: the closed form, and relaxed specs.
TEST_P(TinyMatmuls, BoundsAreBounds) {
  BruteForce brute_force(model_);
  ForTinyShapes([&](const MatmulShape& shape) {
    if (shape.m + shape.k + shape.n > 10) return;
    for (Residency residency : kResidencies) {
      const Spec placed = Placed(shape, residency, GetParam(), model_.target());
      brute_force.Best(placed, LinesLeftAtHome(placed, model_.target()));
    }
  });
  ExpectBoundsBelow(brute_force, model_);
}

// Epilogues of every form, results narrower and as wide as sums.
constexpr const char* kEpilogues[] = {
    "matmul f32 5x4x6 epilogue=relu",
    "matmul f32 4x6x3 rhs=col epilogue=add:n,gelu",
    "matmul f32 3x2x5 lhs=col epilogue=mul:0.5,add:mn",
    "matmul bf16*bf16->bf16 4x4x5 epilogue=add:m,tanh",
    "matmul u8*s8->s8 3x5x4 epilogue=f32,mul:n,add:n",
    "conv2d f32 1x2x4x4 filters=3 kernel=2x2 layout=nhwc epilogue=relu",
    "conv2d f32 1x3x4x4 filters=2 kernel=3x3 stride=2 layout=nchw epilogue=relu",
};

TEST_P(TinyMatmuls, BoundsOfEpiloguesAreBounds) {
  BruteForce brute_force(model_);
  for (const char* text : kEpilogues)
    for (Residency residency : kResidencies) {
      const absl::StatusOr<ParsedSpec> parsed = ParseSpec(text);
      ASSERT_TRUE(parsed.ok()) << parsed.status();
      Spec placed = PlaceOperands(parsed->spec, residency, model_.target());
      placed.threads = static_cast<uint8_t>(GetParam());
      const Cost best = brute_force.Best(placed, LinesLeftAtHome(placed, model_.target()));
      HashMemo memo;
      EXPECT_EQ(Search(placed, model_, memo, {}).cost, best) << text;
    }
  ExpectBoundsBelow(brute_force, model_);
}

// The same for convolutions: windows, and matrices whose rows overlap.
class TinyConvolutions : public ::testing::Test {
 protected:
  // Calls use(placed) for some of the small ones (KIRSCH_ALL_SHAPES in the environment: all).
  template <typename Use>
  void ForPlaced(size_t every, Use use) const {
    const std::vector<ConvShape> shapes = testing::SmallConvolutions();
    if (std::getenv("KIRSCH_ALL_SHAPES") != nullptr) every = 1;
    for (size_t i = 0; i < shapes.size(); i += every)
      for (Residency residency : kResidencies) {
        if (shapes[i].group > 4) continue;  // tiny vectors have too few registers for their shuffles
        Spec spec = testing::SpecOf(shapes[i]);
        spec.accumulate = i % 2 != 0;
        use(PlaceOperands(spec, residency, model_.target()));
      }
  }
  const CostModel model_{testing::TinyTarget()};
};

TEST_F(TinyConvolutions, BoundsOfEpiloguesOfDepthwiseOnesAreBounds) {
  const Epilogue relu = ParseSpec("matmul f32 2x2x2 epilogue=relu")->spec.op_info().epilogue;
  BruteForce brute_force(model_);
  for (uint32_t channels : {3u, 8u, 13u})
    for (Residency residency : kResidencies) {
      ConvShape shape{.group = 1, .channels = channels, .filters = channels};
      shape.axes = {{{}, {.size = 5, .kernel = 2}, {.size = 4, .kernel = 2}}};
      Spec spec = testing::SpecOf(shape);
      spec.op = OpWith(relu, spec.op_info().window, OpKind::kDepthwise);
      spec = PlaceOperands(spec, residency, model_.target());
      brute_force.Best(spec, LinesLeftAtHome(spec, model_.target()));
    }
  ExpectBoundsBelow(brute_force, model_);
}

TEST_F(TinyConvolutions, SearchIsBruteForce) {
  BruteForce brute_force(model_);
  HashMemo shared;
  ForPlaced(97, [&](const Spec& placed) {
    const Cost best = brute_force.Best(placed, LinesLeftAtHome(placed, model_.target()));
    ASSERT_LT(best, kInfiniteCost) << PrintSpec(placed);
    HashMemo memo;
    const SearchResult result = Search(placed, model_, memo, {});
    ASSERT_EQ(result.cost, best) << PrintSpec(placed);
    EXPECT_EQ(testing::CostOf(result.impl, model_), best);
    EXPECT_EQ(PrintSchedule(Search(placed, model_, shared, {}).impl), PrintSchedule(result.impl));
    ExpectFits(result.impl, model_.target());
  });
}

TEST_F(TinyConvolutions, BoundsAreBounds) {
  BruteForce brute_force(model_);
  ForPlaced(89,
            [&](const Spec& placed) { brute_force.Best(placed, LinesLeftAtHome(placed, model_.target())); });
  ExpectBoundsBelow(brute_force, model_);
  ExpectBoundsBelow(brute_force, model_);  // of the relaxed specs, too
}

// The same for other types, where operands may be copied widened or in groups.
class TypedMatmuls : public ::testing::TestWithParam<std::pair<Target, MatmulTypes>> {
 protected:
  // Calls use(placed) for some tiny shapes.
  template <typename Use>
  void ForPlaced(int every, Use use) const {
    int number = 0;
    ForTinyShapes([&](const MatmulShape& shape) {
      if (number++ % every != 0) return;
      MatmulShape typed = shape;
      typed.types = GetParam().second;
      for (Residency residency : kResidencies) use(Placed(typed, residency, 1, model_.target()));
    });
  }
  const CostModel model_{GetParam().first};
};
// Each type with the best arithmetic there is for it, and with what is left where the dot products are
// missing.
std::vector<std::pair<Target, MatmulTypes>> TargetsAndTypes() {
  const Target tiny = testing::TinyTarget(), dot = testing::TinyDotTarget();
  std::vector<std::pair<Target, MatmulTypes>> all;
  for (const MatmulTypes& types : testing::EveryTypes()) {
    if (types.lhs == Dtype::kF32 && types.rhs == Dtype::kF32) continue;
    all.emplace_back(dot, types);
    if (BestArithmetic(types.lhs, types.rhs, tiny) != BestArithmetic(types.lhs, types.rhs, dot))
      all.emplace_back(tiny, types);
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(, TypedMatmuls, ::testing::ValuesIn(TargetsAndTypes()), [](const auto& info) {
  const std::string& target = info.param.first.name;
  return target.substr(0, target.find('-')) + "_" + testing::NameOf(info.param.second);
});

TEST_P(TypedMatmuls, SearchIsBruteForce) {
  BruteForce brute_force(model_);
  HashMemo shared;
  ForPlaced(61, [&](const Spec& placed) {
    const Cost best = brute_force.Best(placed, LinesLeftAtHome(placed, model_.target()));
    ASSERT_LT(best, kInfiniteCost) << testing::Describe(placed);
    HashMemo memo;
    const SearchResult result = Search(placed, model_, memo, {});
    ASSERT_EQ(result.cost, best) << testing::Describe(placed);
    EXPECT_EQ(testing::CostOf(result.impl, model_), best);
    EXPECT_EQ(PrintSchedule(Search(placed, model_, shared, {}).impl), PrintSchedule(result.impl));
    ExpectFits(result.impl, model_.target());
  });
}

TEST_P(TypedMatmuls, BoundsAreBounds) {
  BruteForce brute_force(model_);
  ForPlaced(19,
            [&](const Spec& placed) { brute_force.Best(placed, LinesLeftAtHome(placed, model_.target())); });
  ExpectBoundsBelow(brute_force, model_);
  ExpectBoundsBelow(brute_force, model_);  // of the relaxed specs, too
}

// Where lhs may be rounded as it is copied, and rhs is of bf16 or of blocks that programs decode somewhere.
struct RoundedCase {
  Dtype rhs;
  LhsAs lhs_as;
};

class RoundedMatmuls : public ::testing::TestWithParam<RoundedCase> {
 protected:
  template <typename Use>
  void ForPlaced(Use use) const {
    const auto& [rhs, lhs_as] = GetParam();
    const uint32_t block = static_cast<uint32_t>(BlockOf(rhs));
    for (uint32_t m : {1, 3})
      for (uint32_t k : {1, 2})
        for (uint32_t n : {1, 5})
          for (Order order : kOrders)
            for (int constant : {-1, 0, 1}) {
              if (order == Order::kRow && IsOfBlocks(rhs)) continue;
              MatmulShape shape{.m = m, .k = k * std::max(block, 4u), .n = n, .rhs = order};
              shape.types = {Dtype::kF32, rhs, Dtype::kF32};
              shape.constant = constant;
              shape.lhs_as = lhs_as;
              for (Residency residency : kResidencies) use(Placed(shape, residency, 1, model_.target()));
            }
  }
  // With registers enough to decode blocks, and products so fast that a copy which rounds is worth it.
  static Target RoundingTarget() {
    Target target = testing::TinyDotTarget();
    for (VectorUnit& unit : target.vectors) {
      unit.registers = 10;
      unit.rates[static_cast<size_t>(Arithmetic::kDotBf16)] = {8 * unit.fma_per_cycle, 1};
    }
    return target;
  }
  const CostModel model_{RoundingTarget()};
};
INSTANTIATE_TEST_SUITE_P(
    , RoundedMatmuls,
    ::testing::Values(RoundedCase{Dtype::kBf16, LhsAs::kBf16}, RoundedCase{Dtype::kF16, LhsAs::kF16},
                      RoundedCase{Dtype::kQ8_0, LhsAs::kItself}, RoundedCase{Dtype::kQ8_0, LhsAs::kBf16},
                      RoundedCase{Dtype::kQ4_1, LhsAs::kQ8}, RoundedCase{Dtype::kQ4K, LhsAs::kQ8},
                      RoundedCase{Dtype::kSfp8, LhsAs::kBf16}),
    [](const auto& info) {
      const std::string_view as = NameOf(info.param.lhs_as);
      return std::string(Info(info.param.rhs).name) + (as.empty() ? "" : "_lhs_as_" + std::string(as));
    });

TEST_P(RoundedMatmuls, SearchIsBruteForce) {
  BruteForce brute_force(model_);
  ForPlaced([&](const Spec& placed) {
    const Cost best = brute_force.Best(placed, LinesLeftAtHome(placed, model_.target()));
    ASSERT_LT(best, kInfiniteCost) << testing::Describe(placed);
    HashMemo memo;
    ASSERT_EQ(Search(placed, model_, memo, {}).cost, best) << testing::Describe(placed);
  });
  ExpectBoundsBelow(brute_force, model_);
}

// Where products of what is rounded are much faster, the best program copies lhs.
TEST(RoundedCopies, AreNotRefutedByWhatIsNotCopied) {
  Target target = testing::Avx512DotTarget();
  for (VectorUnit& unit : target.vectors) unit.fma_per_cycle = 1;
  const CostModel model(target);
  SearchOptions exhaustive;
  exhaustive.prune = false;
  for (uint32_t b : {1, 2})
    for (int constant : {-1, 1}) {
      MatmulShape shape{.b = b, .m = 4, .k = 256, .n = 8};
      shape.types = {Dtype::kF32, Dtype::kBf16, Dtype::kF32};
      shape.constant = constant;
      shape.lhs_as = LhsAs::kBf16;
      const Spec placed = Placed(shape, Residency::kWarm, 1, target);
      HashMemo memo, unpruned;
      EXPECT_EQ(Search(placed, model, memo, {}).cost, Search(placed, model, unpruned, exhaustive).cost);
    }
}

// A constant lhs may be a copy that takes half of its lines, or a quarter: bounds must count no more.
TEST(RoundedCopies, OfAConstantLhsHaveFewerLines) {
  const CostModel model(testing::Avx512DotTarget());
  SearchOptions exhaustive;
  exhaustive.prune = false;
  for (const char* text : {"matmul f32*f16->f32 8x2048x2 rhs=col lhs-as=f16",
                           "matmul f32*bf16->f32 8x2048x2 rhs=col lhs-as=bf16",
                           "matmul f32*q8_0->f32 8x2048x2 rhs=col lhs-as=q8_0"}) {
    const Spec placed =
        PlaceOperands(ParseSpec(Cat(text, " const-lhs"))->spec, Residency::kWarm, model.target());
    HashMemo memo, unpruned;
    EXPECT_EQ(Search(placed, model, memo, {}).cost, Search(placed, model, unpruned, exhaustive).cost) << text;
  }
}

// One that was made ahead, of integers, lies as any lhs does.
TEST(RoundedCopies, AreNotRoundedOnceMore) {
  const Target target = FindTarget("sierraforest", "")->target;
  for (const char* text : {"matmul f32*q4_k->f32 3x512x17 rhs=col lhs-as=q8_0",
                           "matmul f32*q8_0->f32 3x512x17 rhs=col lhs-as=q8_0"}) {
    Spec spec = PlaceOperands(ParseSpec(Cat(text, " const-lhs"))->spec, Residency::kCold, target);
    spec.operand[MatmulDims::kLhs].dtype = Dtype::kQ8;
    spec.operand[MatmulDims::kLhs].constant = 0;
    SettleRounding(&spec);
    std::vector<Decision> decisions;
    EnumerateDecisions(spec, target, &decisions);
    EXPECT_TRUE(std::none_of(decisions.begin(), decisions.end(), [](const Decision& decision) {
      return decision.kind == RewriteKind::kPack && decision.operand == MatmulDims::kLhs;
    })) << text;
    EXPECT_FALSE(decisions.empty());
  }
}

// Where lhs and rhs are both column-major, no program does without a copy of rhs; there must be room for it
// wherever the operands are said to wait.
TEST(Placement, LeavesRoomForTheCopyThatIsNeeded) {
  for (double usable : {1.0, 0.8, 0.5}) {
    Target target = testing::Avx512Target();
    target.memory[Index(Level::kL1)].capacity_share = usable;
    const CostModel model(target);
    for (uint32_t k = 16; k <= 96; k += 8) {
      const MatmulShape shape{.m = 32, .k = k, .n = 64, .lhs = Order::kCol, .rhs = Order::kCol};
      const Spec placed = Placed(shape, Residency::kWarm, 1, target);
      HashMemo memo;
      ExpectFits(Search(placed, model, memo, {}).impl, target);
    }
  }
}

// A register tile as wide as the registers allow, in vectors of twice the narrowest: wider than once bounded.
TEST(WideRow, IsNotBoundedAboveItsCost) {
  const CostModel model(testing::Avx512Target());
  for (uint32_t n = 200; n <= 480; n += 7) {
    HashMemo memo;
    SearchOptions exhaustive;
    exhaustive.prune = false;
    HashMemo unpruned;
    const Spec placed = Placed({.m = 1, .k = 11, .n = n}, Residency::kWarm, 1, model.target());
    EXPECT_EQ(Search(placed, model, memo, {}).cost, Search(placed, model, unpruned, exhaustive).cost) << n;
  }
}

// A target file may say anything, even that farther is cheaper.
TEST(CrookedTarget, IsSearchedExactlyToo) {
  Target target = testing::TinyTarget();
  std::swap(target.memory[Index(Level::kL3)], target.memory[Index(Level::kRam)]);
  std::swap(target.memory[Index(Level::kL3)].bytes, target.memory[Index(Level::kRam)].bytes);
  const CostModel model(target);
  BruteForce brute_force(model);
  for (uint32_t side : {2, 3, 5})
    for (Residency residency : kResidencies) {
      const Spec placed = Placed({.m = side, .k = side + 1, .n = side}, residency, 1, target);
      const Cost best = brute_force.Best(placed, LinesLeftAtHome(placed, target));
      HashMemo memo;
      EXPECT_EQ(Search(placed, model, memo, {}).cost, best) << testing::Describe(placed);
    }
  ExpectBoundsBelow(brute_force, model);
}

struct Case {
  MatmulShape shape;
  int threads = 1;
};

class RealTargets : public ::testing::TestWithParam<Target> {
 protected:
  SearchResult Run(const Case& c, Memo& memo, const SearchOptions& options = {}) const {
    return Search(Placed(c.shape, Residency::kWarm, c.threads, GetParam()), model_, memo, options);
  }
  std::string ScheduleOf(const Case& c, Memo& memo) const { return PrintSchedule(Run(c, memo).impl); }

  const CostModel model_{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(, RealTargets,
                         ::testing::Values(testing::Avx2Target(), testing::Avx512Target(),
                                           testing::Avx512DotTarget(), testing::MatrixTarget()),
                         [](const auto& info) {
                           return info.param.name.substr(0, info.param.name.find('-'));
                         });

const Case kCases[] = {
    {{.m = 64, .k = 64, .n = 64}},
    {{.m = 17, .k = 33, .n = 61, .rhs_gap = 3}},
    {{.m = 7, .k = 64, .n = 5}},  // masks
    {{.m = 23, .k = 40, .n = 9, .lhs = Order::kCol, .accumulate = true}},
    {{.m = 31, .k = 19, .n = 29, .rhs = Order::kCol}},
    {{.m = 12, .k = 50, .n = 27, .lhs = Order::kCol, .rhs = Order::kCol}},
    {{.b = 3, .m = 5, .k = 30, .n = 33}},
    {{.m = 48, .k = 20, .n = 40}, 2},
    {{.m = 1, .k = 60, .n = 64}},
    {{.m = 32, .k = 64, .n = 64, .lhs = Order::kCol, .rhs = Order::kCol}},  // fills L1 to the last line
    {{.m = 17, .k = 33, .n = 61, .lhs = Order::kCol, .types = {Dtype::kBf16, Dtype::kBf16, Dtype::kF32}}},
    {{.m = 31, .k = 19, .n = 29, .rhs = Order::kCol, .types = {Dtype::kU8, Dtype::kS8, Dtype::kS32}}},
    {{.m = 1, .k = 60, .n = 64, .types = {Dtype::kBf16, Dtype::kF32, Dtype::kF32}}},
    {{.m = 23, .k = 40, .n = 9, .accumulate = true, .types = {Dtype::kS8, Dtype::kU8, Dtype::kS16}}},
};

TEST_P(RealTargets, PruningChangesNothing) {
  SearchOptions exhaustive;
  exhaustive.prune = false;
  for (const Case& c : kCases) {
    HashMemo memo, unpruned_memo;
    const SearchResult result = Run(c, memo);
    const SearchResult unpruned = Run(c, unpruned_memo, exhaustive);
    EXPECT_EQ(result.cost, unpruned.cost) << testing::Describe(result.impl.spec);
    EXPECT_EQ(PrintSchedule(result.impl), PrintSchedule(unpruned.impl));
    EXPECT_EQ(testing::CostOf(result.impl, model_), result.cost);
    EXPECT_EQ(result.bound, result.cost);
    ExpectFits(result.impl, GetParam());
  }
}

// No bound of a spec that the search of this one asks about is above its optimum; nor, if they are looked at,
// which takes long, the optimum of its relaxation.
void ExpectBoundsAreBelowOptima(const Spec& spec, const std::string& name, const CostModel& model,
                                const Target& target, bool relaxations = false) {
  const Spec placed = PlaceOperands(spec, Residency::kWarm, target);
  SearchOptions exhaustive;
  exhaustive.prune = false;
  exhaustive.trace = [&](const SearchEvent& event) {
    if (event.kind != SearchEventKind::kWon) return;
    EXPECT_LE(model.LowerBound(event.spec), event.cost) << PrintSpec(event.spec) << " of " << name;
    const std::optional<Relaxation> relaxed = Relax(event.spec, model);
    if (!relaxed || !relaxations) return;
    SearchOptions plain;
    plain.prune = false;
    HashMemo relaxed_memo;
    const Cost least = Solver(model, relaxed_memo, plain, 0)
                           .Solve(relaxed->spec, EmptyLevel(relaxed->spec, target), kInfiniteCost)
                           .cost;
    EXPECT_LE(least + relaxed->extra, event.cost) << PrintSpec(event.spec) << " of " << name;
  };
  HashMemo memo, unpruned_memo;
  Solver solver(model, unpruned_memo, exhaustive, 0);
  const Lines available = AvailableAtPlacement(placed, target);
  const Solver::Outcome unpruned = solver.Solve(placed, available, kInfiniteCost);
  EXPECT_EQ(Search(placed, model, memo, {}).cost, unpruned.cost) << name;
}

// Of every type, in any order of operands.
TEST_P(RealTargets, BoundsOfDrawnSpecsAreBounds) {
  std::mt19937_64 random(23);
  const std::vector<MatmulTypes> every_types = testing::EveryTypes();
  for (size_t round = 0; round < 8 * every_types.size(); ++round) {
    const MatmulTypes& types = every_types[round % every_types.size()];
    const Spec spec = testing::RandomMatmulSpec({.max_side = 64, .max_flops = 2e5, .types = types}, &random);
    ExpectBoundsAreBelowOptima(spec, testing::Describe(spec), model_, GetParam());
  }
}

// Of products of tiles, of which there are only where rhs has been packed. What they leave of the reduction
// may be multiplied better by vectors, which relaxations have to allow for.
TEST_P(RealTargets, BoundsBesideConstantsAreBounds) {
  for (const MatmulTypes& types : testing::EveryTypes()) {
    if (!TileArithmetic(types.lhs, types.rhs, GetParam())) continue;
    for (const uint32_t k : {64, 101}) {
      const Spec spec =
          testing::MatmulSpec({.m = k % 2 == 0 ? 20u : 1u, .k = k, .n = 80, .types = types, .constant = 1});
      ExpectBoundsAreBelowOptima(spec, testing::Describe(spec), model_, GetParam(), /*relaxations=*/true);
    }
  }
}

TEST_P(RealTargets, BoundsOfDrawnConvolutionsAreBounds) {
  std::mt19937_64 random(29);
  const std::vector<MatmulTypes> every_types = testing::EveryTypes();
  for (size_t round = 0; round < 4 * every_types.size(); ++round) {
    MatmulTypes types = every_types[round % every_types.size()];
    const ConvShape shape = testing::RandomConvolution(2e5, &random);
    if (shape.lanewise() || IsOfBlocks(types.lhs) || IsOfBlocks(types.rhs)) types = testing::kF32;
    const Spec spec = testing::SpecOf(shape, types);
    ExpectBoundsAreBelowOptima(spec, testing::Describe(spec), model_, GetParam());
  }
}

// Of images and kernels whose rows, or columns, or channels are few, so that parts of windows are matrices as
// any others.
TEST_P(RealTargets, BoundsOfFlatConvolutionsAreBounds) {
  std::mt19937_64 random(31);
  const auto draw = [&](int64_t most) {
    return 1 + static_cast<int64_t>(random() % static_cast<uint64_t>(most));
  };
  for (const MatmulTypes& types : testing::EveryTypes()) {
    if (IsOfBlocks(types.lhs) || IsOfBlocks(types.rhs)) continue;
    for (int round = 0; round < 3; ++round) {
      ConvShape shape;
      shape.layout = draw(3) == 1 ? ImageLayout::kNhwc : ImageLayout::kNchw;
      shape.channels = draw(3), shape.filters = draw(30);
      for (size_t axis : {ImageAxes::kHeight, ImageAxes::kWidth}) {
        ConvAxis& along = shape.axes[axis];
        along.kernel = draw(2) == 1 ? 1 : draw(10);
        along.stride = draw(2), along.dilation = draw(2);
        along.size = along.window() + draw(axis == ImageAxes::kHeight ? 4 : 20) - 1;
      }
      const Spec spec = testing::SpecOf(shape, types);
      ExpectBoundsAreBelowOptima(spec, testing::Describe(spec), model_, GetParam());
      if (HasFailure()) return;
    }
  }
}

// The same program whatever was asked before, in whatever order.
TEST_P(RealTargets, WhatTheMemoHoldsChangesNothing) {
  HashMemo forwards, backwards;
  std::vector<std::string> schedules;
  for (const Case& c : kCases) {
    HashMemo memo;
    schedules.push_back(ScheduleOf(c, memo));
    EXPECT_EQ(ScheduleOf(c, memo), schedules.back()) << "asked again";
    EXPECT_EQ(ScheduleOf(c, forwards), schedules.back());
  }
  for (size_t i = std::size(kCases); i-- > 0;) EXPECT_EQ(ScheduleOf(kCases[i], backwards), schedules[i]);
}

TEST_P(RealTargets, WorkersChangeNothing) {
  for (const Case& c : kCases)
    ExpectWorkersChangeNothing(Placed(c.shape, Residency::kWarm, c.threads, GetParam()), model_, 3);
  std::mt19937_64 random(11);
  for (int i = 0; i < 12; ++i) {
    const Spec spec = testing::RandomMatmulSpec({.max_side = 200}, &random);
    for (Residency residency : kResidencies)
      ExpectWorkersChangeNothing(PlaceOperands(spec, residency, GetParam()), model_, 1);
  }
}

TEST_P(RealTargets, BoundsAreBounds) {
  BruteForce brute_force(model_);
  const std::pair<Level, MatmulShape> roots[] = {
      {Level::kL1, {.m = 20, .k = 33, .n = 21}},
      {Level::kL1, {.m = 7, .k = 64, .n = 5, .rhs_gap = 2}},
      {Level::kL1, {.m = 9, .k = 40, .n = 13, .lhs = Order::kCol, .rhs = Order::kCol}},
      {Level::kL1, {.m = 8, .k = 70, .n = 9, .rhs = Order::kCol}},
      {Level::kL2, {.m = 9, .k = 9, .n = 37, .out_gap = 1, .accumulate = true}},
      {Level::kL3, {.m = 5, .k = 3, .n = 20, .lhs_gap = 6}},
      {Level::kRam, {.m = 2, .k = 5, .n = 20}},
      {Level::kL2, {.m = 9, .k = 13, .n = 37, .types = {Dtype::kBf16, Dtype::kBf16, Dtype::kF32}}},
      {Level::kL1,
       {.m = 9, .k = 40, .n = 13, .lhs = Order::kCol, .types = {Dtype::kS8, Dtype::kU8, Dtype::kS32}}},
      {Level::kL3, {.m = 3, .k = 9, .n = 40, .types = {Dtype::kBf16, Dtype::kF32, Dtype::kF32}}},
      {Level::kL2,
       {.m = 5, .k = 21, .n = 33, .rhs = Order::kCol, .types = {Dtype::kS8, Dtype::kS8, Dtype::kS32}}},
  };
  for (const auto& [level, shape] : roots)
    for (int threads : {1, 2}) {
      Spec spec = testing::MatmulSpec(shape);
      spec.threads = static_cast<uint8_t>(threads);
      for (int operand = 0; operand < spec.op_info().num_operands; ++operand)
        spec.tensor(operand).level = level;
      brute_force.Best(spec, LinesLeftAtHome(spec, GetParam()));
    }
  ExpectBoundsBelow(brute_force, model_);
}

// Of whole columns from far away, the next ones are asked for while a tile is worked on.
TEST_P(RealTargets, PrefetchedColumnsAreBruteForce) {
  BruteForce brute_force(model_);
  for (const char* text :
       {"matmul f32 1x256x9 rhs=col", "matmul f32 3x320x5 rhs=col", "matmul f32*f16->f32 2x512x7 rhs=col",
        "matmul bf16*bf16->f32 4x512x3 rhs=col", "matmul f32*bf16->f32 2x512x3 rhs=col lhs-as=bf16",
        "matmul f32 2x256x5 rhs=col ldb=272", "matmul bf16*bf16->f32 3x520x3 rhs=col ldb=600"})
    for (Level rhs : {Level::kL3, Level::kRam})
      for (Level others : {Level::kL1, Level::kL2, rhs}) {
        Spec spec = ParseSpec(text)->spec;
        for (int operand = 0; operand < spec.op_info().num_operands; ++operand)
          spec.tensor(operand).level = operand == MatmulDims::kRhs ? rhs : others;
        const Cost best = brute_force.Best(spec, LinesLeftAtHome(spec, GetParam()));
        HashMemo memo;
        const SearchResult result = Search(spec, model_, memo, {});
        ASSERT_EQ(result.cost, best) << testing::Describe(spec);
        EXPECT_EQ(testing::CostOf(result.impl, model_), best);
      }
  // A constant whose columns have gaps is read so as a copy.
  for (const char* text :
       {"matmul f32 3x260x5 rhs=col ldb=272 const-rhs", "matmul bf16*bf16->f32 2x512x3 const-rhs"}) {
    Spec spec = ParseSpec(text)->spec;
    for (int operand = 0; operand < spec.op_info().num_operands; ++operand)
      spec.tensor(operand).level = operand == MatmulDims::kRhs ? Level::kRam : Level::kL2;
    brute_force.Best(spec, LinesLeftAtHome(spec, GetParam()));
  }
  ExpectBoundsBelow(brute_force, model_);
}

TEST_P(RealTargets, BoundsOfEpiloguesAreBounds) {
  BruteForce brute_force(model_);
  for (const char* text :
       {"matmul f32 9x17x21 epilogue=add:n,gelu", "matmul f32 7x33x19 rhs=col epilogue=relu",
        "matmul bf16*bf16->f32 8x9x37 epilogue=mul:0.5,add:mn",
        "matmul u8*s8->u8 5x21x33 epilogue=f32,mul:n,relu"})
    for (Level level : {Level::kL1, Level::kL2, Level::kL3}) {
      Spec spec = ParseSpec(text)->spec;
      for (int operand = 0; operand < spec.op_info().num_operands; ++operand)
        spec.tensor(operand).level = level;
      brute_force.Best(spec, LinesLeftAtHome(spec, GetParam()));
    }
  ExpectBoundsBelow(brute_force, model_);
}

// Of tiles that are as large as the registers allow, and of smaller ones; where panels are beyond L1, also of
// copies in wider ones.
TEST_P(RealTargets, BoundsOfPanelsAreBounds) {
  const Arithmetic panels = BestArithmetic(Dtype::kQ8, Dtype::kPanel8, GetParam());
  if (panels != Arithmetic::kDotPanels) GTEST_SKIP() << "no products in panels";
  BruteForce brute_force(model_);
  const auto group = static_cast<uint8_t>(Info(panels).group);
  for (uint32_t rows : {3, 5, 7})
    for (uint8_t panel : {16, 32})
      for (Dtype rhs : {Dtype::kPanel8, Dtype::kPanel8Offset, Dtype::kPanel8Halves, Dtype::kPanel4,
                        Dtype::kPanel4Offset, Dtype::kPanel4Super, Dtype::kPanel6Super})
        for (Level level : {Level::kL1, Level::kL2}) {
          Spec spec = testing::MatmulSpec({.m = rows,
                                           .k = static_cast<uint32_t>(std::max(64, BlockOf(rhs))),
                                           .n = panel,
                                           .out_gap = 5,
                                           .types = {Dtype::kF32, Dtype::kF32, Dtype::kF32}});
          spec.tensor(MatmulDims::kLhs).dtype = Dtype::kQ8;
          spec.tensor(MatmulDims::kLhs).layout = {LayoutKind::kPacked, Order::kRow, 0, 1, 0};
          spec.tensor(MatmulDims::kRhs).dtype = rhs;
          spec.tensor(MatmulDims::kRhs).layout = {LayoutKind::kPacked, Order::kRow, panel, group, 0};
          for (int operand = 0; operand < spec.op_info().num_operands; ++operand)
            spec.tensor(operand).level = operand == MatmulDims::kLhs ? Level::kL1 : level;
          brute_force.Best(spec, EmptyLevel(spec, GetParam()));
        }
  ExpectBoundsBelow(brute_force, model_);
  ExpectBoundsBelow(brute_force, model_);  // of the relaxed specs, too
}

TEST_P(RealTargets, BoundsOfConvolutionsAreBounds) {
  BruteForce brute_force(model_);
  const std::pair<Level, const char*> roots[] = {
      {Level::kL1, "conv2d f32 1x4x7x9 filters=5 kernel=3x3 layout=nhwc"},
      {Level::kL2, "conv2d f32 1x3x9x9 filters=17 kernel=3x3 stride=2 layout=nhwc"},
      {Level::kL3, "conv2d f32 1x8x5x5 filters=6 kernel=1x1 stride=2 layout=nhwc"},
      {Level::kL1, "conv2d f32 1x3x8x9 filters=5 kernel=3x3 layout=nchw"},
      {Level::kL2, "conv2d f32 1x2x9x9 filters=3 kernel=3x3 stride=2 layout=nchw"},
      {Level::kL3, "conv2d f32 1x2x6x20 filters=3 kernel=3x3 layout=nchw"},
      {Level::kL2, "conv2d bf16*bf16->f32 1x4x5x6 filters=9 kernel=2x2 layout=nhwc"},
      {Level::kL2, "conv2d u8*s8->s32 1x3x5x6 filters=9 kernel=2x2 layout=nhwc"},
      {Level::kL2, "conv2d bf16*bf16->f32 1x8x5x5 filters=16 kernel=2x2 layout=nchw"},
      {Level::kL2, "conv2d bf16*bf16->f32 1x16x5x5 filters=4 kernel=1x1 stride=2 layout=nchw"},
      {Level::kL2, "conv2d u8*s8->s32 1x8x5x5 filters=8 kernel=2x2 layout=nchw"},
  };
  const auto solve = [&](Spec spec, Level level) {
    for (int operand = 0; operand < spec.op_info().num_operands; ++operand)
      spec.tensor(operand).level = level;
    brute_force.Best(spec, LinesLeftAtHome(spec, GetParam()));
  };
  for (const auto& [level, text] : roots) solve(ParseSpec(text)->spec, level);
  ConvShape depthwise{.group = 1, .channels = 41, .filters = 41};
  depthwise.axes = {{{}, {.size = 7, .kernel = 3}, {.size = 9, .kernel = 3}}};
  for (Level level : {Level::kL1, Level::kL2, Level::kL3}) {
    solve(testing::SpecOf(depthwise), level);
    for (size_t axis : {ImageAxes::kHeight, ImageAxes::kWidth}) depthwise.axes[axis].stride = 2;
  }
  ExpectBoundsBelow(brute_force, model_);
}

TEST_P(RealTargets, PruningOfConvolutionsChangesNothing) {
  SearchOptions exhaustive;
  exhaustive.prune = false;
  for (const char* text : {"conv2d f32 1x16x16x18 filters=40 kernel=3x3 layout=nhwc",
                           "conv2d f32 1x3x21x21 filters=16 kernel=7x7 stride=2 layout=nhwc",
                           "conv2d f32 1x16x9x9 filters=24 kernel=3x3 layout=nchw",
                           "conv2d f32 1x8x17x17 filters=24 kernel=3x3 stride=2 layout=nchw",
                           "conv2d bf16*bf16->f32 1x32x5x5 filters=64 kernel=2x2 layout=nchw",
                           "conv2d bf16*bf16->f32 1x64x9x9 filters=4 kernel=1x1 stride=2 layout=nchw",
                           "conv2d bf16 1x8x4x7 filters=64 kernel=3x3 layout=nchw"}) {
    const Spec placed = PlaceOperands(ParseSpec(text)->spec, Residency::kWarm, GetParam());
    HashMemo memo, unpruned;
    const SearchResult result = Search(placed, model_, memo, {});
    EXPECT_EQ(PrintSchedule(result.impl), PrintSchedule(Search(placed, model_, unpruned, exhaustive).impl))
        << text;
    ExpectWorkersChangeNothing(placed, model_, 1);
  }
}

// Stopped at once or a little later, there is a program, and a bound that the optimum doesn't break.
TEST_P(RealTargets, StoppedSearchesHaveAProgramAndABound) {
  const Case c{{.m = 64, .k = 61, .n = 64, .rhs = Order::kCol}};
  HashMemo memo;
  const Cost best = Run(c, memo).cost;
  std::atomic<bool> cancel = true;
  for (int workers : {1, 3})
    for (bool cancelled : {false, true}) {
      HashMemo stopped_memo;
      SearchOptions options;
      options.time_budget_seconds = cancelled ? 0 : 1e-9;
      options.cancel = cancelled ? &cancel : nullptr;
      options.workers = workers;
      options.specs_before_helpers = 0;
      const SearchResult result = Run(c, stopped_memo, options);
      // A helper may be done before the first worker looks at the clock.
      if (workers == 1 || result.stop != StopReason::kOptimal) {
        EXPECT_EQ(result.stop, cancelled ? StopReason::kCancelled : StopReason::kBudget);
      }
      EXPECT_GT(result.bound, 0);
      EXPECT_LE(result.bound, best);
      EXPECT_GE(result.cost, best);
      EXPECT_EQ(testing::CostOf(result.impl, model_), result.cost);
      ExpectFits(result.impl, GetParam());
      EXPECT_EQ(Run(c, stopped_memo).cost, best) << "what a stopped search left in the memo is true";
    }
}

// Cancelled from the progress callback, the n-th time it is called: however far the search came, its memo is
// sound. The callback is the calling thread's, however many workers there are.
TEST_P(RealTargets, CancelledAnywhereTheMemoIsSound) {
  const Case c{{.m = 40, .k = 64, .n = 40, .lhs = Order::kCol, .rhs = Order::kCol}};
  HashMemo fresh;
  const std::string schedule = ScheduleOf(c, fresh);
  const std::thread::id caller = std::this_thread::get_id();
  for (int workers : {1, 2, 4})
    for (int stop_at = 1; stop_at < 200; stop_at *= 3) {
      HashMemo memo;
      std::atomic<bool> cancel = false;
      int calls = 0;
      int64_t solved = 0;
      SearchOptions options;
      options.prune = false;  // long enough to be cancelled in the middle
      options.workers = workers;
      options.specs_before_helpers = 0;
      options.cancel = &cancel;
      options.progress = [&](const SearchProgress& progress) {
        EXPECT_LE(progress.bound, progress.best);
        EXPECT_EQ(std::this_thread::get_id(), caller);
        EXPECT_GE(progress.stats.specs_solved, solved);
        solved = progress.stats.specs_solved;
        cancel = ++calls >= stop_at;
      };
      const SearchResult result = Run(c, memo, options);
      // Helpers may have been done sooner.
      if (workers == 1 || result.stop != StopReason::kOptimal) {
        EXPECT_EQ(result.stop, StopReason::kCancelled) << stop_at;
      }
      EXPECT_GE(calls, 1);
      EXPECT_GE(result.stats.specs_solved, solved) << "of all workers";
      EXPECT_EQ(ScheduleOf(c, memo), schedule) << stop_at;
    }
}

// Fitted keys are no round numbers: what costs lose in being rounded down, bounds must lose as well.
TEST(Search, BoundsAreBelowWhateverTheKeys) {
  Target target = FindTarget("znver3", "")->target;
  for (int step = 0; step < 40; ++step) {
    for (VectorUnit& unit : target.vectors) {
      unit.fma_per_cycle = 1.894 + 0.0137 * step;
      unit.loads_per_cycle = 1.775 + 0.0071 * step;
      unit.stores_per_cycle = 1.911;
    }
    target.microkernel_cycles = 2.469 + 0.0193 * step;
    target.loop_cycles = 0.731;
    const CostModel model(target);
    for (const char* text :
         {"matmul f32 1x64x64", "matmul f32 6x16x16", "matmul f32 3x5x24", "matmul f32 13x7x40"}) {
      HashMemo memo;
      const Spec root = PlaceOperands(ParseSpec(text)->spec, Residency::kWarm, target);
      const SearchResult result = Search(root, model, memo, SearchOptions());
      EXPECT_EQ(result.stop, StopReason::kOptimal) << text;
      EXPECT_LE(model.LowerBound(root), result.cost) << text;
    }
  }
}

// Four rows fit in L1 whatever streams by, but not in the share of it that lines from RAM leave.
TEST(SearchTest, CachesHoldLessBesideRam) {
  Target target = testing::Avx512Target();
  target.memory[Index(Level::kL1)].capacity_share_beside_ram = 0.375;
  Spec root = Placed({.m = 4, .k = 1536, .n = 512, .rhs = Order::kCol}, Residency::kWarm, 1, target);
  root.operand[MatmulDims::kLhs].level = root.out().level = Level::kL2;
  Decision rows;
  rows.kind = RewriteKind::kMove;
  rows.operand = MatmulDims::kLhs;
  rows.level = Level::kL1;
  for (Level from : {Level::kL3, Level::kRam}) {
    root.operand[MatmulDims::kRhs].level = from;
    Expansion expansion;
    Expand(root, rows, target, &expansion);
    const Lines left = AvailableBelow(root, expansion, EmptyLevel(root, target), target);
    EXPECT_EQ(left >= 0, from == Level::kL3) << left;
  }
}

// What threads share is each one's in part, wherever its program begins: no program may rest on more lines
// than those that bounds are proven with.
TEST(SearchTest, RootsOfOneOfSeveralThreadsFillTheirShareOnly) {
  const Target target = testing::TinyTarget();
  Spec root = testing::MatmulSpec({2, 2, 2});
  for (int operand = 0; operand < root.op_info().num_operands; ++operand)
    root.tensor(operand).level = Level::kL3;
  for (int active_threads : {1, 2}) {
    root.active_threads = static_cast<uint8_t>(active_threads);
    EXPECT_LE(AvailableAtPlacement(root, target), EmptyLevel(root, target)) << active_threads;
  }
}

}  // namespace
}  // namespace kirsch
