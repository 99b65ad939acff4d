// The search is exact: it agrees with brute force, with pruning or without, whatever the memo already holds.
#include "search/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <optional>

#include "memo/hash_memo.h"
#include "rewrites/rewrite.h"
#include "search/relaxation.h"
#include "spec/schedule.h"
#include "tests/testing/brute_force.h"
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
    EXPECT_LE(used[static_cast<size_t>(filled)], LinesOf(target, filled, impl.spec.sharers));
  }
  for (const Impl::Child& child : impl.children) ExpectFits(child.impl, target, used);
}

void ExpectFits(const Impl& root, const Target& target) {
  std::array<int64_t, kNumLevels> used = {};
  for (int operand = 0; operand < root.spec.op_info().num_operands; ++operand)
    used[static_cast<size_t>(FillingLevel(root.spec))] += FootprintOf(root.spec, operand, target).lines;
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
    const Lines empty = LinesOf(model.target(), FillingLevel(relaxed->spec), relaxed->spec.sharers);
    ASSERT_LE(brute_force.Best(relaxed->spec, empty) + relaxed->extra, best) << testing::Describe(spec);
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
  HashMemo shared;  // knows all the shapes before
  ForTinyShapes([&](const MatmulShape& shape) {
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

// Nothing that is used as a bound is above the optimum: the closed form, and relaxed specs.
TEST_P(TinyMatmuls, BoundsAreBounds) {
  BruteForce brute_force(model_);
  ForTinyShapes([&](const MatmulShape& shape) {
    if (shape.m + shape.k + shape.n > 12) return;
    for (Residency residency : kResidencies) {
      const Spec placed = Placed(shape, residency, GetParam(), model_.target());
      brute_force.Best(placed, LinesLeftAtHome(placed, model_.target()));
    }
  });
  ExpectBoundsBelow(brute_force, model_);
}

}  // namespace
}  // namespace kirsch
