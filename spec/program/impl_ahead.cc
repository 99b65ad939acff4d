// SPDX-License-Identifier: Apache-2.0
// Writes prefetches of what copies read, and moves of panels. Each takes a tile of rhs from beyond L2 into
// L1; the register tiles that are worked on then ask for the next tile, which is in L2 when its turn comes.
//
//   loop i0 < 12:                              12 copies of 128 x 64, one beside the other
//     k0(b1 + i0 * 64, b3)                     the copy
//     loop i1 < 10:
//       with i2 = (i1) % 4:                    4 lines of each row, in turn
//         k1(..., b1 + i0 * 64 + i2 * 16 + 64; 128)
#include <algorithm>
#include <utility>

#include "spec/microkernel.h"
#include "spec/program/impl_operands.h"
#include "spec/program/impl_program.h"

namespace kirsch {
namespace {

// True if kernels of this form ask for what they are told to: outer products, but for those of codes.
bool MayAsk(const RegisterTile& tile) { return IsOfVectors(tile.form) && !tile.instruction().scales; }

}  // namespace

ImplWriter::Turn ImplWriter::TurnOf(const Impl& impl, const OperandViews& views, int64_t position,
                                    int64_t step) const {
  constexpr int kRhs = MatmulDims::kRhs;
  Turn turn;
  // Nobody asks for windows, or for parts of panels and of groups.
  const MatrixLayout& layout = views[kRhs].layout;
  const int dim = impl.decision.dim;
  const int64_t whole = dim == InnerDim(impl.spec, kRhs)   ? std::max<int64_t>(layout.panel, 1)
                        : dim == OuterDim(impl.spec, kRhs) ? layout.group
                                                           : 1;
  if (IsWindow(impl.spec, kRhs) || position % whole != 0 || step % whole != 0) return turn;
  const auto distance = [&](int64_t size) {
    return Behind({}, views[kRhs], impl.spec, kRhs, impl.decision.dim, size, kNoVar);
  };
  turn.before = distance(position);
  turn.step = distance(step);
  return turn;
}

// Calls use(place) with the place of the tile of rhs that comes after the one at `start`. Calls nothing if it
// is the same tile, or if nobody knows.
void ImplWriter::WithNextTile(const Affine& start, const UsePlace& use) {
  if (around_.empty() || !around_.back().known || around_.back().step == Affine{}) return;
  WithNextTile(around_.size(), start, Constant(1), use);
}

// Does so for the outer `levels` loops. `last` is 1 if those inside of them are all in their last trip, else
// 0. Only then does the next tile lie where these loops go on.
void ImplWriter::WithNextTile(size_t levels, const Affine& place, const Affine& last, const UsePlace& use) {
  if (levels == 0 || !around_[levels - 1].known) return use(place);
  const Turn& turn = around_[levels - 1];
  const bool constant = turn.step.IsConstant() && turn.before.IsConstant();
  if (!constant && !last.IsConstant()) return use(place);
  const auto if_last = [&](const Affine& distance) {
    return last.IsConstant() ? distance : Times(last, distance.constant);
  };
  const Affine next = Plus(place, if_last(turn.step));
  // Terms have two variables at most, so the third loop outside is taken to go on for ever.
  const bool full = !last.IsConstant() && last.terms.front().times != kNoVar;
  if (turn.goes_on || full) return use(next);
  if (turn.variable == kNoVar)
    return WithNextTile(levels - 1, Plus(place, if_last(Times(turn.before, -1))), last, use);
  if (!constant) return use(next);
  const int64_t back = turn.trips * turn.step.constant + turn.before.constant;
  builder_.AddLet({Plus(IndexOf(turn.variable), 1), turn.trips}, [&](VarId is_last) {
    const Affine all = last.IsConstant() ? IndexOf(is_last) : TimesVariable(last, is_last);
    WithNextTile(levels - 1, Plus(next, Times(all, -back)), all, use);
  });
}

// Calls `body`, which writes what is done with a tile of rhs. Its register tiles ask for the tile that is
// copied or moved next, if the decision says so.
void ImplWriter::AskForNext(const Impl& impl, const OperandView& from, const std::function<void()>& body) {
  const std::optional<AskedTile> outside = asked_;
  bool written = false;
  const TileExtent tile = ExtentOf(impl.spec, MatmulDims::kRhs);
  if (AsksAhead(impl.spec, impl.decision, target_))
    WithNextTile(from.start.offset, [&](const Affine& next) {
      asked_ = {{from.start.buffer, next}, from.layout, tile.outer, tile.inner * from.layout.group};
      body();
      written = true;
    });
  if (!written) body();
  asked_ = outside;
}

// Adds the run of a register tile. If it has a step for each row of a tile that is to be asked for, it asks
// for its share of the lines. All trips have a share: where there are more of them than lines, they ask
// again.
void ImplWriter::AddTile(TileShape shape, std::vector<OperandPlace> at, const Count& length,
                         const Affine& adds) {
  const auto add = [&] { builder_.AddRun(std::move(shape), std::move(at), length, last_, adds); };
  if (!asked_ || !MayAsk(shape.tile)) return add();
  if (!Varies(MatmulDims::kK) && length.constant() != asked_->rows) return add();
  const MatrixLayout& layout = asked_->layout;
  const int64_t in_line = target_.line_bytes / Bytes(layout.dtype);
  // Rows that are no multiple of a line apart begin anywhere in one, and take one more. Those of a panel
  // follow each other without gaps, so the next row's has the rest.
  const bool aligned =
      layout.panel != 0 || (layout.outer_stride.IsConstant() && layout.outer_stride % in_line == 0);
  const int64_t lines = (asked_->columns + in_line - 1) / in_line + (aligned ? 0 : 1);
  shape.asked = layout;
  shape.asked_lines = (lines + asked_->trips - 1) / asked_->trips;
  const int64_t shares = (lines + shape.asked_lines - 1) / shape.asked_lines;
  const auto add_share = [&](const Affine& share) {
    at.push_back(
        {asked_->place.buffer, Plus(asked_->place.offset, Times(share, shape.asked_lines * in_line))});
    add();
  };
  if (shares == 1) return add_share(Constant(0));
  if (shares == asked_->trips) return add_share(asked_->trip);
  builder_.AddLet({asked_->trip, shares, true}, [&](VarId share) { add_share(IndexOf(share)); });
}

}  // namespace kirsch
