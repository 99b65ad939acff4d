// SPDX-License-Identifier: Apache-2.0
// Programs for a range of rows, columns, or steps of the reduction: whatever the decisions, they compute what
// the program for each number of them does, in the same order; what they cost; the regions that they make.
#include "search/families/symbolic_schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "memo/hash_memo.h"
#include "search/families/size_rule.h"
#include "search/families/spec_regions.h"
#include "search/solver/program_cost.h"
#include "search/solver/search.h"
#include "spec/language/parser.h"
#include "spec/language/schedule.h"
#include "spec/program/impl_program.h"
#include "spec/target/targets.h"
#include "spec/text/cat.h"
#include "tests/testing/oracle.h"
#include "tests/testing/random_impl.h"
#include "tests/testing/random_spec.h"
#include "tests/testing/targets.h"

namespace kirsch {
namespace {

using testing::WithSize;

constexpr int kM = MatmulDims::kM, kN = MatmulDims::kN, kK = MatmulDims::kK;

// The register tiles that a program computes, sorted. (Where each is, the results say. How far columns are
// prefetched is as far as a tile has columns, or a whole vector.)
class Runs {
 public:
  Runs(const Program& program, int dim, int64_t size)
      : program_(program), dim_(dim), size_(size), variables_(static_cast<size_t>(program.variables)) {
    std::fill_n(variables_.begin(), program.symbols.size(), size);
    Do(program.body);
    std::sort(list_.begin(), list_.end());
  }
  const std::vector<std::string>& list() const { return list_; }

 private:
  int64_t& Variable(VarId variable) { return variables_[static_cast<size_t>(variable)]; }
  int64_t ValueOf(const Affine& affine) {
    return Evaluate(affine, [this](VarId index) { return Variable(index); });
  }
  int64_t ValueOf(const Count& count) { return count.Of(ValueOf(count.of)); }
  void Do(const Body& body) {
    for (const Node& node : body) std::visit([&](const auto& shape) { Do(shape); }, node.shape);
  }
  void Do(const Loop& loop) {
    const int64_t trips = ValueOf(loop.trips);
    for (int64_t trip = 0; trip < trips; ++trip) {
      Variable(loop.variable) = trip;
      Do(loop.body);
    }
    Variable(loop.variable) = trips;
    if (ValueOf(Count{loop.trips.of, loop.trips.by, true}) != 0) Do(loop.rest);
  }
  void Do(const Let& let) {
    Variable(let.variable) = ValueOf(let.value);
    Do(let.body);
  }
  void Do(const OneOf& one_of) {
    Do(one_of.bodies.at(static_cast<size_t>(Variable(one_of.variable) - one_of.least)));
  }
  void Do(const Task& task) { Do(task.body); }
  void Do(const Phase& phase) { Do(phase.body); }
  void Do(const KernelRun& run) {
    SymbolValues values;
    values[SizeSymbol::kStride] = size_;
    values[SizeSymbol::kLast] = ValueOf(run.last);
    values[SizeSymbol::kCount] = ValueOf(run.count);
    values[SizeSymbol::kAdds] = ValueOf(run.adds);
    const KernelShape kernel = ForValues(program_.kernels[static_cast<size_t>(run.kernel)], values);
    const auto* const tile = std::get_if<TileShape>(&kernel);
    if (tile == nullptr) return;
    std::string text = Cat(tile->m, "x", tile->n.most(), "x", ValueOf(run.count), NameOf(tile->lhs),
                           NameOf(tile->rhs), dim_ == kM ? tile->prefetch_n() : 0, " ", tile->prefetch_k(),
                           tile->prefetch_out, tile->accumulate != 0);
    // What tiles ask for, the last place, is known for constant sizes only.
    const size_t places = run.at.size() - (tile->asked_lines != 0 ? 1 : 0);
    for (const OperandPlace& place : absl::MakeConstSpan(run.at).first(places)) {
      const bool caller = program_.buffers[static_cast<size_t>(place.buffer)].memory == Memory::kCaller;
      Append(&text, " ", caller ? place.buffer : -1);
    }
    list_.push_back(text);
  }

  // Copies have room for the longest reduction.
  std::string NameOf(MatrixLayout layout) const {
    if (dim_ == kK) layout.outer_stride = layout.panel_stride = 0;
    return layout.Name();
  }

  const Program& program_;
  const int dim_;
  const int64_t size_;
  std::vector<int64_t> variables_;
  std::vector<std::string> list_;
};

// What the first of two sorted lists has beyond the second.
std::vector<std::string> Without(const std::vector<std::string>& list,
                                 const std::vector<std::string>& other) {
  std::vector<std::string> rest;
  std::set_difference(list.begin(), list.end(), other.begin(), other.end(), std::back_inserter(rest));
  return rest;
}

class SymbolicScheduleTest : public ::testing::TestWithParam<Target> {
 protected:
  // Every program that `decisions` make of sizes 1 to `most` along `dim` is right, alone and as one of a
  // range.
  int ExpectRight(const Impl& decisions, int dim, uint32_t most, const SymbolicScheduleOptions& choice = {}) {
    const Target& target = GetParam();
    const CostModel model(target);
    SymbolicSchedule sizes(decisions, static_cast<size_t>(dim), model, choice);
    int programs = 0;
    const auto root = [&](uint32_t size) { return WithSize(decisions.spec, dim, size); };
    const auto legal = [&](uint32_t size) { return sizes.Price(root(size)) < kInfiniteCost; };
    for (uint32_t least = 1; least <= most; ++least) {
      if (!legal(least)) continue;
      uint32_t last = least;
      while (last < most && legal(last + 1)) ++last;
      const std::optional<Impl> range = sizes.ApplyToRange(root(least), root(last));
      ranges_ += range && least < last ? 1 : 0;
      for (uint32_t size = least; size <= last; ++size, ++programs) {
        const Impl one = sizes.Apply(root(size));
        EXPECT_TRUE(testing::InterpretedEqualsReference(one, target)) << testing::Describe(one.spec) << "\n"
                                                                      << testing::Describe(one);
        if (!range) continue;
        EXPECT_TRUE(testing::InterpretedEqualsReference(*range, one.spec, target)) << testing::Describe(one);
        if (HasCommonCopies(one)) continue;  // which a range makes elsewhere
        const std::vector<std::string> of_range = Runs(WriteProgram(*range, target), dim, size).list(),
                                       alone = Runs(WriteProgram(one, target), dim, size).list();
        EXPECT_EQ(of_range, alone) << "of the range only: " << Join(Without(of_range, alone), ", ") << "\n"
                                   << "of the size alone: " << Join(Without(alone, of_range), ", ") << "\n"
                                   << size << " of " << least << ".." << last << "\n"
                                   << testing::Describe(one) << PrintProgram(WriteProgram(*range, target));
      }
      least = last;
    }
    return programs;
  }

  int ranges_ = 0;  // of several sizes, so far
};

INSTANTIATE_TEST_SUITE_P(, SymbolicScheduleTest,
                         ::testing::Values(testing::Avx2Target(), testing::Avx512Target(),
                                           testing::TinyTarget(), testing::Avx512DotTarget(),
                                           testing::MatrixTarget()),
                         [](const auto& info) { return Cat("Target", info.index); });

TEST_P(SymbolicScheduleTest, RandomDecisionsAreRightForAnySize) {
  std::mt19937_64 random(20261123);
  int programs = 0;
  const bool is_tiny = GetParam().name == testing::TinyTarget().name;
  for (int round = 0; round < 100; ++round) {
    const std::vector<MatmulTypes> types = testing::EveryTypes();
    testing::RandomSpecOptions options{.max_side = 40, .max_batch = 1};
    // (Caches of a few bytes leave some types no decision.)
    if (round % 2 == 1 && !is_tiny) options.types = types[random() % types.size()];
    Spec spec = testing::RandomMatmulSpec(options, &random);
    const int dim = std::array{kM, kN, kK}[static_cast<size_t>(round / 2 % 3)];
    // Rows that are side by side: copies may have panels of them, which tiles of other heights don't fit.
    if (dim == kM && spec.operand[0].layout.order == Order::kCol) continue;
    if (round % 3 == 2) spec = WithSize(spec, dim, 37);
    constexpr uint32_t kMost = 80;
    for (int operand = 0; operand < spec.op_info().num_operands; ++operand) {  // with room for all sizes
      uint32_t& ld = spec.tensor(operand).layout.ld;
      if (InnerDim(spec, operand) == dim && ld != spec.size[static_cast<size_t>(dim)]) ld += kMost;
    }
    const SymbolicScheduleOptions choice{.narrow_vectors = random() % 3 != 0,
                                         .own_rest = random() % 2 == 0 && dim != kK};
    programs +=
        ExpectRight(testing::RandomImpl(spec, GetParam(), &random), dim, dim == kM ? 45 : kMost, choice);
    if (HasFailure()) return;
  }
  EXPECT_GT(programs, 400);
  EXPECT_GT(ranges_, 20);
}

// Columns and rows; rows and steps of the reduction.
TEST_P(SymbolicScheduleTest, RandomDecisionsAreRightForAnyTwoSizes) {
  const Target& target = GetParam();
  const CostModel model(target);
  std::mt19937_64 random(20261127);
  const bool is_tiny = target.name == testing::TinyTarget().name;
  int members = 0;
  std::array<int, 2> ranges = {};
  for (int round = 0; round < 120; ++round) {
    const bool reduces = round / 2 % 2 == 1;
    const int slow = reduces ? kM : kN, fast = reduces ? kK : kM;
    const std::vector<MatmulTypes> types = testing::EveryTypes();
    testing::RandomSpecOptions options{.max_side = 40, .max_batch = 1};
    if (round % 2 == 1 && !is_tiny) options.types = types[random() % types.size()];
    Spec spec = testing::RandomMatmulSpec(options, &random);
    if (spec.operand[0].layout.order == Order::kCol || spec.block != 0) continue;
    constexpr uint32_t kMost = 70;
    for (int operand = 0; operand < spec.op_info().num_operands; ++operand) {  // with room for all sizes
      uint32_t& ld = spec.tensor(operand).layout.ld;
      const int inner = InnerDim(spec, operand);
      if ((inner == slow || inner == fast) && ld != spec.size[static_cast<size_t>(inner)]) ld += kMost;
    }
    const SymbolicScheduleOptions choice{.narrow_vectors = random() % 3 != 0, .own_rest = random() % 2 == 0};
    SizeRule rule(testing::RandomImpl(spec, target, &random),
                  {static_cast<size_t>(slow), static_cast<size_t>(fast)}, model, choice);
    const auto root = [&](uint32_t a, uint32_t b) { return WithSize(WithSize(spec, slow, a), fast, b); };
    const auto size = [&](uint32_t most) { return 1 + static_cast<uint32_t>(random() % most); };
    const uint32_t a0 = size(30), a1 = a0 + size(30), b0 = size(40), b1 = b0 + size(kMost - b0);
    bool legal = true;
    for (uint32_t a = a0; a <= a1 && legal; ++a)
      for (uint32_t b = b0; b <= b1 && legal; ++b) legal = rule.Price(root(a, b)) < kInfiniteCost;
    if (!legal) continue;
    const std::optional<Impl> range = rule.ApplyToRange(root(a0, b0), root(a1, b1));
    if (!range) continue;
    ++ranges[reduces ? 1 : 0];
    EXPECT_EQ(SymbolicDims(*range).size(), 2);
    for (int i = 0; i < 40 && !HasFailure(); ++i, ++members) {
      const uint32_t a = i == 0 ? a0 : i == 1 ? a1 : a0 + size(a1 - a0 + 1) - 1;
      const uint32_t b = i == 0 ? b0 : i == 1 ? b1 : b0 + size(b1 - b0 + 1) - 1;
      const Impl one = rule.Apply(root(a, b));
      EXPECT_EQ(one.spec, root(a, b));
      EXPECT_TRUE(testing::InterpretedEqualsReference(one, target)) << testing::Describe(one);
      EXPECT_TRUE(testing::InterpretedEqualsReference(*range, one.spec, target))
          << testing::Describe(one) << PrintProgram(WriteProgram(*range, target));
      EXPECT_NEAR(ProgramCost(one, target).Cycles(model) / ToCycles(rule.Price(one.spec)), 1, 1e-3);
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(members, is_tiny ? 50 : 400);
  EXPECT_GT(ranges[0], is_tiny ? 1 : 5);
  EXPECT_GT(ranges[1], is_tiny ? 0 : 5);
}

// Copies of lhs that all blocks of columns read: made once for all of them where the number of rows is known,
// else in each range of blocks.
TEST_P(SymbolicScheduleTest, BlocksOfColumnsThatReadOneCopy) {
  std::mt19937_64 random(11);
  int programs = 0;
  for (int round = 0; round < 60 && !HasFailure(); ++round) {
    const std::string text =
        Cat("matmul f32*bf16->f32 ", 13 + random() % 40, "x32x24 rhs=col column-blocks=8");
    const Spec spec = ParseSpec(Cat(text, round % 2 == 0 ? " lhs-as=bf16" : ""))->spec;
    programs += ExpectRight(testing::RandomImpl(spec, GetParam(), &random), kM, 50);
  }
  EXPECT_GT(programs, 20);
}

TEST_P(SymbolicScheduleTest, DecisionsOfTheSearchAreRightAndPriced) {
  const CostModel model(GetParam());
  for (const char* text : {"matmul f32 37x64x50", "matmul bf16*bf16->f32 40x33x70",
                           "matmul f32 23x70x9 rhs=col", "matmul f32 70x20x30 column-blocks=8"})
    for (const int dim : {kM, kN, kK}) {
      const Spec root = PlaceOperands(ParseSpec(text)->spec, Residency::kWarm, GetParam());
      if (root.block != 0 && dim != kM) continue;
      HashMemo memo;
      const SearchResult best = Search(root, model, memo, {});
      SymbolicSchedule sizes(best.impl, static_cast<size_t>(dim), model);
      for (uint32_t size = 1; size <= 75; ++size) {
        const Spec other = WithSize(root, dim, size);
        const Cost price = sizes.Price(other);
        if (price >= kInfiniteCost) continue;
        EXPECT_NEAR(ProgramCost(sizes.Apply(other), GetParam()).Cycles(model) / ToCycles(price), 1, 1e-3)
            << text;
      }
      EXPECT_GT(ExpectRight(best.impl, dim, 75), 1) << text;
    }
}

// Rows may be two parts of the same size, as 24 rows are in tiles of 6: twelve in whole tiles, and the rest.
TEST_P(SymbolicScheduleTest, RulesOfTwoSizesServeTheirOwnMember) {
  if (GetParam().name == testing::TinyTarget().name)
    GTEST_SKIP() << "its caches may have no room for register tiles that are chosen anew";
  const CostModel model(GetParam());
  HashMemo memo;
  for (int rows = 1; rows <= 64; ++rows) {
    const Spec root =
        PlaceOperands(ParseSpec(Cat("matmul f32 ", rows, "x40x16"))->spec, Residency::kWarm, GetParam());
    SizeRule rule(Search(root, model, memo, {}).impl, {kM, kK}, model);
    EXPECT_LT(rule.Price(root), kInfiniteCost) << rows;
  }
}

// Searches for members' own programs, and counts those that a family asks for.
class MemberSearch {
 public:
  // Both outlive this.
  MemberSearch(const std::vector<Spec>& roots, const CostModel& model) : roots_(roots), model_(model) {}

  SearchResult Own(size_t member, Cost cutoff) {
    SearchOptions options;
    options.cutoff = cutoff;
    return Search(roots_[member], model_, memo_, options);
  }
  SolveSize solve() {
    return [this](size_t member, Cost cutoff) -> absl::StatusOr<SolvedSize> {
      ++solved_;
      const SearchResult result = Own(member, cutoff);
      return SolvedSize{result.impl, result.cost, result.bound};
    };
  }
  int solved() const { return solved_; }

 private:
  const std::vector<Spec>& roots_;
  const CostModel& model_;
  HashMemo memo_;
  int solved_ = 0;
};

// 1 to 60 rows, or columns, or steps.
std::vector<Spec> FamilyRoots(int dim, const Target& target) {
  std::vector<Spec> roots;
  const Spec spec = ParseSpec("matmul f32 40x48x60")->spec;
  for (uint32_t size = 1; size <= 60; ++size)
    roots.push_back(PlaceOperands(WithSize(spec, dim, size), Residency::kWarm, target));
  return roots;
}

// Where only the first member that is asked for is solved, and nothing is proven of any other.
TEST_P(SymbolicScheduleTest, AStoppedSearchLeavesRegionsOfAll) {
  const CostModel model(GetParam());
  HashMemo memo;
  const std::vector<Spec> roots = FamilyRoots(kM, GetParam());
  const auto solve = [&](size_t i, Cost cutoff) -> absl::StatusOr<SolvedSize> {
    if (cutoff < kInfiniteCost) return SolvedSize{{}, cutoff, 1};
    const SearchResult result = Search(roots[i], model, memo, {});
    return SolvedSize{result.impl, result.cost, result.bound};
  };
  const absl::StatusOr<SizeFamily> family = FindSpecRegions(roots, {MatmulDims::kM}, model, solve);
  ASSERT_TRUE(family.ok());
  EXPECT_EQ(family->regions.back().members.back(), roots.size() - 1);
  for (size_t i = 0; i < roots.size(); ++i) EXPECT_EQ(family->members[i].program.spec, roots[i]);
}

TEST_P(SymbolicScheduleTest, RegionsLoseNoMoreThanTheyMay) {
  const CostModel model(GetParam());
  for (const int dim : {kM, kN, kK}) {
    if (dim != kM && GetParam().name == testing::TinyTarget().name) continue;  // its searches are long
    const std::vector<Spec> roots = FamilyRoots(dim, GetParam());
    MemberSearch search(roots, model);
    const absl::StatusOr<SizeFamily> family =
        FindSpecRegions(roots, {static_cast<size_t>(dim)}, model, search.solve());
    ASSERT_TRUE(family.ok());
    ASSERT_EQ(family->members.size(), roots.size());
    std::vector<int> regions_of(roots.size());
    for (const SpecRegion& region : family->regions) {
      for (size_t i : region.members) {
        ++regions_of[i];
        const SizeMember& member = family->members[i];
        EXPECT_EQ(member.program.spec, roots[i]);
        const double best = static_cast<double>(member.best.value_or(member.cost));
        EXPECT_LE(static_cast<double>(member.cost), (1 + kMostLoss) * best);
        EXPECT_EQ(Runs(WriteProgram(region.program, GetParam()), dim, static_cast<int64_t>(i) + 1).list(),
                  Runs(WriteProgram(member.program, GetParam()), dim, 0).list());
      }
    }
    for (int count : regions_of) EXPECT_EQ(count, 1);
    EXPECT_LT(family->regions.size(), roots.size());
    EXPECT_LT(search.solved(), 60);
  }
}

TEST_P(SymbolicScheduleTest, BoxesOfRowsAndColumnsLoseNoMoreThanTheyMay) {
  if (GetParam().name == testing::TinyTarget().name) return;  // its searches are long
  const CostModel model(GetParam());
  std::vector<Spec> roots;
  constexpr uint32_t kMost = 24;
  const Spec spec = ParseSpec("matmul f32 24x32x24")->spec;
  for (uint32_t n = 2; n <= kMost; ++n)
    for (uint32_t m = 2; m <= kMost; ++m)
      roots.push_back(PlaceOperands(WithSize(WithSize(spec, kM, m), kN, n), Residency::kWarm, GetParam()));
  MemberSearch search(roots, model);
  const absl::StatusOr<SizeFamily> family = FindSpecRegions(roots, {kN, kM}, model, search.solve());
  ASSERT_TRUE(family.ok());
  std::vector<int> regions_of(roots.size());
  for (const SpecRegion& region : family->regions)
    for (size_t i : region.members) {
      ++regions_of[i];
      const SizeMember& member = family->members[i];
      EXPECT_EQ(member.program.spec, roots[i]);
      const Cost best = member.best.value_or(member.cost);
      EXPECT_LE(static_cast<double>(member.cost), (1 + kMostLoss) * static_cast<double>(best));
      EXPECT_TRUE(testing::InterpretedEqualsReference(region.program, roots[i], GetParam()));
    }
  for (int count : regions_of) EXPECT_EQ(count, 1);
  EXPECT_LT(family->regions.size(), roots.size() / 8);
  EXPECT_LT(search.solved(), 200);
  double worst = 0;
  for (size_t i = 0; i < roots.size(); i += 17)
    worst = std::max(worst, static_cast<double>(family->members[i].cost) /
                                static_cast<double>(search.Own(i, kInfiniteCost).cost));
  EXPECT_LT(worst, 1.1);
}

// What a copy of rhs in L1 gains is lost where there is room for none: neither the shortest reduction nor the
// longest one has it, and what suits these suits none between them.
TEST(SpecRegionsTest, MembersBetweenAreServedToo) {
  const Target target = FindTarget("znver4", "")->target;
  const CostModel model(target);
  std::vector<Spec> roots;
  for (uint32_t k = 2; k <= 213; ++k)
    roots.push_back(
        PlaceOperands(ParseSpec(Cat("matmul bf16*bf16->f32 8x", k, "x64"))->spec, Residency::kWarm, target));
  MemberSearch search(roots, model);
  const absl::StatusOr<SizeFamily> family = FindSpecRegions(roots, {MatmulDims::kK}, model, search.solve());
  ASSERT_TRUE(family.ok());
  EXPECT_LT(search.solved(), 40);
  for (size_t i = 0; i < roots.size(); i += 9)
    EXPECT_LE(static_cast<double>(family->members[i].cost),
              1.05 * static_cast<double>(search.Own(i, kInfiniteCost).cost))
        << roots[i].size[kK];
}

}  // namespace
}  // namespace kirsch
