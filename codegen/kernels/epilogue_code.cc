// SPDX-License-Identifier: Apache-2.0
#include "codegen/kernels/epilogue_code.h"

#include <bit>
#include <utility>

#include "spec/check.h"

namespace kirsch {

// A store of a tile has no mask and converts nothing.
bool WaitsForEpilogue(const Microkernel& kernel) {
  if (kernel.tile.form != LayoutKind::kTiles) return kernel.epilogue.HasFunctions();
  return !kernel.epilogue.empty() || kernel.out.dtype != kernel.accumulator() ||
         kernel.n % kernel.tile.lanes != 0 || !kernel.n.IsConstant();
}

EpilogueCode::EpilogueCode(ProcedureBuilder& builder, const Microkernel& kernel, VarId out,
                           const std::vector<VarId>& arguments, int lanes, VarId size, VarId last)
    : builder_(builder),
      kernel_(kernel),
      out_(out),
      arguments_(arguments),
      lanes_(lanes),
      size_(size),
      last_(last),
      math_(builder, lanes, kernel.scales, "f",
            IsFloating(kernel.accumulator()) ? kernel.accumulator() : Dtype::kF32) {
  KIRSCH_CHECK(kernel.out.order == Order::kRow && kernel.out.panel == 0 && kernel.out.window.empty());
  if (WaitsForEpilogue(kernel))
    waiting_ = builder.Array("waiting", kernel.accumulator(), lanes, kernel.tile.rows * Pitch());
}

// Rows are whole vectors, so that vectors of sums are stored and loaded without masks.
int64_t EpilogueCode::Pitch() const { return (kernel_.n + lanes_ - 1) / lanes_ * lanes_; }

// Returns a vector that all vectors of the tile use by turns; it is declared when it is first used.
VarId EpilogueCode::Vector(const char* name, Dtype dtype, VarId* made) {
  if (*made == kNoVar) *made = builder_.Vector(name, dtype, lanes_);
  return *made;
}

void EpilogueCode::Store(VarId sums, int row, int64_t column, const LaneCount& count) {
  if (waiting_ == kNoVar) return StoreThrough(sums, {Constant(row), Constant(column), count});
  builder_.Do(kirsch::Store{sums, At(waiting_, row * Pitch() + column), lanes_});
}

void EpilogueCode::Finish(const std::function<void(VarId, const Address&, const LaneCount&)>& before) {
  if (waiting_ == kNoVar) return;
  const VarId sums = builder_.Vector("waited", kernel_.accumulator(), lanes_);
  const auto take = [&](const Place& place) {
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
                  [&](VarId vector) { take({IndexOf(row), Times(IndexOf(vector), lanes_), lanes_}); });
    if (rest != 0) take({IndexOf(row), Constant(vectors * lanes_), left});
  });
}

void EpilogueCode::StoreThrough(VarId sums, const Place& place) {
  const VarId stored = Apply(sums, place);
  builder_.Do(kirsch::Store{stored, OutputAt(place), place.count});
}

// The distance of rows may be kStride.
Address EpilogueCode::OutputAt(const Place& place) const {
  const Size& stride = kernel_.out.outer_stride;
  const Affine row = stride.IsConstant() ? Times(place.row, stride) : TimesVariable(place.row, size_);
  return {out_, Plus(row, place.column)};
}

// Writes the steps of the epilogue for a vector of sums. Returns the variable that has the result.
VarId EpilogueCode::Apply(VarId sums, const Place& place) {
  const Epilogue& epilogue = kernel_.epilogue;
  next_argument_ = 0;
  VarId x = sums, addend = kNoVar;
  for (int i = 0; i < epilogue.count; ++i) {
    const EpilogueStep& step = epilogue.steps[static_cast<size_t>(i)];
    // Sums of integers go on as floats from here on.
    if (step.op == Operation::kF32) {
      builder_.Do(Convert{Vector("x", Dtype::kF32, &real_), x});
      x = real_;
      continue;
    }
    const Dtype type = TypeBefore(epilogue, kernel_.accumulator(), i);
    const bool real = IsFloating(type);
    VarId y = kNoVar;
    if (Info(step.op).operands() == 2) {
      y = real ? Vector("y", type, &real_operand_) : Vector("z", Dtype::kS32, &integer_operand_);
      LoadOperand(step, place, y);
    }
    if (!IsFused(epilogue, kernel_.accumulator(), i)) {
      const Operation op = EmittedOperation(epilogue, kernel_.accumulator(), i);
      // A maximum or minimum keeps a NaN that comes second. So a number comes first, and the sum second.
      const bool turned = real && op != step.op;
      math_.Compute(op, x, turned ? y : x, turned ? x : y);
    } else {
      // A product and the sum after it are one operation, rounded once.
      const EpilogueStep& next = epilogue.steps[static_cast<size_t>(++i)];
      if (addend == kNoVar) addend = Vector("x1", type, &addend_);
      LoadOperand(next, place, addend);
      builder_.Do(MultiplyAdd{addend, x, y, next.op == Operation::kSub});
      std::swap(x, addend);
    }
  }
  return Stored(x);
}

// Loads the operand of a step: a number; or of the argument an element for each column, or one for the whole
// row.
void EpilogueCode::LoadOperand(const EpilogueStep& step, const Place& place, VarId to) {
  if (!step.HasOperand()) return builder_.Do(Fill{to, step.number});
  const size_t argument = next_argument_++;
  const EpilogueArgument& info = kernel_.arguments[argument];
  const Affine row = Times(place.row, info.row_stride);
  const Address address = {arguments_[argument], info.columns ? Plus(row, place.column) : row};
  if (info.columns)
    builder_.Do(Load{to, address, place.count});
  else
    builder_.Do(Broadcast{to, address, 1});
}

// Floats that become integers are brought into the range first: the conversion saturates nothing.
VarId EpilogueCode::Stored(VarId x) {
  const Dtype type = TypeAfter(kernel_.epilogue, kernel_.accumulator());
  if (type != Dtype::kF32 || IsFloating(kernel_.out.dtype)) return x;
  Vector("y", Dtype::kF32, &real_operand_);
  const auto limit_by = [&](BinaryOp op, int64_t limit) {
    builder_.Do(Fill{real_operand_, std::bit_cast<uint32_t>(static_cast<float>(limit))});
    builder_.Do(Binary{op, x, x, real_operand_});
  };
  limit_by(BinaryOp::kMax, LeastOf(kernel_.out.dtype));
  limit_by(BinaryOp::kMin, MostOf(kernel_.out.dtype));
  builder_.Do(Convert{Vector("whole", Dtype::kS32, &integer_), x});
  return integer_;
}

}  // namespace kirsch
