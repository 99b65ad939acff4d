// SPDX-License-Identifier: Apache-2.0
// Programs ask for what copies, and moves of panels, bring next: by following a program, run by run.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "memo/hash_memo.h"
#include "search/solver/replay.h"
#include "spec/language/parser.h"
#include "spec/program/impl_program.h"
#include "spec/target/targets.h"

namespace kirsch {
namespace {

constexpr int kRhs = 1;  // the buffer

// Lines of rhs, by their first byte.
using Lines = std::set<int64_t>;

// Runs a program without computing anything.
class Follower {
 public:
  explicit Follower(const Program& program) : program_(program) { Do(program.body); }

  int copies() const { return copies_; }
  // Copies of rhs, or pieces of panels, that read a line which nobody has asked for since the copy before.
  // What register tiles ask for in vain, as it is behind the end of rhs, is not counted.
  int unasked() const { return unasked_; }

 private:
  void Do(const Body& body) {
    for (const Node& node : body) std::visit([&](const auto& shape) { Do(shape); }, node.shape);
  }
  void Do(const Loop& loop) {
    const int64_t trips = ValueOf(loop.trips);
    for (int64_t trip = 0; trip < trips; ++trip) {
      values_[loop.variable] = trip;
      Do(trip == 0 && !loop.first.empty() ? loop.first : loop.body);
    }
    values_[loop.variable] = trips;
    if (ValueOf({loop.trips.of, loop.trips.by, true}) != 0) Do(loop.rest);
  }
  void Do(const Let& let) {
    values_[let.variable] = ValueOf(let.value);
    Do(let.body);
  }
  void Do(const OneOf&) { FAIL() << "sizes are known"; }
  void Do(const Task& task) { Do(task.body); }
  void Do(const Phase& phase) { Do(phase.body); }
  void Do(const KernelRun& run) {
    const KernelShape& kernel = program_.kernels[static_cast<size_t>(run.kernel)];
    if (const auto* tile = std::get_if<TileShape>(&kernel)) {
      if (IsPacked(run.at[kRhs].buffer)) ReadPanel(*tile, run);
      if (tile->asked_lines != 0) Ask(*tile, run);
    }
    if (const auto* pack = std::get_if<PackShape>(&kernel); pack && run.at[0].buffer == kRhs)
      Copy(*pack, ValueOf(run.at[0].offset));
  }

  bool IsPacked(int buffer) const {
    return program_.buffers[static_cast<size_t>(buffer)].memory == Memory::kPacked;
  }

  // A piece of a panel: the register tiles beside each other all read it.
  void ReadPanel(const TileShape& tile, const KernelRun& run) {
    const int64_t begin = ValueOf(run.at[kRhs].offset) * Bytes(tile.rhs.dtype);
    if (begin == piece_) return;
    piece_ = begin;
    CountIfAsked(begin, ValueOf(run.count), tile.rhs, tile.rhs.panel);
  }

  void Ask(const TileShape& tile, const KernelRun& run) {
    ASSERT_TRUE(run.at.back().buffer == kRhs || IsPacked(run.at.back().buffer));
    const int64_t begin = ValueOf(run.at.back().offset) * Bytes(tile.asked.dtype);
    const int64_t row_bytes = Bytes(tile.asked.dtype, tile.asked.outer_stride);
    for (int64_t row = 0; row < ValueOf(run.count); ++row)
      for (int64_t line = 0; line < tile.asked_lines; ++line)
        asked_.insert(begin + row * row_bytes + line * 64);
  }

  void Copy(const PackShape& pack, int64_t offset) {
    CountIfAsked(offset * Bytes(pack.from.dtype), pack.outer, pack.from, pack.inner);
  }

  // Rows are a multiple of a line apart.
  void CountIfAsked(int64_t begin, int64_t rows, const MatrixLayout& layout, int64_t columns) {
    const int64_t bytes = Bytes(layout.dtype);
    bool all_asked = true;
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t byte = 0; byte < columns * bytes; byte += 64)
        all_asked &= asked_.contains(begin + row * layout.outer_stride * bytes + byte);
    ++copies_;
    unasked_ += all_asked ? 0 : 1;
    asked_.clear();
  }

  int64_t ValueOf(const Affine& affine) const {
    return Evaluate(affine, [&](VarId index) { return values_.at(index); });
  }
  int64_t ValueOf(const Count& count) const { return count.Of(ValueOf(count.of)); }

  const Program& program_;
  std::map<VarId, int64_t> values_;
  Lines asked_;
  int64_t piece_ = -1;  // of a panel, that is being read
  int copies_ = 0, unasked_ = 0;
};

struct Case {
  const char* spec;
  const char* schedule;
  int copies, unasked;
  const char* target = "znver4";
};

class AskedTilesTest : public ::testing::TestWithParam<Case> {};

TEST_P(AskedTilesTest, CopiesReadWhatWasAskedFor) {
  const Case& c = GetParam();
  const CostModel model(FindTarget(c.target, "")->target);
  const Spec placed = PlaceOperands(ParseSpec(c.spec)->spec, Residency::kCold, model.target());
  HashMemo memo;
  const absl::StatusOr<Schedule> schedule = ParseSchedule(c.schedule, "s", placed.op);
  ASSERT_TRUE(schedule.ok()) << schedule.status();
  const absl::StatusOr<SearchResult> result = Replay(placed, *schedule, "s", model, memo, {});
  ASSERT_TRUE(result.ok()) << result.status();
  const Follower follower(WriteProgram(result->impl, model.target()));
  EXPECT_EQ(follower.copies(), c.copies);
  EXPECT_EQ(follower.unasked(), c.unasked);
}

// Nobody asks for the first tile.
INSTANTIATE_TEST_SUITE_P(
    Schedules, AskedTilesTest,
    ::testing::Values(
        // One loop; more trips of the loop below than lines of a row, and fewer.
        Case{"matmul f32 64x96x256", "tile n 32\n  pack rhs L1 packed32 f32\n", 8, 1},
        Case{"matmul f32 6x32x512", "tile n 64\n  pack rhs L1 packed64 f32\n    move out VRF vectors16\n", 8,
             1},
        // The next step of the reduction comes after the last columns.
        Case{"matmul f32 16x256x128",
             "tile k 64\n"
             "  tile n 32\n    pack rhs L1 packed32 f32\n"
             "  tile n 32\n    pack rhs L1 packed32 f32\n",
             16, 1},
        // What is left over of the columns asks for no more of them than it has itself.
        Case{"matmul f32 16x256x144",
             "tile k 64\n"
             "  tile n 32\n    pack rhs L1 packed32 f32\n    pack rhs L1 packed16 f32\n"
             "  tile n 32\n    pack rhs L1 packed32 f32\n    pack rhs L1 packed16 f32\n",
             20, 4},
        // Blocks of columns, steps, columns.
        Case{"matmul f32 16x128x256",
             "tile n 128\n"
             "  tile k 64\n"
             "    tile n 32\n      pack rhs L1 packed32 f32\n"
             "    tile n 32\n      pack rhs L1 packed32 f32\n",
             16, 1},
        // Pairs of steps.
        Case{"matmul bf16*bf16->f32 64x128x512", "tile n 32\n  pack rhs L1 packed32x2 bf16\n", 16, 1},
        // Rows that fall on few sets of L2 are not asked for.
        Case{"matmul f32 32x64x4096", "tile n 32\n  pack rhs L1 packed32 f32\n", 128, 128},
        // What is left of the steps is no whole group of them.
        Case{"matmul bf16*bf16->f32 16x65x64", "pack rhs L2 packed32x2 bf16\n  tile k 64\n", 1, 1},
        // Panels of weights, whole and in pieces, for code whose vectors are shorter than a line; and for
        // code whose are not.
        Case{"matmul f32 16x256x64 const-rhs", "pack rhs RAM packed16 f32\n  tile n 16\n    move rhs L1\n", 4,
             1, "haswell"},
        Case{"matmul f32 16x256x64 const-rhs",
             "pack rhs RAM packed16 f32\n  tile n 16\n    tile k 64\n      move rhs L1\n      move rhs L1\n",
             16, 1, "haswell"},
        // A step of two is one and a half lines.
        Case{"matmul f32 16x256x48 const-rhs",
             "pack rhs RAM packed24 f32\n  tile n 24\n    tile k 64\n      move rhs L1\n      move rhs L1\n",
             8, 1, "haswell"},
        Case{"matmul f32 16x64x64 const-rhs", "pack rhs RAM packed32 f32\n  tile n 32\n    move rhs L1\n", 2,
             2, "znver4"}));

}  // namespace
}  // namespace kirsch
