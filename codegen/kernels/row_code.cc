// SPDX-License-Identifier: Apache-2.0
#include "codegen/kernels/row_code.h"

#include <bit>
#include <functional>

#include "spec/element.h"
#include "spec/element_array.h"
#include "spec/text/cat.h"

namespace kirsch {

// In the order that RowProcedure documents.
void RowParameters::Declare(ProcedureBuilder& builder, const RowKernel& kernel) {
  const auto pointer = [&](const std::string& name, Dtype dtype, bool stored) {
    return builder.PointerParameter(name, dtype, stored, kernel.in_place);
  };
  const RowProgram& program = kernel.program;
  for (size_t i = 0; i < program.inputs.size(); ++i)
    inputs.push_back(pointer(Cat("input", i), program.inputs[i].dtype, false));
  for (size_t i = 0; i < program.results.size(); ++i)
    results.push_back(pointer(Cat("result", i), program.results[i].dtype, true));
  if (kernel.TakesScratch()) scratch = builder.PointerParameter("scratch", RealOf(program), true);
  row_count = builder.IndexParameter("rows");
  if (!kernel.columns.IsConstant()) columns = builder.IndexParameter("columns");
}

RowCode::RowCode(ProcedureBuilder& builder, const RowKernel& kernel, const RowPasses& plan,
                 const RowPointers& pointers, RowCode* row, const std::string& suffix)
    : builder_(builder),
      kernel_(kernel),
      plan_(plan),
      pointers_(pointers),
      row_(row),
      suffix_(suffix),
      lanes_(kernel.schedule.lanes),
      real_(RealOf(kernel.program)),
      math_(builder, lanes_, kernel.scales, suffix, real_),
      vars_(kernel.program.values.size(), kNoVar) {}

// A value that is one for the row has its variable in `row_`.
VarId RowCode::Of(int value) {
  const Dtype type = At(value).type;
  if (At(value).op == Operation::kNumber) {
    uint64_t word = 0;
    StoreElement(type, At(value).number, &word, 0);
    return builder_.Filled(type, lanes_, word);
  }
  if (row_ != nullptr && plan_.per_row[static_cast<size_t>(value)]) return row_->Of(value);
  VarId& var = vars_[static_cast<size_t>(value)];
  if (var == kNoVar) var = builder_.Vector(Cat("v", value, "_", suffix_), type, lanes_);
  return var;
}

VarId RowCode::Temporary(const std::string& name, Dtype dtype) {
  const auto [at, is_new] = temporaries_.try_emplace(name, kNoVar);
  if (is_new) at->second = builder_.Vector(Cat(name, "_", suffix_), dtype, lanes_);
  return at->second;
}

// True if the value is x - maximum(x), or x - max(x, y), or both. Softmax has such exponents, and their
// exponential needs fewer instructions.
bool RowCode::IsNotPositive(int value) const {
  const RowValue& v = At(value);
  const std::function<bool(int)> is_bound = [&](int b) {
    if (b == v.a) return true;
    const RowValue& bound = At(b);
    return (bound.op == Operation::kMaximum && bound.a == v.a) ||
           (OfNumbers(bound.op) == Operation::kMaxNum && (is_bound(bound.a) || is_bound(bound.b)));
  };
  return v.op == Operation::kSub && is_bound(v.b);
}

// Loads an element for each column, or broadcasts the one that the row has. Integers that the program
// computes with as floats are converted.
void RowCode::LoadInput(int value, const RowPlace& place) {
  const size_t input = static_cast<size_t>(At(value).input);
  const RowInput& info = kernel_.program.inputs[input];
  const bool converts = IsFloating(At(value).type) && !IsFloating(info.dtype);
  const VarId to = converts ? Temporary("whole", Dtype::kS32) : Of(value);
  const int64_t row_stride = kernel_.input_row_strides[input];
  Affine row = place.row;
  if (info.row_from >= 0) row = IndexOf(pointers_.rows[input]);
  if (info.along_columns)
    builder_.Do(
        Load{to, {pointers_.inputs[input], OffsetIn({place.column, 1, row}, row_stride)}, place.count});
  else
    builder_.Do(Broadcast{to, {pointers_.inputs[input], OffsetIn({Constant(0), 1, row}, row_stride)}, 1});
  if (converts) builder_.Do(Convert{Of(value), to});
}

// Writes a sum or a difference, as an FMA if it has a product. The sign says whether the product is
// subtracted, or what is not the product.
void RowCode::Sum(int value, const RowOperands& operands) {
  const RowValue& v = At(value);
  if (operands.product < 0)
    return builder_.Do(
        Binary{v.op == Operation::kAdd ? BinaryOp::kAdd : BinaryOp::kSub, Of(value), Of(v.a), Of(v.b)});
  const FmaSign sign = v.op == Operation::kAdd   ? FmaSign::kAdd
                       : operands.product == v.a ? FmaSign::kSubtract
                                                 : FmaSign::kNegate;
  const auto& values = operands.values;
  builder_.Do(Fma{Of(value), Of(values[0]), Of(values[1]), Of(values[2]), sign});
}

// Writes a product that is rounded once for all its uses. It is an FMA, since GCC would make others of a
// product and of the sums that use it. The addend is -0, which changes no product, not even -0.
void RowCode::RoundedProduct(int value) {
  const VarId zero = builder_.Filled(real_, lanes_, WordOf(real_, -0.0));
  builder_.Do(Fma{Of(value), Of(At(value).a), Of(At(value).b), zero});
}

// Loads, numbers, sums and shared products are written here, all else by VectorMath.
void RowCode::Compute(int value, const RowPlace& place) {
  const RowValue& v = At(value);
  switch (v.op) {
    case Operation::kLoad:
      return LoadInput(value, place);
    case Operation::kNumber:
      return;
    case Operation::kF32:
      return builder_.Do(Convert{Of(value), Of(v.a)});
    case Operation::kIndex: {
      const bool down = kernel_.program.reduces_rows;
      return builder_.Do(FillIndex{Of(value), down ? place.number : place.column, !down});
    }
    case Operation::kAdd:
    case Operation::kSub:
      return Sum(value, OperandsOf(kernel_.program, value));
    case Operation::kMul:
      if (IsSharedProduct(kernel_.program, value)) return RoundedProduct(value);
      break;
    default:
      break;
  }
  if (v.op == Operation::kExp && IsNotPositive(v.a)) return math_.ExpOfNotPositive(Of(value), Of(v.a));
  // Integers are no NaN, so the operations of numbers serve.
  const Operation op = v.type == Dtype::kS32 ? OfNumbers(v.op) : v.op;
  const auto of = [&](int argument) { return argument < 0 ? kNoVar : Of(argument); };
  math_.Compute(op, Of(value), Of(v.a), of(v.b), of(v.c));
}

Affine RowCode::OffsetIn(const RowPlace& place, int64_t row_stride) const {
  return Plus(place.column, Times(place.row, row_stride));
}

void RowCode::PrefetchInput(int value, const RowPlace& place, int64_t column_in_block) {
  const RowValue& v = At(value);
  if (v.op != Operation::kLoad || kernel_.schedule.prefetch == 0) return;
  const RowInput& info = kernel_.program.inputs[static_cast<size_t>(v.input)];
  const int64_t bytes = Bytes(info.dtype);
  // Only inputs with other elements for each row and column, and known rows; of the vectors of a line, the
  // first prefetches it.
  if (!info.along_columns || !info.along_rows || info.row_from >= 0 ||
      column_in_block * bytes % kLineBytes != 0)
    return;
  // Where rows do not follow each other, as many whole rows ahead.
  const int64_t stride = kernel_.input_row_strides[static_cast<size_t>(v.input)];
  const int64_t elements = kernel_.schedule.prefetch / bytes;
  const int64_t ahead =
      stride <= kernel_.columns ? elements : (elements + kernel_.columns - 1) / kernel_.columns * stride;
  builder_.Do(Prefetch{{pointers_.inputs[static_cast<size_t>(v.input)], Plus(place.column, ahead)}, true});
}

// Returns where a value is kept: in the row of scratch memory, or in the place of a result that is stored
// later.
Address RowCode::KeptAddress(int value, const RowPlace& place) const {
  const int at = kernel_.schedule.KeptAt(value);
  if (at != RowSchedule::kInScratch)
    return {pointers_.results[static_cast<size_t>(at)],
            OffsetIn(place, kernel_.result_row_strides[static_cast<size_t>(at)])};
  return {pointers_.scratch, Plus(place.column, ScratchOffset(kernel_.schedule, value, kernel_.columns))};
}

void RowCode::Read(int value, const RowPlace& place) {
  builder_.Do(Load{Of(value), KeptAddress(value, place), place.count});
}

void RowCode::Keep(int value, const RowPlace& place) {
  builder_.Do(Store{Of(value), KeptAddress(value, place), place.count});
}

// Sets `whole` to the largest s32 where `limited` is 2^31. Floats could not be limited any lower, as the
// largest s32 is no f32, and 2^31 was converted to no number in particular.
void RowCode::Saturate(VarId whole, VarId limited) {
  const VarId real = Temporary("real"), end = builder_.Filled(Dtype::kF32, lanes_, 0x4f000000);  // 2^31
  builder_.Do(Bits{real, whole});
  const VarId largest = builder_.Filled(Dtype::kF32, lanes_, 0x7fffffff);
  builder_.Do(Select{Comparison::kLess, real, limited, end, real, largest});
  builder_.Do(Bits{whole, real});
}

// Floats that become integers are brought into the range first, as the conversion saturates nothing. Integers
// are brought into it where they are stored.
VarId RowCode::Narrowed(int result) {
  const RowResult& info = kernel_.program.results[static_cast<size_t>(result)];
  const VarId value = Of(info.value);
  if (!IsFloating(At(info.value).type) || IsFloating(info.dtype)) return value;
  const VarId limited = Temporary("limited"), whole = Temporary("whole", Dtype::kS32);
  const auto limit_by = [&](BinaryOp op, VarId from, int64_t limit) {
    const uint32_t word = std::bit_cast<uint32_t>(static_cast<float>(limit));
    builder_.Do(Binary{op, limited, from, builder_.Filled(Dtype::kF32, lanes_, word)});
  };
  limit_by(BinaryOp::kMax, value, LeastOf(info.dtype));
  limit_by(BinaryOp::kMin, limited, MostOf(info.dtype));
  builder_.Do(Convert{whole, limited});
  if (info.dtype == Dtype::kS32) Saturate(whole, limited);
  return whole;
}

void RowCode::StoreResult(int result, const RowPlace& place) {
  const Address to = {pointers_.results[static_cast<size_t>(result)],
                      OffsetIn(place, kernel_.result_row_strides[static_cast<size_t>(result)])};
  builder_.Do(Store{Narrowed(result), to, place.count, place.streams && result == kernel_.schedule.streamed});
}

// Lanes meet in the end, so those that don't exist must not change. Columns never meet, and need no such
// care.
void RowCode::Accumulate(int reduction, VarId accumulator, const RowPlace& place) {
  const RowValue& v = At(reduction);
  const bool mixed = !place.count.IsAll(lanes_) && !kernel_.program.reduces_rows;  // lanes meet in the end
  const VarId sum = mixed ? Temporary("some_sums") : accumulator;
  const RowOperands operands = OperandsOf(kernel_.program, reduction);
  if (v.op == Operation::kMaximum)
    builder_.Do(Binary{BinaryOp::kMax, sum, Of(v.a), accumulator});  // a NaN is passed over
  else if (operands.product >= 0)
    builder_.Do(Fma{sum, Of(operands.values[0]), Of(operands.values[1]), accumulator});
  else
    builder_.Do(Binary{BinaryOp::kAdd, sum, accumulator, Of(v.a)});
  if (sum != accumulator) builder_.Do(FirstLanes{accumulator, sum, accumulator, place.count});
}

void RowCode::BeginSums(int reduction, int level) { builder_.Do(Fill{SumOfLevel(reduction, level), 0}); }

void RowCode::AddUp(VarId to, VarId part) {
  builder_.Do(Binary{BinaryOp::kAdd, to, to, part});
  builder_.Do(Fill{part, 0});
}

void RowCode::AddSums(int reduction, int level, VarId accumulator) {
  builder_.Do(Binary{BinaryOp::kAdd, accumulator, accumulator, SumOfLevel(reduction, level)});
}

}  // namespace kirsch
