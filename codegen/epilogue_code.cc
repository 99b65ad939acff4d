#include "codegen/epilogue_code.h"

#include <bit>
#include <utility>

#include "spec/check.h"

namespace kirsch {
namespace {

BinaryOp BinaryOf(EpilogueOp op) {
  switch (op) {
    case EpilogueOp::kAdd:
      return BinaryOp::kAdd;
    case EpilogueOp::kSub:
      return BinaryOp::kSub;
    case EpilogueOp::kMul:
      return BinaryOp::kMul;
    case EpilogueOp::kMax:
      return BinaryOp::kMax;
    case EpilogueOp::kMin:
      return BinaryOp::kMin;
    case EpilogueOp::kF32:
      break;
  }
  KIRSCH_CHECK(false && "not an operation of two");
}

}  // namespace

EpilogueCode::EpilogueCode(ProcedureBuilder& builder, const Microkernel& kernel,
                           const std::vector<VarId>& arguments, int lanes)
    : builder_(builder), kernel_(kernel), arguments_(arguments), lanes_(lanes) {}

VarId EpilogueCode::Vector(const char* name, Dtype dtype, VarId* made) {
  if (*made == kNoVar) *made = builder_.Vector(name, dtype, lanes_);
  return *made;
}

VarId EpilogueCode::Apply(VarId sums, int row, int64_t column, int count) {
  const Epilogue& epilogue = kernel_.epilogue;
  place_ = {row, column, count};
  next_argument_ = 0;
  VarId x = sums, addend = kNoVar;
  for (int i = 0; i < epilogue.count; ++i) {
    const EpilogueStep& step = epilogue.steps[static_cast<size_t>(i)];
    if (step.op == EpilogueOp::kF32) {
      builder_.Do(Convert{Vector("x", Dtype::kF32, &real_), x});
      x = real_;
      continue;
    }
    const bool real = TypeBefore(epilogue, kernel_.accumulator(), i) == Dtype::kF32;
    const VarId y =
        real ? Vector("y", Dtype::kF32, &real_operand_) : Vector("z", Dtype::kS32, &integer_operand_);
    LoadOperand(step, y);
    if (!IsFused(epilogue, kernel_.accumulator(), i)) {
      builder_.Do(Binary{BinaryOf(step.op), x, x, y});
      continue;
    }
    const EpilogueStep& next = epilogue.steps[static_cast<size_t>(++i)];
    if (addend == kNoVar) addend = Vector("x1", Dtype::kF32, &addend_);
    LoadOperand(next, addend);
    builder_.Do(MultiplyAdd{addend, x, y, next.op == EpilogueOp::kSub});
    std::swap(x, addend);
  }
  return Stored(x);
}

Address EpilogueCode::AddressOf(size_t argument, int row, int64_t column) const {
  const EpilogueArgument& info = kernel_.arguments[argument];
  return At(arguments_[argument], row * info.row_stride + (info.columns ? column : 0));
}

void EpilogueCode::LoadOperand(const EpilogueStep& step, VarId to) {
  if (!step.HasOperand()) return builder_.Do(Fill{to, step.number});
  const size_t argument = next_argument_++;
  const Address address = AddressOf(argument, place_.row, place_.column);
  if (kernel_.arguments[argument].columns)
    builder_.Do(Load{to, address, place_.count});
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
