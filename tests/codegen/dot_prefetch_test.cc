// What dot products prefetch of columns that lie one behind the other, by following the procedure's loop.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <variant>
#include <vector>

#include "codegen/loop/lower.h"
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

constexpr VarId kRhsPointer = 1;  // the procedure's parameters are lhs, rhs, out, trips, ...

// The lines, in memory's order from where the tile begins, that so many trips of the main loop prefetch.
std::vector<int64_t> Prefetched(const Procedure& dot, int64_t trips, int64_t element_bytes) {
  std::vector<int64_t> lines;
  int64_t advanced = 0;
  const auto is_main = [](const Stmt& statement) { return std::holds_alternative<For>(statement.op); };
  const auto main = std::find_if(dot.body.begin(), dot.body.end(), is_main);
  EXPECT_NE(main, dot.body.end());
  const For& loop = std::get<For>(main->op);
  for (int64_t trip = 0; trip < trips; ++trip)
    for (const Stmt& statement : loop.body) {
      const auto value = [&](const Affine& affine) {
        return Evaluate(affine, [&](VarId index) { return index == loop.index ? trip : -1; });
      };
      if (const auto* prefetch = std::get_if<Prefetch>(&statement.op)) {
        EXPECT_TRUE(prefetch->into_l2);
        EXPECT_EQ(prefetch->at.pointer, kRhsPointer);
        const int64_t byte = (advanced + value(prefetch->at.offset)) * element_bytes;
        EXPECT_EQ(byte % kLineBytes, 0);
        lines.push_back(byte / kLineBytes);
      }
      if (const auto* advance = std::get_if<Advance>(&statement.op);
          advance && advance->pointer == kRhsPointer)
        advanced += value(advance->by);
    }
  return lines;
}

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

  constexpr int64_t kTrips = 3;
  const std::vector<int64_t> lines = Prefetched(program.procedures[1], kTrips, Bytes(c.rhs));
  ASSERT_FALSE(lines.empty());
  std::vector<int64_t> in_order(lines.size());
  const int64_t column_lines = int64_t{c.steps} * Bytes(c.rhs) / kLineBytes;
  std::iota(in_order.begin(), in_order.end(), ColumnsAhead(impl.children[0].impl.spec) * column_lines);
  EXPECT_EQ(lines, in_order);
}

INSTANTIATE_TEST_SUITE_P(Tiles, DotPrefetchTest,
                         ::testing::Values(Case{Dtype::kF32, 1, 1, 1024}, Case{Dtype::kF32, 4, 3, 1024},
                                           Case{Dtype::kF16, 2, 6, 2048}, Case{Dtype::kBf16, 3, 4, 5632}),
                         [](const auto& info) {
                           const Case& c = info.param;
                           return Cat(Info(c.rhs).name, "_", c.rows, "x", c.steps, "x", c.columns);
                         });

}  // namespace
}  // namespace kirsch::testing
