// SPDX-License-Identifier: Apache-2.0
// Writes the lanewise microkernel, of depthwise convolutions. The tile's accumulators stay in registers over
// all taps; every lane is a channel. A trip takes a run of taps, column by column. First it loads their
// vectors of rhs. Then it loads each vector of lhs once, for all the rows and taps that it is multiplied for.
// With 2 rows and 3 taps, x1 and x2 have two products each:
//   row 0: c0 += x0 * w0 + x1 * w1 + x2 * w2
//   row 1: c1 += x1 * w0 + x2 * w1 + x3 * w2
// Of lanes in groups it does so for each channel of the groups. What is multiplied is then x0 with that
// channel in all lanes of each group.
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "codegen/kernels/form_writer.h"
#include "codegen/kernels/reduction_loops.h"
#include "codegen/kernels/vector_output.h"
#include "spec/check.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

// Keeps the weights of a trip in registers; the input needs a single one.
class LanewiseProduct : VectorFormWriter {
 public:
  explicit LanewiseProduct(const Microkernel& kernel)
      : VectorFormWriter(kernel),
        input_(OperandVector(builder_, "x", kernel.lhs_lanes(), kernel)),
        factor_(kernel.tile.lane_group > 1 ? OperandVector(builder_, "s", kernel.lhs_lanes(), kernel)
                                           : input_),
        output_(builder_, kernel, parameters_, accumulators_) {
    KIRSCH_CHECK(!kernel.lhs.window.empty() && kernel.rhs.order == Order::kRow && kernel.rhs.panel == 0);
    KIRSCH_CHECK(kernel.tile.group() == 1 && kernel.k_split == 1);
    for (int tap = 0; tap < kernel.unroll / kernel.tile.lane_group; ++tap)
      weights_.push_back(OperandVector(builder_, Cat("w", tap), kernel.rhs_lanes(), kernel));
  }

  Procedure Build() && {
    output_.Prefetch();
    output_.Start();
    sums_.Start();
    ForReduction(builder_, kernel_, parameters_, sums_, [&](int steps) { Steps(steps); });
    sums_.Finish();
    output_.Store();
    return std::move(builder_).Build();
  }

 private:
  // A row and a tap that take the same vector of the input.
  struct Use {
    int row, tap;
  };
  using Uses = std::map<int64_t, std::vector<Use>>;  // of the input at an offset

  // Writes the next `steps` steps of all rows and columns, and moves the pointers behind them.
  void Steps(int steps) {
    const int group = kernel_.tile.lane_group, taps = std::max(steps / group, 1);
    Uses uses;
    for (int tap = 0; tap < taps; ++tap)
      for (int row = 0; row < kernel_.tile.rows; ++row)
        uses[kernel_.lhs.At(row, tap * group)].push_back({row, tap});
    for (int j = 0; j < kernel_.tile.columns; ++j)
      for (int channel = 0; channel < std::min(group, steps); ++channel) {
        if (j + channel > 0 && kernel_.fence_steps) builder_.Do(Fence{});
        Column(j, channel, taps, uses);
      }
    builder_.Do(Advance{parameters_.lhs, kernel_.AdvanceOf(kernel_.lhs, steps, Constant(0))});
    builder_.Do(
        Advance{parameters_.rhs, kernel_.AdvanceOf(kernel_.rhs, steps, Constant(kernel_.rhs.At(steps, 0)))});
  }

  // Goes by ascending offsets of the input, so that each sum is a chain by ascending taps.
  void Column(int j, int channel, int taps, const Uses& uses) {
    const LaneCount count = output_.LanesInVector(j);
    const int group = kernel_.tile.lane_group;
    for (int tap = 0; tap < taps; ++tap)
      builder_.Do(
          Load{weight(tap), At(parameters_.rhs, kernel_.rhs.At(tap * group + channel, Lane(j))), count});
    for (const auto& [offset, users] : uses) {
      if (kernel_.fence_rows) builder_.Do(Fence{});
      builder_.Do(Load{input_, At(parameters_.lhs, offset + Lane(j)), count});
      if (group > 1) builder_.Do(GroupLane{factor_, input_, group, channel});
      for (const Use& use : users)
        builder_.Do(MultiplyAdd{accumulators_.at(0, use.row, j), factor_, weight(use.tap)});
    }
  }

  VarId weight(int tap) const { return weights_[static_cast<size_t>(tap)]; }

  const VarId input_, factor_;  // a vector of lhs, and what of it is multiplied
  std::vector<VarId> weights_;
  VectorOutput output_;
};

}  // namespace

Procedure LanewiseProcedure(const Microkernel& kernel) { return LanewiseProduct(kernel).Build(); }

}  // namespace kirsch
