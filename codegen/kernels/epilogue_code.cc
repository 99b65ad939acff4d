// SPDX-License-Identifier: Apache-2.0
#include "codegen/kernels/epilogue_code.h"

#include <ranges>

#include "spec/check.h"
#include "spec/graph/epilogue_program.h"

namespace kirsch {
namespace {

// The kernel's epilogue as a row kernel. It lies as the output does; only its inputs' strides are read.
RowKernel RowsOfEpilogue(const Microkernel& kernel, int lanes) {
  RowKernel rows;
  rows.program = RowProgramOf(kernel.epilogue, kernel.accumulator(), kernel.out.dtype);
  rows.schedule.lanes = lanes;
  rows.scales = kernel.scales;
  rows.input_row_strides = {0};  // of the sums
  for (const EpilogueArgument& argument : kernel.arguments)
    rows.input_row_strides.push_back(argument.row_stride);
  return rows;
}

}  // namespace

bool WaitsForEpilogue(const Microkernel& kernel) {
  if (kernel.tile.form != LayoutKind::kTiles) return kernel.epilogue.HasFunctions();
  return TilesWait(kernel.tile, kernel.epilogue, kernel.out.dtype, kernel.n) || !kernel.n.IsConstant();
}

EpilogueCode::EpilogueCode(ProcedureBuilder& builder, const Microkernel& kernel, VarId out,
                           const std::vector<VarId>& arguments, int lanes, VarId size, VarId last)
    : builder_(builder),
      kernel_(kernel),
      out_(out),
      lanes_(lanes),
      size_(size),
      last_(last),
      rows_(RowsOfEpilogue(kernel, lanes)),
      code_(builder, rows_, passes_, pointers_, nullptr, "e"),
      values_(ComputedValues(rows_.program)) {
  KIRSCH_CHECK(kernel.out.order == Order::kRow && kernel.out.panel == 0 && kernel.out.window.empty());
  pointers_.inputs = arguments;
  pointers_.inputs.insert(pointers_.inputs.begin(), kNoVar);  // sums are in registers
  if (WaitsForEpilogue(kernel))
    waiting_ = builder.Array("waiting", kernel.accumulator(), lanes, kernel.tile.rows * Pitch());
}

// Rows are whole vectors, so that vectors of sums are stored and loaded without masks.
int64_t EpilogueCode::Pitch() const { return (kernel_.n + lanes_ - 1) / lanes_ * lanes_; }

void EpilogueCode::Store(VarId sums, int row, int64_t column, const LaneCount& count) {
  if (waiting_ == kNoVar) return StoreThrough(sums, {Constant(column), count, Constant(row)});
  builder_.Do(kirsch::Store{sums, At(waiting_, row * Pitch() + column), lanes_});
}

void EpilogueCode::Finish(const std::function<void(VarId, const Address&, const LaneCount&)>& before) {
  if (waiting_ == kNoVar) return;
  const VarId sums = builder_.Vector("waited", kernel_.accumulator(), lanes_);
  const auto take = [&](const RowPlace& place) {
    builder_.Do(Load{sums, {waiting_, Plus(Times(place.row, Pitch()), place.column)}, lanes_});
    before(sums, OutputAt(place), place.count);
    StoreThrough(sums, place);
  };
  // The last vector of a row may be partial: by a constant, or as `last_` says when the kernel is run.
  const bool has_last = last_ != kNoVar;
  const int64_t vectors = kernel_.n / lanes_ - (has_last ? 1 : 0), rest = kernel_.n - vectors * lanes_;
  const LaneCount left = has_last ? LaneCount(lanes_, last_) : LaneCount(static_cast<int>(rest));
  builder_.Loop(Constant(kernel_.tile.rows), [&](VarId row) {
    builder_.Loop(Constant(vectors),
                  [&](VarId vector) { take({Times(IndexOf(vector), lanes_), lanes_, IndexOf(row)}); });
    if (rest != 0) take({Constant(vectors * lanes_), left, IndexOf(row)});
  });
}

void EpilogueCode::StoreThrough(VarId sums, const RowPlace& place) {
  code_.Bind(values_.front(), sums);
  for (int value : std::views::drop(values_, 1)) code_.Compute(value, place);
  builder_.Do(kirsch::Store{code_.Narrowed(0), OutputAt(place), place.count});
}

// The distance of rows may be kStride.
Address EpilogueCode::OutputAt(const RowPlace& place) const {
  const Size& stride = kernel_.out.outer_stride;
  const Affine row = stride.IsConstant() ? Times(place.row, stride) : TimesVariable(place.row, size_);
  return {out_, Plus(row, place.column)};
}

}  // namespace kirsch
