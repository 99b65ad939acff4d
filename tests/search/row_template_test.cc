// Programs for a range of rows: whatever the decisions, they compute what the program for each number of rows
// does, in the same order; what they cost; the regions that they make.
#include "search/row_template.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "memo/hash_memo.h"
#include "search/program_cost.h"
#include "search/row_regions.h"
#include "search/search.h"
#include "spec/program/impl_program.h"
#include "spec/text/cat.h"
#include "spec/text/parser.h"
#include "spec/text/schedule.h"
#include "tests/testing/oracle.h"
#include "tests/testing/random_impl.h"
#include "tests/testing/random_spec.h"
#include "tests/testing/targets.h"

namespace kirsch {
namespace {

constexpr size_t kM = MatmulDims::kM;

Spec WithRows(Spec spec, uint32_t rows) {
  spec.size[kM] = rows;
  return spec;
}

// The register tiles that a program computes, sorted. (Where each is, the results say.)
class Runs {
 public:
  Runs(const Program& program, int64_t rows)
      : program_(program), variables_(static_cast<size_t>(program.variables)) {
    for (const RunTimeSize& size : program.sizes) Variable(size.variable) = rows;
    Do(program.body);
    std::sort(list_.begin(), list_.end());
  }
  const std::vector<std::string>& list() const { return list_; }

 private:
  int64_t& Variable(VarId variable) { return variables_[static_cast<size_t>(variable)]; }
  int64_t ValueOf(const Affine& affine) {
    int64_t value = affine.constant;
    for (const Affine::Term& term : affine.terms) value += term.coefficient * Variable(term.index);
    return value;
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
    const auto* const tile = std::get_if<TileShape>(&program_.kernels[static_cast<size_t>(run.kernel)]);
    if (tile == nullptr) return;
    std::string text = Cat(tile->m, "x", tile->n, "x", ValueOf(run.count), tile->lhs.Name(), tile->rhs.Name(),
                           tile->prefetch_n, " ", tile->prefetch_k, tile->prefetch_out, tile->accumulate);
    for (const OperandPlace& place : run.at) {
      const bool caller = program_.buffers[static_cast<size_t>(place.buffer)].memory == Memory::kCaller;
      Append(&text, " ", caller ? place.buffer : -1);
    }
    list_.push_back(text);
  }

  const Program& program_;
  std::vector<int64_t> variables_;
  std::vector<std::string> list_;
};

class RowTemplateTest : public ::testing::TestWithParam<Target> {
 protected:
  // Every program that `decisions` make of 1 to `most` rows is right, alone and as one of a range.
  int ExpectRight(const Impl& decisions, uint32_t most) {
    const Target& target = GetParam();
    const CostModel model(target);
    RowTemplate rows(decisions, model);
    int programs = 0;
    const auto legal = [&](uint32_t m) { return rows.Price(WithRows(decisions.spec, m)) < kInfiniteCost; };
    for (uint32_t least = 1; least <= most; ++least) {
      if (!legal(least)) continue;
      uint32_t last = least;
      while (last < most && legal(last + 1)) ++last;
      const std::optional<Impl> range = rows.ApplyToRange(WithRows(decisions.spec, last), least);
      for (uint32_t m = least; m <= last; ++m, ++programs) {
        const Impl one = rows.Apply(WithRows(decisions.spec, m));
        EXPECT_TRUE(testing::InterpretedEqualsReference(one, target)) << testing::Describe(one);
        if (!range) continue;
        EXPECT_TRUE(testing::InterpretedEqualsReference(*range, one.spec, target)) << testing::Describe(one);
        if (HasCommonCopies(one)) continue;  // which a range makes elsewhere
        EXPECT_EQ(Runs(ProgramOf(*range, target), m).list(), Runs(ProgramOf(one, target), m).list())
            << m << " of " << least << ".." << last << "\n"
            << testing::Describe(one) << PrintProgram(ProgramOf(*range, target));
      }
      least = last;
    }
    return programs;
  }
};

INSTANTIATE_TEST_SUITE_P(, RowTemplateTest,
                         ::testing::Values(testing::Avx2Target(), testing::Avx512Target(),
                                           testing::TinyTarget(), testing::Avx512DotTarget()),
                         [](const auto& info) { return Cat("Target", info.index); });

TEST_P(RowTemplateTest, RandomDecisionsAreRightForAnyNumberOfRows) {
  std::mt19937_64 random(20261123);
  int programs = 0;
  for (int round = 0; round < 60; ++round) {
    const std::vector<MatmulTypes> types = testing::EveryTypes();
    testing::RandomSpecOptions options{.max_side = 40, .max_batch = 1};
    if (round % 2 == 1) options.types = types[random() % types.size()];
    Spec spec = testing::RandomMatmulSpec(options, &random);
    if (round % 3 == 2) spec.size[kM] = 37;
    // Rows that are side by side: their number is part of how the matrix lies.
    if (spec.operand[0].layout.order == Order::kCol) continue;
    programs += ExpectRight(testing::RandomImpl(spec, GetParam(), &random), 45);
    if (HasFailure()) return;
  }
  EXPECT_GT(programs, 200);
}

// Copies of lhs that all blocks of columns read: made once for all of them where the number of rows is known,
// else in each range of blocks.
TEST_P(RowTemplateTest, BlocksOfColumnsThatReadOneCopy) {
  std::mt19937_64 random(11);
  int programs = 0;
  for (int round = 0; round < 60 && !HasFailure(); ++round) {
    const std::string text =
        Cat("matmul f32*bf16->f32 ", 13 + random() % 40, "x32x24 rhs=col column-blocks=8");
    const Spec spec = ParseSpec(Cat(text, round % 2 == 0 ? " lhs-as=bf16" : ""))->spec;
    programs += ExpectRight(testing::RandomImpl(spec, GetParam(), &random), 50);
  }
  EXPECT_GT(programs, 20);
}

TEST_P(RowTemplateTest, DecisionsOfTheSearchAreRightAndPriced) {
  const CostModel model(GetParam());
  for (const char* text : {"matmul f32 37x64x50", "matmul bf16*bf16->f32 40x33x70",
                           "matmul f32 23x70x9 rhs=col", "matmul f32 70x20x30 column-blocks=8"}) {
    const Spec root = PlaceOperands(ParseSpec(text)->spec, Residency::kWarm, GetParam());
    HashMemo memo;
    const SearchResult best = Search(root, model, memo, {});
    RowTemplate rows(best.impl, model);
    for (uint32_t m = 1; m <= 75; ++m) {
      const Spec other = WithRows(root, m);
      const Cost price = rows.Price(other);
      if (price >= kInfiniteCost) continue;
      EXPECT_NEAR(ProgramCost(rows.Apply(other), GetParam()).Cycles(model) / ToCycles(price), 1, 1e-3)
          << text;
    }
    EXPECT_GT(ExpectRight(best.impl, 75), 1) << text;
  }
}

// 1 to 60 rows.
std::vector<Spec> FamilyRoots(const Target& target) {
  std::vector<Spec> roots;
  for (uint32_t m = 1; m <= 60; ++m)
    roots.push_back(
        PlaceOperands(ParseSpec(Cat("matmul f32 ", m, "x48x40"))->spec, Residency::kWarm, target));
  return roots;
}

// Where only the first member that is asked for is solved, and nothing is proven of any other.
TEST_P(RowTemplateTest, AStoppedSearchLeavesRegionsOfAll) {
  const CostModel model(GetParam());
  HashMemo memo;
  const std::vector<Spec> roots = FamilyRoots(GetParam());
  const auto solve = [&](size_t i, Cost cutoff) -> absl::StatusOr<SolvedRows> {
    if (cutoff < kInfiniteCost) return SolvedRows{{}, cutoff, 1};
    const SearchResult result = Search(roots[i], model, memo, {});
    return SolvedRows{result.impl, result.cost, result.bound};
  };
  const absl::StatusOr<RowFamily> family = FindRowRegions(roots, model, solve);
  ASSERT_TRUE(family.ok());
  EXPECT_EQ(family->regions.back().last, roots.size() - 1);
  for (size_t i = 0; i < roots.size(); ++i) EXPECT_EQ(family->members[i].program.spec, roots[i]);
}

TEST_P(RowTemplateTest, RegionsLoseNoMoreThanTheyMay) {
  const CostModel model(GetParam());
  HashMemo memo;
  const std::vector<Spec> roots = FamilyRoots(GetParam());
  int solved = 0;
  const auto solve = [&](size_t i, Cost cutoff) -> absl::StatusOr<SolvedRows> {
    ++solved;
    SearchOptions options;
    options.cutoff = cutoff;
    const SearchResult result = Search(roots[i], model, memo, options);
    return SolvedRows{result.impl, result.cost, result.bound};
  };
  const absl::StatusOr<RowFamily> family = FindRowRegions(roots, model, solve);
  ASSERT_TRUE(family.ok());
  ASSERT_EQ(family->members.size(), roots.size());
  size_t next = 0;
  for (const RowRegion& region : family->regions) {
    EXPECT_EQ(region.first, next);
    next = region.last + 1;
    for (size_t i = region.first; i <= region.last; ++i) {
      const RowMember& member = family->members[i];
      EXPECT_EQ(member.program.spec, roots[i]);
      const double best = static_cast<double>(member.best.value_or(member.cost));
      EXPECT_LE(static_cast<double>(member.cost), (1 + kMostLoss) * best);
      EXPECT_EQ(Runs(ProgramOf(region.program, GetParam()), roots[i].size[kM]).list(),
                Runs(ProgramOf(member.program, GetParam()), 0).list());
    }
  }
  EXPECT_EQ(next, roots.size());
  EXPECT_LT(family->regions.size(), roots.size());
  EXPECT_LT(solved, 60);
}

}  // namespace
}  // namespace kirsch
