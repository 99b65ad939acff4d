// SPDX-License-Identifier: Apache-2.0
// With prices, tile sizes and forbidden decisions of an extension, the search still finds what trying all
// programs finds, and all programs still compute their spec.
#include "spec/extension.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "memo/hash_memo.h"
#include "rewrites/spec/rewrite.h"
#include "search/solver/search.h"
#include "search/table/answer.h"
#include "spec/language/parser.h"
#include "spec/language/printer.h"
#include "spec/language/schedule.h"
#include "spec/target/targets.h"
#include "spec/text/cat.h"
#include "tests/testing/brute_force.h"
#include "tests/testing/oracle.h"
#include "tests/testing/random_impl.h"
#include "tests/testing/random_spec.h"
#include "tests/testing/targets.h"

namespace kirsch {
namespace {

// Draws its answers by the question, so that the same question has the same answer.
class DrawnExtension : public Extension {
 public:
  // Forbids so many of eight decisions.
  DrawnExtension(uint64_t seed, double least_share, uint64_t forbidden, bool every_size)
      : seed_(seed), least_share_(least_share), forbidden_(forbidden), every_size_(every_size) {}

  std::string Identity() const override { return "drawn 1"; }
  double least_share() const override { return least_share_; }
  double Price(const Spec& spec, const Decision& decision, const Expansion&, double cycles) const override {
    const uint64_t drawn = Draw(spec, decision);
    const double share = least_share_ + static_cast<double>(drawn % 64) / 16;
    return share * cycles + static_cast<double>(drawn / 64 % 4) * 5;
  }
  bool Allows(const Spec& spec, const Decision& decision) const override {
    return decision.kind == RewriteKind::kMicrokernel || Draw(spec, decision) / 7 % 8 >= forbidden_;
  }
  void AppendTileSizes(const Spec& spec, int dim, std::vector<uint32_t>* sizes) const override {
    for (uint32_t size = 0; every_size_ && size <= spec.size[static_cast<size_t>(dim)]; ++size)
      sizes->push_back(size);
  }

 private:
  uint64_t Draw(const Spec& spec, const Decision& decision) const {
    std::string text = Cat(seed_, " ", PrintDecision(spec.op, decision));
    for (const uint64_t word : spec.words()) Append(&text, " ", word);
    uint64_t hash = 14695981039346656037u;
    for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 1099511628211u;
    return hash >> 13;
  }

  const uint64_t seed_;
  const double least_share_;
  const uint64_t forbidden_;
  const bool every_size_;
};

Target With(Target target, std::shared_ptr<const Extension> extension) {
  target.extension = std::move(extension);
  return target;
}

TEST(ExtensionTest, TheSearchIsBruteForce) {
  int without = 0, programs = 0;
  for (uint64_t seed = 0; seed < 24; ++seed)
    for (const char* text :
         {"matmul f32 2x3x4", "matmul f32 4x2x3 lhs=col accumulate", "matmul f32 3x5x6 rhs=col",
          "matmul f32 2x2x2 const-rhs", "conv2d f32 1x2x3x3 filters=2 kernel=2x2"}) {
      const double shares[] = {0, 0.25, 1};
      const CostModel model(
          With(testing::TinyTarget(),
               std::make_shared<DrawnExtension>(seed, shares[seed % 3], seed % 4 * 2, seed % 2 == 0)));
      Spec placed = PlaceOperands(ParseSpec(text)->spec, seed % 5 == 0 ? Residency::kCold : Residency::kWarm,
                                  model.target());
      placed.threads = seed % 4 == 1 ? 2 : 1;
      const Cost best =
          testing::BruteForce(model).Best(placed, testing::LinesLeftAtHome(placed, model.target()));
      HashMemo memo;
      const SearchResult found = Search(placed, model, memo, {});
      SCOPED_TRACE(Cat(text, ", ", seed));
      if (best >= kInfiniteCost) {
        ++without;
        EXPECT_EQ(found.stop, StopReason::kCutoff);
        continue;
      }
      ++programs;
      EXPECT_EQ(found.stop, StopReason::kOptimal);
      EXPECT_EQ(found.cost, best);
      EXPECT_EQ(testing::CostOf(found.impl, model), best);
      EXPECT_LE(model.LowerBound(placed), best);
    }
  EXPECT_GT(without, 3);
  EXPECT_GT(programs, 60);
}

// The built-in prices and decisions, said by an extension.
class SaysNothing : public Extension {
 public:
  std::string Identity() const override { return "nothing 1"; }
  double least_share() const override { return 1; }
  double Price(const Spec&, const Decision&, const Expansion&, double cycles) const override {
    return cycles;
  }
  bool Allows(const Spec&, const Decision&) const override { return true; }
  void AppendTileSizes(const Spec&, int, std::vector<uint32_t>*) const override {}
};

TEST(ExtensionTest, OneThatSaysNothingChangesNothing) {
  const Target target = FindTarget("haswell", "")->target;
  const CostModel built_in(target), same(With(target, std::make_shared<SaysNothing>()));
  for (const char* text : {"matmul f32 64x64x64", "matmul f32 17x100x33 rhs=col"}) {
    const Spec placed = PlaceOperands(ParseSpec(text)->spec, Residency::kWarm, target);
    HashMemo memo, own;
    const SearchResult expected = Search(placed, built_in, memo, {}), found = Search(placed, same, own, {});
    EXPECT_EQ(found.cost, expected.cost);
    EXPECT_EQ(PrintSchedule(found.impl), PrintSchedule(expected.impl));
  }
  // Its table is another one all the same.
  EXPECT_NE(IdentityOf(same.target()).target_fingerprint, IdentityOf(target).target_fingerprint);
  EXPECT_EQ(IdentityOf(same.target()).rules_fingerprint, IdentityOf(target).rules_fingerprint);
}

// Every size that may be a tile's, of all types that have groups, blocks and panels to cut.
TEST(ExtensionTest, ProgramsWithTilesOfAnySizeAreSound) {
  std::mt19937_64 random(1);
  std::vector<Decision> decisions;
  int own = 0;
  for (const Target& plain :
       {testing::Avx2DotTarget(), testing::Avx512DotTarget(), testing::MatrixTarget()}) {
    const Target target = With(plain, std::make_shared<DrawnExtension>(0, 1, 0, true));
    for (const MatmulTypes& types : testing::EveryTypes())
      for (int round = 0; round < 4; ++round) {
        Spec spec = testing::RandomMatmulSpec(
            {.max_side = 70, .max_batch = 2, .max_flops = 3e5, .types = types, .constants = true}, &random);
        EnumerateDecisions(spec, plain, &decisions);
        const size_t built_in = decisions.size();
        EnumerateDecisions(spec, target, &decisions);
        own += static_cast<int>(decisions.size() - built_in);
        const Impl impl = testing::RandomImpl(spec, target, &random);
        ASSERT_TRUE(testing::InterpretedEqualsReference(impl, target)) << testing::Describe(spec) << "\n"
                                                                       << testing::Describe(impl);
      }
  }
  EXPECT_GT(own, 1000);
}

}  // namespace
}  // namespace kirsch
