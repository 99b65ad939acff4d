#include "codegen/function_code.h"

#include <bit>

#include "absl/strings/str_cat.h"
#include "spec/composed_functions.h"

namespace kirsch {

VarId FunctionCode::Apply(EpilogueOp op, VarId x, VarId y) { return ComposeFunction(*this, op, x, y); }

VarId FunctionCode::Next() {
  if (taken_ == vectors_.size())
    vectors_.push_back(builder_.Vector(absl::StrCat("f", taken_), Dtype::kF32, lanes_));
  return vectors_[taken_++];
}

VarId FunctionCode::Number(double number) {
  return builder_.Filled(Dtype::kF32, lanes_, std::bit_cast<uint32_t>(static_cast<float>(number)));
}

VarId FunctionCode::Do(BinaryOp op, VarId a, VarId b) {
  const VarId to = Next();
  builder_.Do(Binary{op, to, a, b});
  return to;
}

VarId FunctionCode::Do(RowOp function, VarId x) {
  const VarId to = Next();
  math_.Compute(function, to, x);
  return to;
}

VarId FunctionCode::MulAdd(VarId a, VarId b, VarId c) {
  const VarId to = Next();
  builder_.Do(Fma{to, a, b, c});
  return to;
}

}  // namespace kirsch
