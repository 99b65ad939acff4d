// SPDX-License-Identifier: Apache-2.0
// The K best are those of all programs, written out one by one and told apart by their Programs' texts.
#include "search/ranking/k_best.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "memo/hash_memo.h"
#include "rewrites/spec/rewrite.h"
#include "search/ranking/departure.h"
#include "search/ranking/outer_choices.h"
#include "search/solver/solver.h"
#include "spec/language/parser.h"
#include "spec/language/printer.h"
#include "spec/language/schedule.h"
#include "spec/program/impl_program.h"
#include "spec/target/targets.h"
#include "tests/testing/all_programs.h"
#include "tests/testing/brute_force.h"
#include "tests/testing/targets.h"

namespace kirsch {
namespace {

using testing::LinesLeftAtHome;
using testing::LinesOf;

std::string CodeOf(const Impl& impl, const Target& target) {
  return PrintProgram(WriteProgram(impl, target));
}

const Impl& ImplOf(const RankedProgram& program) { return std::get<Impl>(program.tree); }
Cost CostOf(const RankedProgram& program) { return CostFromCycles(program.cycles); }

// By code, the least cost.
using Codes = std::map<std::string, Cost>;
Codes CodesOf(const std::vector<testing::Priced>& programs, const Target& target) {
  Codes codes;
  for (const testing::Priced& program : programs) {
    const auto [place, is_new] = codes.try_emplace(CodeOf(program.impl, target), program.cost);
    if (!is_new) place->second = std::min(place->second, program.cost);
  }
  return codes;
}

std::vector<Cost> Least(const Codes& codes, size_t count) {
  std::vector<Cost> costs;
  for (const auto& [code, cost] : codes) costs.push_back(cost);
  std::sort(costs.begin(), costs.end());
  costs.resize(std::min(costs.size(), count));
  return costs;
}

// Their costs are the least; each costs what its code costs at the least, and no two are the same code.
void ExpectBest(const std::vector<RankedProgram>& best, const Codes& codes, size_t count,
                const CostModel& model) {
  std::vector<Cost> costs;
  std::map<std::string, int> seen;
  for (const RankedProgram& program : best) {
    costs.push_back(CostOf(program));
    EXPECT_EQ(testing::CostOf(ImplOf(program), model), CostOf(program));
    const std::string code = CodeOf(ImplOf(program), model.target());
    EXPECT_EQ(++seen[code], 1) << code;
    const auto known = codes.find(code);
    ASSERT_NE(known, codes.end()) << code;
    EXPECT_EQ(known->second, CostOf(program));
  }
  EXPECT_EQ(costs, Least(codes, count));
}

// Follows the path, and finds the decisions there.
void ExpectDeparts(const RankedProgram& program, const Impl& best) {
  const Impl *one = &ImplOf(program), *other = &best;
  const Departure departure = CompareWithBest(program.tree, best);
  for (const int child : departure.path) {
    EXPECT_TRUE(one->decision == other->decision);
    one = &one->children[static_cast<size_t>(child)].impl;
    other = &other->children[static_cast<size_t>(child)].impl;
  }
  EXPECT_EQ(PrintSpec(one->spec), departure.spec);
  EXPECT_EQ(PrintDecision(one->spec.op, one->decision), departure.instead);
  EXPECT_EQ(PrintDecision(one->spec.op, other->decision), departure.best);
  EXPECT_FALSE(one->decision == other->decision);
}

// All programs up to so much above the best that there are not too many.
Codes CodesNearTheBest(const Spec& placed, const CostModel& model) {
  return CodesOf(testing::ProgramsNearTheBest(placed, model, 20000), model.target());
}

void ExpectKBest(const Spec& placed, const CostModel& model, Memo& shared) {
  const Codes codes = CodesNearTheBest(placed, model);
  ASSERT_FALSE(codes.empty());
  for (const size_t count : {size_t{1}, size_t{3}, size_t{20}, codes.size()}) {
    if (count > codes.size()) continue;
    SCOPED_TRACE(PrintSpec(placed) + ", " + std::to_string(count) + " of " + std::to_string(codes.size()));
    HashMemo memo;
    const KBestResult fresh = KBest(placed, {static_cast<int>(count)}, model, memo, {});
    EXPECT_TRUE(fresh.complete);
    ExpectBest(fresh.programs, codes, count, model);
    EXPECT_EQ(PrintSchedule(ImplOf(fresh.programs[0])), PrintSchedule(Search(placed, model, memo, {}).impl));
    const KBestResult warmed = KBest(placed, {static_cast<int>(count)}, model, shared, {});
    ASSERT_EQ(warmed.programs.size(), fresh.programs.size());
    for (size_t i = 0; i < fresh.programs.size(); ++i) {
      EXPECT_EQ(PrintSchedule(ImplOf(warmed.programs[i])), PrintSchedule(ImplOf(fresh.programs[i])));
      if (i > 0) ExpectDeparts(fresh.programs[i], ImplOf(fresh.programs[0]));
    }
  }
}

class KBestIsBruteForce : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(, KBestIsBruteForce,
                         ::testing::Values("matmul f32 2x2x2", "matmul f32 3x2x4", "matmul f32 2x3x5 rhs=col",
                                           "matmul f32 4x2x3 lhs=col accumulate", "matmul f32 2:2x2x3",
                                           "matmul f32 3x4x2 epilogue=relu", "matmul f32 2x2x2 const-rhs",
                                           "conv2d f32 1x2x3x3 filters=2 kernel=2x2 layout=nhwc",
                                           "conv2d f32 1x2x4x4 filters=3 kernel=3x3 stride=1 layout=nchw"));

TEST_P(KBestIsBruteForce, OnATinyTarget) {
  const CostModel model(testing::TinyTarget());
  HashMemo shared;  // knows what was asked before
  for (const Residency residency : {Residency::kWarm, Residency::kCold})
    for (const int threads : {1, 2}) {
      const absl::StatusOr<ParsedSpec> parsed = ParseSpec(GetParam());
      ASSERT_TRUE(parsed.ok()) << parsed.status();
      Spec placed = PlaceOperands(parsed->spec, residency, model.target());
      placed.threads = static_cast<uint8_t>(threads);
      ExpectKBest(placed, model, shared);
    }
}

// What an outer choice is made of, without sizes.
std::string KindOf(const Spec& spec, Decision decision) {
  decision.size = decision.parts = 1;
  decision.layout.order = Order::kRow;
  decision.layout.group = 1;
  decision.dtype = Dtype::kF32;
  return PrintDecision(spec.op, decision);
}

// By a definition of its own. It goes from the root of the best to where most of the work is done. At each
// node it takes the least cost with each kind of decision that is not the best's.
std::vector<Cost> OuterChoiceCosts(const Impl& best, Cost whole, const CostModel& model, Lines available,
                                   testing::BruteForce* brute_force) {
  std::vector<Cost> costs;
  const Impl* node = &best;
  for (Cost runs = 1; !node->children.empty();) {
    std::vector<Decision> decisions;
    EnumerateDecisions(node->spec, model.target(), &decisions);
    const Cost own = brute_force->Best(node->spec, available);
    std::map<std::string, Cost> least;
    Lines below = available;
    size_t main = 0;
    Cost weight = 1;
    for (const Decision& decision : decisions) {
      Expansion expansion;
      Expand(node->spec, decision, model.target(), &expansion);
      Lines left = available;
      if (expansion.filled != Level::kVrf && expansion.filled != Level::kRam) {
        if (expansion.filled != FillingLevel(node->spec))
          left = LinesOf(model.target(), expansion.filled, expansion.children[0].spec);
        if (expansion.filled_lines > left) continue;
        left -= static_cast<Lines>(expansion.filled_lines);
      }
      Cost cost = model.Base(node->spec, decision, expansion);
      for (size_t i = 0; i < static_cast<size_t>(expansion.num_children) && cost < kInfiniteCost; ++i) {
        const Cost child = brute_force->Best(expansion.children[i].spec, left);
        cost = child >= kInfiniteCost ? child : cost + expansion.children[i].weight * child;
      }
      if (decision == node->decision) {
        below = left;
        const auto work = [&](size_t i) {
          return static_cast<double>(expansion.children[i].weight) * Flops(expansion.children[i].spec);
        };
        for (size_t i = 1; i < node->children.size(); ++i)
          if (work(i) > work(main)) main = i;
        weight = expansion.children[main].weight;
      }
      const std::string kind = KindOf(node->spec, decision);
      if (kind == KindOf(node->spec, node->decision) || cost >= own + own / 4) continue;
      const auto [known, is_new] = least.try_emplace(kind, cost);
      if (!is_new) known->second = std::min(known->second, cost);
    }
    for (const auto& [kind, cost] : least) costs.push_back(whole + runs * (cost - own));
    runs *= weight;
    node = &node->children[main].impl;
    available = below;
  }
  std::sort(costs.begin(), costs.end());
  return costs;
}

TEST_P(KBestIsBruteForce, ByOuterChoices) {
  const CostModel model(testing::TinyTarget());
  testing::BruteForce brute_force(model);
  for (const int threads : {1, 2}) {
    Spec placed = PlaceOperands(ParseSpec(GetParam())->spec, Residency::kWarm, model.target());
    placed.threads = static_cast<uint8_t>(threads);
    HashMemo memo;
    const SearchResult best = Search(placed, model, memo, {});
    const KBestResult found = OuterChoices(best.impl, best.cost, model, memo, {});
    EXPECT_TRUE(found.complete);
    ASSERT_FALSE(found.programs.empty());
    EXPECT_EQ(PrintSchedule(ImplOf(found.programs.front())), PrintSchedule(best.impl));
    std::vector<Cost> costs;
    for (const RankedProgram& program : found.programs) {
      EXPECT_EQ(testing::CostOf(ImplOf(program), model), CostOf(program));
      if (&program == &found.programs.front()) continue;
      ExpectDeparts(program, best.impl);
      costs.push_back(CostOf(program));
    }
    EXPECT_EQ(costs, OuterChoiceCosts(best.impl, best.cost, model, LinesLeftAtHome(placed, model.target()),
                                      &brute_force));
    const KBestResult few = KBest(placed, {4, Distinct::kOuterChoice}, model, memo, {});
    EXPECT_LE(few.programs.size(), 4u);
    std::set<std::vector<ChoiceKind>> twins;
    std::set<std::string> codes;
    for (const RankedProgram& program : few.programs) {
      EXPECT_TRUE(twins.insert(ChoicesOf(ImplOf(program), model.target())).second);
      codes.insert(CodeOf(ImplOf(program), model.target()));
    }
    EXPECT_EQ(codes.size(), few.programs.size());
  }
}

// None is left out that is as near, and none listed that is further off.
TEST(KBestTest, NoneIsFurtherThanAskedFor) {
  const CostModel model(FindTarget("haswell", "")->target);
  const Spec placed =
      PlaceOperands(ParseSpec("matmul f32 60x100x50")->spec, Residency::kWarm, model.target());
  for (const Distinct distinct : {Distinct::kCode, Distinct::kOuterChoice}) {
    HashMemo memo;
    const KBestResult many = KBest(placed, {60, distinct}, model, memo, {});
    const double best = many.programs.front().cycles;
    const double farthest = many.programs[many.programs.size() / 2].cycles / best - 1;
    size_t count = 0;
    for (const RankedProgram& program : many.programs)
      count += program.cycles < best * (1 + farthest) ? 1 : 0;
    EXPECT_LT(count, many.programs.size());
    EXPECT_EQ(KBest(placed, {60, distinct, farthest}, model, memo, {}).programs.size(),
              std::max<size_t>(count, 1));
  }
}

// Where there are fewer programs than asked for, it is all of them.
TEST(KBestTest, AllThereAre) {
  const CostModel model(testing::TinyTarget());
  const Spec placed = PlaceOperands(ParseSpec("matmul f32 1x1x1")->spec, Residency::kWarm, model.target());
  testing::AllPrograms all(model, 20000);
  const Codes codes =
      CodesOf(all.Below(kInfiniteCost, placed, LinesLeftAtHome(placed, model.target())), model.target());
  ASSERT_FALSE(all.too_many());
  HashMemo memo;
  ExpectBest(KBest(placed, {1000}, model, memo, {}).programs, codes, 1000, model);
}

// The first of many are those that few would be, and a search for them that is stopped says so.
TEST(KBestTest, FewerAreTheFirstOfMore) {
  const CostModel model(FindTarget("haswell", "")->target);
  const Spec placed =
      PlaceOperands(ParseSpec("matmul f32 60x100x50")->spec, Residency::kCold, model.target());
  HashMemo memo;
  const KBestResult many = KBest(placed, {50}, model, memo, {}), few = KBest(placed, {7}, model, memo, {});
  ASSERT_EQ(many.programs.size(), 50u);
  ASSERT_EQ(few.programs.size(), 7u);
  for (size_t i = 0; i < few.programs.size(); ++i)
    EXPECT_EQ(PrintSchedule(ImplOf(few.programs[i])), PrintSchedule(ImplOf(many.programs[i])));
}

TEST(KBestTest, StoppedItSaysSo) {
  const CostModel model(FindTarget("haswell", "")->target);
  const Spec placed =
      PlaceOperands(ParseSpec("matmul f32 300x300x300")->spec, Residency::kWarm, model.target());
  const std::atomic<bool> cancel = true;
  SearchOptions options;
  options.cancel = &cancel;
  HashMemo memo;
  const KBestResult result = KBest(placed, {5}, model, memo, options);
  EXPECT_FALSE(result.complete);
  ASSERT_EQ(result.programs.size(), 1u);
  EXPECT_EQ(testing::CostOf(ImplOf(result.programs[0]), model), CostOf(result.programs[0]));
}

}  // namespace
}  // namespace kirsch
