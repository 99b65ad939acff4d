#include "spec/epilogue.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

#include "spec/cat.h"
#include "spec/check.h"
#include "spec/element.h"
#include "spec/uncertain_math.h"

namespace kirsch {
namespace {

constexpr double kUnit = 0x1p-24;  // of f32: half the distance of 1 and the next number
constexpr double kSubnormal = 0x1p-149;

// What rounding x and what x should have been adds, if they are not the same.
Uncertain Rounded(double value, double error) {
  const double rounded = static_cast<float>(value);
  if (error > 0 && std::abs(value) + error > std::numeric_limits<float>::max()) return {value, HUGE_VAL};
  if (error > 0) error += 2 * kUnit * (std::abs(value) + error) + kSubnormal;
  return {rounded, error};
}

// Modulo 2^32.
Uncertain Wrapped(int64_t value) {
  return {static_cast<double>(static_cast<int32_t>(static_cast<uint32_t>(value))), 0};
}

Uncertain ApplyToFloat(EpilogueOp op, Uncertain x, double y) {
  switch (op) {
    case EpilogueOp::kAdd:
      return Rounded(x.value + y, x.error);
    case EpilogueOp::kSub:
      return Rounded(x.value - y, x.error);
    case EpilogueOp::kMul:
      return Rounded(x.value * y, x.error * std::abs(y));
    case EpilogueOp::kMax:
      return {x.value > y ? x.value : y, x.error};
    case EpilogueOp::kMin:
      return {x.value < y ? x.value : y, x.error};
    case EpilogueOp::kExp:
      return Exp(x);
    case EpilogueOp::kTanh:
      return Tanh(x);
    case EpilogueOp::kErf:
      return Erf(x);
    case EpilogueOp::kSigmoid:
      return Sigmoid(x);
    case EpilogueOp::kSilu:
      return Silu(x);
    case EpilogueOp::kGelu:
      return Gelu(x);
    case EpilogueOp::kGeluTanh:
      return GeluTanh(x);
    case EpilogueOp::kLeakyRelu:
      return LeakyRelu(x, {y, 0});
    case EpilogueOp::kF32:
      break;
  }
  KIRSCH_CHECK(false && "an f32 is one already");
}

Uncertain ApplyToInteger(EpilogueOp op, int64_t x, int64_t y) {
  switch (op) {
    case EpilogueOp::kAdd:
      return Wrapped(x + y);
    case EpilogueOp::kSub:
      return Wrapped(x - y);
    case EpilogueOp::kMul:
      return Wrapped(x * y);
    case EpilogueOp::kMax:
      return Wrapped(std::max(x, y));
    case EpilogueOp::kMin:
      return Wrapped(std::min(x, y));
    case EpilogueOp::kF32:
      return {static_cast<float>(x), 0};
    default:
      break;
  }
  KIRSCH_CHECK(false && "functions are of f32");
}

}  // namespace

Dtype TypeBefore(const Epilogue& epilogue, Dtype sum, int step) {
  for (int i = 0; i < step; ++i)
    if (epilogue.steps[static_cast<size_t>(i)].op == EpilogueOp::kF32) return Dtype::kF32;
  return sum;
}

bool IsFused(const Epilogue& epilogue, Dtype sum, int step) {
  if (step + 1 >= epilogue.count || TypeBefore(epilogue, sum, step) != Dtype::kF32) return false;
  const EpilogueOp op = epilogue.steps[static_cast<size_t>(step)].op,
                   next = epilogue.steps[static_cast<size_t>(step) + 1].op;
  return op == EpilogueOp::kMul && (next == EpilogueOp::kAdd || next == EpilogueOp::kSub);
}

Epilogue Transposed(const Epilogue& epilogue) {
  Epilogue transposed = epilogue;
  for (EpilogueStep& step : transposed.steps) {
    if (step.operand == EpilogueOperand::kRows)
      step.operand = EpilogueOperand::kColumns;
    else if (step.operand == EpilogueOperand::kColumns)
      step.operand = EpilogueOperand::kRows;
  }
  return transposed;
}

std::string PrintEpilogue(const Epilogue& epilogue, Dtype sum) {
  std::string text;
  for (int i = 0; i < epilogue.count; ++i) {
    const EpilogueStep& step = epilogue.steps[static_cast<size_t>(i)];
    if (i > 0) text += ",";
    if (step.op == EpilogueOp::kMax && step.operand == EpilogueOperand::kNumber && step.number == 0) {
      text += "relu";
      continue;
    }
    Append(&text, Name(step.op));
    if (step.HasOperand()) Append(&text, ":", kEpilogueOperands[static_cast<size_t>(step.operand)].name);
    if (step.operand != EpilogueOperand::kNumber) continue;
    // The fewest digits that stand for the number.
    char digits[32];
    const auto end = TypeBefore(epilogue, sum, i) == Dtype::kF32
                         ? std::to_chars(digits, digits + sizeof(digits), std::bit_cast<float>(step.number))
                         : std::to_chars(digits, digits + sizeof(digits), static_cast<int32_t>(step.number));
    Append(&text, ":", std::string_view(digits, static_cast<size_t>(end.ptr - digits)));
  }
  return text;
}

double NumberOf(const EpilogueStep& step, Dtype type) {
  if (step.operand == EpilogueOperand::kNone) return 0;
  return type == Dtype::kF32 ? std::bit_cast<float>(step.number)
                             : static_cast<double>(static_cast<int32_t>(step.number));
}

Uncertain ApplyStep(EpilogueOp op, Dtype type, Uncertain x, double y) {
  if (std::isinf(x.error)) return x;
  if (type == Dtype::kF32) return ApplyToFloat(op, Rounded(x.value, x.error), y);
  return ApplyToInteger(op, static_cast<int64_t>(x.value), static_cast<int64_t>(y));
}

Uncertain ApplyFused(EpilogueOp next, Uncertain x, double factor, double addend) {
  if (std::isinf(x.error)) return x;
  const Uncertain first = Rounded(x.value, x.error);
  const double signed_addend = next == EpilogueOp::kSub ? -addend : addend;
  const double value = std::fma(static_cast<float>(first.value), static_cast<float>(factor),
                                static_cast<float>(signed_addend));
  return Rounded(value, first.error * std::abs(factor));
}

Uncertain StoredAs(Dtype out, Dtype type, Uncertain x) {
  if (std::isinf(x.error)) return x;
  if (out == Dtype::kF32) return Rounded(x.value, x.error);
  if (out == Dtype::kBf16) {
    const double stored = Widen(ToBf16(static_cast<float>(x.value)));
    const double error = x.error > 0 ? x.error + 2 * 0x1p-8 * (std::abs(x.value) + x.error) + 0x1p-133 : 0;
    return {stored, error};
  }
  const auto least = static_cast<double>(LeastOf(out)), most = static_cast<double>(MostOf(out));
  double whole = type == Dtype::kF32 ? std::nearbyint(static_cast<float>(x.value)) : x.value;
  if (std::isnan(whole)) whole = least;
  return {std::clamp(whole, least, most), x.error > 0 ? std::floor(x.error + 1) : 0};
}

}  // namespace kirsch
