// SPDX-License-Identifier: Apache-2.0
// What dot products prefetch of columns that lie one behind the other, by following the procedure's loop.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "codegen/lower.h"
#include "spec/microkernel.h"
#include "spec/text/cat.h"
#include "tests/testing/codegen_testing.h"
#include "tests/testing/random_spec.h"

namespace kirsch::testing {
namespace {

struct Case {
  Dtype rhs;
  uint32_t rows, columns, steps;
};

// The procedure's parameters are lhs, rhs, out, the trips of the main loop, and, if there is one, of the
// rest.
constexpr VarId kRhsPointer = 1, kTrips = 3;

// The lines, in memory's order from where the tile begins, that the dot product of so many steps prefetches.
class Follower {
 public:
  Follower(int64_t steps, int64_t element_bytes) : steps_(steps), element_bytes_(element_bytes) {}

  std::vector<int64_t> Lines(const Procedure& dot) && {
    for (const Stmt& statement : dot.body)
      if (const auto* loop = std::get_if<For>(&statement.op)) Follow(*loop);
    EXPECT_EQ(advanced_, steps_);
    return std::move(lines_);
  }

 private:
  // As many trips as there are steps left for.
  void Follow(const For& loop) {
    int64_t of_trip = 0;
    for (const Stmt& statement : loop.body)
      if (const auto* advance = std::get_if<Advance>(&statement.op);
          advance && advance->pointer == kRhsPointer)
        of_trip += advance->by.constant;
    const int64_t trips = (steps_ - advanced_) / of_trip;
    if (advanced_ == 0) values_[kTrips] = trips;
    for (int64_t trip = 0; trip < trips; ++trip) {
      values_[loop.index] = trip;
      for (const Stmt& statement : loop.body)
        if (const auto* prefetch = std::get_if<Prefetch>(&statement.op)) Follow(*prefetch);
      advanced_ += of_trip;
    }
  }

  void Follow(const Prefetch& prefetch) {
    EXPECT_TRUE(prefetch.into_l2);
    EXPECT_EQ(prefetch.at.pointer, kRhsPointer);
    const int64_t offset = Evaluate(prefetch.at.offset, [&](VarId index) { return values_.at(index); });
    const int64_t line = (advanced_ + offset) * element_bytes_ / kLineBytes;
    if (lines_.empty() || lines_.back() != line) lines_.push_back(line);
  }

  const int64_t steps_, element_bytes_;
  std::map<VarId, int64_t> values_;
  int64_t advanced_ = 0;
  std::vector<int64_t> lines_;
};

class DotPrefetchTest : public ::testing::TestWithParam<Case> {};

TEST_P(DotPrefetchTest, NextColumnsAreAskedForInMemorysOrder) {
  const Case& c = GetParam();
  const Target target = TestTarget(true);
  Spec spec = MatmulSpec({.m = c.rows,
                          .k = c.steps,
                          .n = c.columns,
                          .rhs = Order::kCol,
                          .types = {Dtype::kF32, c.rhs, Dtype::kF32}});
  spec.tensor(MatmulDims::kRhs).level = Level::kRam;
  Decision move;
  move.kind = RewriteKind::kMove;
  move.operand = MatmulDims::kRhs;
  move.level = Level::kL2;
  const Impl impl = Chain(spec, target, {move, IntoRegisters(LayoutKind::kPartialSums, 16), Microkernel()});
  const LoopProgram program = Lower(impl, target, "kernel");
  ASSERT_EQ(program.procedures.size(), 2u);

  // As many columns as the tile has, whatever is left over of the main loop.
  const std::vector<int64_t> lines = Follower(c.steps, Bytes(c.rhs)).Lines(program.procedures[1]);
  const int64_t column_lines = int64_t{c.steps} * Bytes(c.rhs) / kLineBytes;
  std::vector<int64_t> in_order(static_cast<size_t>(c.columns * column_lines));
  std::iota(in_order.begin(), in_order.end(), ColumnsAhead(impl.children[0].impl.spec) * column_lines);
  EXPECT_EQ(lines, in_order);
}

INSTANTIATE_TEST_SUITE_P(Tiles, DotPrefetchTest,
                         ::testing::Values(Case{Dtype::kF32, 1, 1, 1024}, Case{Dtype::kF32, 4, 3, 1024},
                                           Case{Dtype::kF32, 2, 5, 1040}, Case{Dtype::kF16, 2, 6, 2048},
                                           Case{Dtype::kF16, 1, 3, 2080}, Case{Dtype::kBf16, 3, 4, 5632}),
                         [](const auto& info) {
                           const Case& c = info.param;
                           return Cat(Info(c.rhs).name, "_", c.rows, "x", c.steps, "x", c.columns);
                         });

}  // namespace
}  // namespace kirsch::testing
