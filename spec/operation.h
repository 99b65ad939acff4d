// SPDX-License-Identifier: Apache-2.0
// Lists the operations, a row of a table each, and composes those on numbers. All that is known of one is
// here, and follows elsewhere: its words in texts, its meaning and error, its code, cost and references.
#ifndef KIRSCH_SPEC_OPERATION_H_
#define KIRSCH_SPEC_OPERATION_H_

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "spec/check.h"
#include "spec/composition.h"

namespace kirsch {

enum class Operation : uint8_t {
  // Steps of epilogues (and more). The table's file format numbers them as they come.
  kAdd,
  kSub,
  kMul,
  kMax,
  kMin,
  kF32,  // the s32 x as an f32, to nearest
  kExp,
  kTanh,
  kErf,
  kSigmoid,
  kSilu,
  kGelu,
  kGeluTanh,
  kLeakyRelu,
  kHardswish,
  kElu,
  kSoftplus,
  kMaxNum,  // as kMax and kMin, but y where either is no number
  kMinNum,
  // Others on numbers.
  kDiv,
  kNeg,
  kSqrt,
  kAbs,
  kRelu,
  kRsqrt,
  kFloor,
  kCeil,
  kRound,  // to the nearest integer, ties to even
  kSign,   // -1 or 1; zeros and NaNs are themselves
  // 1 or 0; 0 where either is a NaN.
  kLess,
  kLessEqual,
  kEqual,
  kSelect,  // the second argument where the first is not 0, as no NaN is; else the third
  kLog,
  kLog1p,  // log(1 + x)
  kExpm1,  // exp(x) - 1
  kSin,    // this and the next one: NaN from kMostSine on
  kCos,
  kPow,
  // On tensors.
  kInput,
  kNumber,  // a constant; in row programs, too
  kMatmul,
  kConv1d,
  kConv2d,
  kConv3d,
  kConv1dTranspose,  // the gradient of a convolution by its image
  kConv2dTranspose,
  kConv3dTranspose,
  kTranspose,
  kCast,
  kReduceSum,
  kReduceMax,  // no number where an element is none
  kReduceMean,
  kSoftmax,
  kLayernorm,
  kRmsnorm,
  kSlice,
  kConcat,
  kPad,
  kWindowMax,  // no number where an element is none
  kWindowSum,
  kCumsum,     // the sum of the elements up to each
  kTake,       // at the indices that the second argument has
  kPermute,    // axes in another order
  kReshape,    // the same elements, row by row
  kBroadcast,  // repeated as elementwise operations do
  kArgmax,     // the index of the first that is largest; of the first that is no number, if there is one
  kArgmin,
  // On rows.
  kLoad,     // the element of an input
  kSum,      // of the row's elements: one value for the row
  kMaximum,  // of the row's elements; those that are no numbers are passed over
  kIndex,    // the element's place in the row, from 0
};

enum class OperationKind : uint8_t {
  kLeaf,         // no function of the kernel language
  kContraction,  // sums of products, of the types that spec/matmul_types.h has
  kTranspose,    // of the last two axes
  kCast,         // to nearest, ties to even; to integers saturated
  // The smaller tensors are repeated as NumPy does. All are computed in the type of sums (AccumulatorOf).
  kElementwise,
  kReduction,  // along axes, which stay with the size 1
  kRowwise,    // along the last axis
  kAlongAxis,  // along one axis: copies of parts, windows, running sums
  kRearrange,  // copies: the same elements in other places
};

// How long an operation on numbers takes.
enum class LatencyClass : uint8_t {
  kInstruction,
  kFewInstructions,  // ComposeArithmetic; row programs have these one by one
  kFunction,         // dozens; it is not exact
};

// A number that an operation has beside its arguments, and the one that it has where the text says none.
struct NumberOption {
  std::string_view name;
  double usual = 0;
};

// The step of an epilogue that another operation is the same as, and that step's number.
struct Equivalent {
  Operation op;
  float number;
};

// The exact result, in double, of x and y.
using Meaning = double (*)(double x, double y);
using TernaryMeaning = double (*)(double x, double y, double z);

// A row of the table.
struct OperationInfo {
  Operation op;
  std::string_view name;  // in texts
  OperationKind kind = OperationKind::kElementwise;
  int arguments = 1;
  size_t image_axes = 0;     // of a convolution's images, beside channels; of others 0
  bool transposed = false;   // of a convolution: each pixel is added to the output, through all taps
  bool integers = false;     // elementwise: on integers, too
  NumberOption option = {};  // its name is empty: there is none
  std::optional<Equivalent> equivalent = {};
  LatencyClass latency = LatencyClass::kInstruction;
  // How far an f32 result is off at most, in units of the distance of the f32s around the exact one. Of an
  // operation that reduces it is for one addition. docs/exactness.md promises it.
  double ulps = 0;
  bool reduces = false;  // a row
  int row_code = -1;     // in the hashes that row programs' procedures are named by; -1: not in row programs
  // For operations on numbers: the exact result for x and y, where y is the second argument or the option.
  Meaning meaning = nullptr;
  TernaryMeaning ternary = nullptr;  // of three arguments: instead of `meaning`
  // The same in C: $x, $y and $z are of the type `real`, and M(f) is f of math.h for that type.
  const char* c = "";

  // How many numbers it takes. In an epilogue the second one is the step's operand.
  constexpr int operands() const { return arguments + (option.name.empty() ? 0 : 1); }
};

// From here on, sin and cos are NaNs: their compositions have too few digits of pi for larger angles.
inline constexpr double kMostSine = 0x1p20;

namespace internal {

// x * sigmoid(u), u having the sign of x. Far below 0 it is x * exp(u), whose second factor may be subnormal.
inline double TimesSigmoid(double x, double u) {
  if (!(u < -700)) return x / (1 + std::exp(-u));
  const double root = std::exp(u / 2);
  return u < -800 ? -0.0 : x * root * root;
}

inline constexpr double kRounded = 0.5;  // to nearest

// Make rows of operations that are much alike. ExactRow: of floats, without roundings.
constexpr OperationInfo ArithmeticRow(Operation op, std::string_view name, int row_code, const char* c,
                                      Meaning meaning) {
  return {.op = op,
          .name = name,
          .arguments = 2,
          .integers = true,
          .ulps = kRounded,
          .row_code = row_code,
          .meaning = meaning,
          .c = c};
}
constexpr OperationInfo FunctionRow(Operation op, std::string_view name, int row_code, double ulps,
                                    const char* c, Meaning meaning, NumberOption option = {}) {
  return {.op = op,
          .name = name,
          .option = option,
          .latency = LatencyClass::kFunction,
          .ulps = ulps,
          .row_code = row_code,
          .meaning = meaning,
          .c = c};
}
constexpr OperationInfo InstructionsRow(Operation op, std::string_view name, double ulps, const char* c,
                                        Meaning meaning, NumberOption option = {}) {
  return {.op = op,
          .name = name,
          .option = option,
          .latency = LatencyClass::kFewInstructions,
          .ulps = ulps,
          .meaning = meaning,
          .c = c};
}

constexpr OperationInfo ExactRow(Operation op, std::string_view name, int row_code, const char* c,
                                 Meaning meaning) {
  return {.op = op, .name = name, .row_code = row_code, .meaning = meaning, .c = c};
}

constexpr OperationInfo ComparisonRow(Operation op, std::string_view name, int row_code, const char* c,
                                      Meaning meaning) {
  return {.op = op, .name = name, .arguments = 2, .row_code = row_code, .meaning = meaning, .c = c};
}

constexpr OperationInfo TransposedConvolutionRow(Operation op, std::string_view name, size_t axes) {
  return {.op = op,
          .name = name,
          .kind = OperationKind::kContraction,
          .arguments = 2,
          .image_axes = axes,
          .transposed = true};
}

}  // namespace internal

// The table, in the order of the enum, which the assertion below checks.
inline constexpr auto kOperations = [] {
  using enum Operation;
  using namespace internal;
  using Kind = OperationKind;
  return std::to_array<OperationInfo>({
      ArithmeticRow(kAdd, "add", 2, "($x + $y)", [](double x, double y) { return x + y; }),
      ArithmeticRow(kSub, "sub", 3, "($x - $y)", [](double x, double y) { return x - y; }),
      ArithmeticRow(kMul, "mul", 4, "($x * $y)", [](double x, double y) { return x * y; }),
      // No number where either is none.
      ArithmeticRow(kMax, "max", 23, "($x <= $y ? $y : $x > $y ? $x : $x + $y)",
                    [](double x, double y) { return x <= y  ? y
                                                    : x > y ? x
                                                            : x + y; }),
      ArithmeticRow(kMin, "min", 24, "($x >= $y ? $y : $x < $y ? $x : $x + $y)",
                    [](double x, double y) { return x >= y  ? y
                                                    : x < y ? x
                                                            : x + y; }),
      {.op = kF32, .name = "f32", .kind = Kind::kLeaf, .integers = true, .row_code = 22},
      FunctionRow(kExp, "exp", 10, 1, "M(exp)($x)", [](double x, double) { return std::exp(x); }),
      FunctionRow(kTanh, "tanh", 11, 2, "M(tanh)($x)", [](double x, double) { return std::tanh(x); }),
      FunctionRow(kErf, "erf", 12, 2, "M(erf)($x)", [](double x, double) { return std::erf(x); }),
      FunctionRow(kSigmoid, "sigmoid", 13, 2.5, "1 / (1 + M(exp)(-$x))",
                  [](double x, double) { return x < -700 ? std::exp(x) : 1 / (1 + std::exp(-x)); }),
      // x * sigmoid(x)
      FunctionRow(kSilu, "silu", 19, 4, "$x / (1 + M(exp)(-$x))",
                  [](double x, double) { return TimesSigmoid(x, x); }),
      // x / 2 * (1 + erf(x / sqrt(2))): x times the share of a normal distribution below it
      FunctionRow(kGelu, "gelu", 17, 6, "$x / 2 * (1 + M(erf)($x * (real)0.70710678118654752))",
                  [](double x, double) { return x < -50 ? -0.0 : x / 2 * std::erfc(-x / std::sqrt(2.0)); }),
      // x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))
      FunctionRow(
          kGeluTanh, "gelu_tanh", 18, 5,  // more below 0
          "$x / 2 * (1 + M(tanh)((real)0.79788456080286536 * ($x + (real)0.044715 * $x * $x * $x)))",
          [](double x, double) { return TimesSigmoid(x, std::sqrt(8 / M_PI) * (x + 0.044715 * x * x * x)); }),
      InstructionsRow(kLeakyRelu, "leaky_relu", kRounded, "($x > 0 ? $x : $y * $x)",
                      [](double x, double y) { return x > 0 ? x : y * x; }, {"slope", 0.01}),
      // x * min(max(x + 3, 0), 6) / 6
      InstructionsRow(kHardswish, "hardswish", 3, "$x * ($x < -3 ? 0 : $x > 3 ? 1 : ($x + 3) / 6)",
                      [](double x, double) { return x < -3 ? -0.0 : x * std::min(x + 3, 6.0) / 6; }),
      FunctionRow(kElu, "elu", 20, 2, "($x > 0 ? $x : $y * (M(exp)($x) - 1))",
                  [](double x, double y) { return x > 0 ? x : y * std::expm1(x); }, {"alpha", 1}),
      // log(1 + exp(x))
      FunctionRow(kSoftplus, "softplus", 21, 2.5, "($x > 0 ? $x : 0) + M(log1p)(M(exp)($x > 0 ? -$x : $x))",
                  [](double x, double) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }),
      ArithmeticRow(kMaxNum, "maxnum", 6, "($x > $y ? $x : $y)",
                    [](double x, double y) { return x > y ? x : y; }),
      ArithmeticRow(kMinNum, "minnum", 7, "($x < $y ? $x : $y)",
                    [](double x, double y) { return x < y ? x : y; }),

      {.op = kDiv,
       .name = "div",
       .arguments = 2,
       .ulps = kRounded,
       .row_code = 5,
       .meaning = [](double x, double y) { return x / y; },
       .c = "($x / $y)"},
      {.op = kNeg,
       .name = "neg",
       .integers = true,
       .equivalent = Equivalent{kMul, -1},
       .row_code = 8,
       .meaning = [](double x, double) { return -x; },
       .c = "(-$x)"},
      {.op = kSqrt,
       .name = "sqrt",
       .ulps = kRounded,
       .row_code = 9,
       .meaning = [](double x, double) { return std::sqrt(x); },
       .c = "M(sqrt)($x)"},
      ExactRow(kAbs, "abs", 16, "M(fabs)($x)", [](double x, double) { return std::abs(x); }),
      {.op = kRelu,
       .name = "relu",
       .integers = true,
       .equivalent = Equivalent{kMax, 0},
       .latency = LatencyClass::kFewInstructions,
       .ulps = kRounded,
       .meaning = [](double x, double) { return x < 0 ? 0 : x; },
       .c = "($x < 0 ? 0 : $x)"},
      FunctionRow(kRsqrt, "rsqrt", 26, 1.5, "1 / M(sqrt)($x)",
                  [](double x, double) { return 1 / std::sqrt(x); }),
      ExactRow(kFloor, "floor", 27, "M(floor)($x)", [](double x, double) { return std::floor(x); }),
      ExactRow(kCeil, "ceil", 28, "M(ceil)($x)", [](double x, double) { return std::ceil(x); }),
      ExactRow(kRound, "round", 29, "M(rint)($x)", [](double x, double) { return std::nearbyint(x); }),
      ExactRow(kSign, "sign", 30, "($x > 0 ? 1 : $x < 0 ? -1 : $x)",
               [](double x, double) { return x > 0   ? 1
                                             : x < 0 ? -1
                                                     : x; }),
      ComparisonRow(kLess, "less", 31, "($x < $y)", [](double x, double y) { return x < y ? 1.0 : 0.0; }),
      ComparisonRow(kLessEqual, "less_equal", 32, "($x <= $y)",
                    [](double x, double y) { return x <= y ? 1.0 : 0.0; }),
      ComparisonRow(kEqual, "equal", 33, "($x == $y)", [](double x, double y) { return x == y ? 1.0 : 0.0; }),
      {.op = kSelect,
       .name = "select",
       .arguments = 3,
       .row_code = 34,
       .ternary = [](double x, double y, double z) { return x != 0 ? y : z; },
       .c = "($x != 0 ? $y : $z)"},
      FunctionRow(kLog, "log", 35, 1, "M(log)($x)", [](double x, double) { return std::log(x); }),
      FunctionRow(kLog1p, "log1p", 36, 1, "M(log1p)($x)", [](double x, double) { return std::log1p(x); }),
      FunctionRow(kExpm1, "expm1", 37, 2, "M(expm1)($x)", [](double x, double) { return std::expm1(x); }),

      FunctionRow(kSin, "sin", 38, 2.5, "(M(fabs)($x) < 1048576 ? M(sin)($x) : (real)NAN)",
                  [](double x, double) { return std::abs(x) < kMostSine ? std::sin(x) : NAN; }),
      FunctionRow(kCos, "cos", 39, 2.5, "(M(fabs)($x) < 1048576 ? M(cos)($x) : (real)NAN)",
                  [](double x, double) { return std::abs(x) < kMostSine ? std::cos(x) : NAN; }),

      {.op = kPow,
       .name = "pow",
       .arguments = 2,
       .latency = LatencyClass::kFunction,
       .ulps = 4,
       .row_code = 40,
       .meaning = [](double x, double y) { return std::pow(x, y); },
       .c = "M(pow)($x, $y)"},

      {.op = kInput, .name = "input", .kind = Kind::kLeaf, .arguments = 0},
      {.op = kNumber, .name = "number", .kind = Kind::kLeaf, .arguments = 0, .row_code = 1},
      {.op = kMatmul, .name = "matmul", .kind = Kind::kContraction, .arguments = 2},  // or batches of them
      {.op = kConv1d, .name = "conv1d", .kind = Kind::kContraction, .arguments = 2, .image_axes = 1},
      {.op = kConv2d, .name = "conv2d", .kind = Kind::kContraction, .arguments = 2, .image_axes = 2},
      {.op = kConv3d, .name = "conv3d", .kind = Kind::kContraction, .arguments = 2, .image_axes = 3},
      TransposedConvolutionRow(kConv1dTranspose, "conv1d_transpose", 1),
      TransposedConvolutionRow(kConv2dTranspose, "conv2d_transpose", 2),
      TransposedConvolutionRow(kConv3dTranspose, "conv3d_transpose", 3),
      {.op = kTranspose, .name = "transpose", .kind = Kind::kTranspose},
      {.op = kCast, .name = "cast", .kind = Kind::kCast},
      {.op = kReduceSum, .name = "reduce_sum", .kind = Kind::kReduction},
      {.op = kReduceMax, .name = "reduce_max", .kind = Kind::kReduction},
      {.op = kReduceMean, .name = "reduce_mean", .kind = Kind::kReduction},
      {.op = kSoftmax, .name = "softmax", .kind = Kind::kRowwise},  // exp(x - max) / sum of these
      // (x - mean) / sqrt(mean of (x - mean)^2 + eps) * scale + shift
      {.op = kLayernorm,
       .name = "layernorm",
       .kind = Kind::kRowwise,
       .arguments = 3,
       .option = {"eps", 1e-5}},
      // x / sqrt(mean of x^2 + eps) * scale
      {.op = kRmsnorm, .name = "rmsnorm", .kind = Kind::kRowwise, .arguments = 2, .option = {"eps", 1e-5}},
      {.op = kSlice, .name = "slice", .kind = Kind::kAlongAxis},
      {.op = kConcat, .name = "concat", .kind = Kind::kAlongAxis, .arguments = 2},
      {.op = kPad, .name = "pad", .kind = Kind::kAlongAxis, .option = {"value", 0}},
      {.op = kWindowMax, .name = "window_max", .kind = Kind::kAlongAxis},
      {.op = kWindowSum, .name = "window_sum", .kind = Kind::kAlongAxis},
      {.op = kCumsum, .name = "cumsum", .kind = Kind::kAlongAxis},
      {.op = kTake, .name = "take", .kind = Kind::kAlongAxis, .arguments = 2},
      {.op = kPermute, .name = "permute", .kind = Kind::kRearrange},
      {.op = kReshape, .name = "reshape", .kind = Kind::kRearrange},
      {.op = kBroadcast, .name = "broadcast", .kind = Kind::kRearrange},
      {.op = kArgmax, .name = "argmax", .kind = Kind::kReduction},
      {.op = kArgmin, .name = "argmin", .kind = Kind::kReduction},

      {.op = kLoad, .name = "load", .kind = Kind::kLeaf, .arguments = 0, .row_code = 0},
      {.op = kSum, .name = "sum", .kind = Kind::kLeaf, .ulps = kRounded, .reduces = true, .row_code = 14},
      {.op = kMaximum, .name = "maximum", .kind = Kind::kLeaf, .reduces = true, .row_code = 15},
      {.op = kIndex, .name = "index", .kind = Kind::kLeaf, .arguments = 0, .row_code = 41},
  });
}();

static_assert([] {
  for (size_t i = 0; i < kOperations.size(); ++i)
    if (kOperations[i].op != static_cast<Operation>(i)) return false;
  return true;
}());

constexpr const OperationInfo& Info(Operation op) { return kOperations[static_cast<size_t>(op)]; }
constexpr std::string_view Name(Operation op) { return Info(op).name; }
constexpr bool IsConvolution(Operation op) { return Info(op).image_axes > 0 && !Info(op).transposed; }
constexpr bool IsTransposedConvolution(Operation op) { return Info(op).transposed; }

// What an operation on numbers, whatever its arguments, means for the first of these.
constexpr double MeaningOf(Operation op, double x, double y, double z) {
  return Info(op).ternary != nullptr ? Info(op).ternary(x, y, z) : Info(op).meaning(x, y);
}

inline constexpr size_t kStepOperations = static_cast<size_t>(Operation::kDiv);
constexpr bool IsStep(Operation op) { return static_cast<size_t>(op) < kStepOperations; }

// Is it made of other operations, by spec/composition.h? max and min, which are three instructions, are not.
constexpr bool IsComposed(Operation op) { return Info(op).latency != LatencyClass::kInstruction; }

// Is the result one of the arguments, exactly?
constexpr bool IsChoice(Operation op) {
  using enum Operation;
  return op == kMax || op == kMin || op == kMaxNum || op == kMinNum;
}

// Is there such an operation of f64? Functions whose compositions are for f32 alone have none.
constexpr bool IsOfF64(Operation op) {
  using enum Operation;
  return Info(op).latency != LatencyClass::kFunction || op == kRsqrt || op == kExp || op == kSigmoid ||
         op == kSilu;
}

constexpr bool IsWindow(Operation op) { return op == Operation::kWindowMax || op == Operation::kWindowSum; }

// Is the result the place of an element, an s32?
constexpr bool IsPlace(Operation op) { return op == Operation::kArgmax || op == Operation::kArgmin; }

constexpr bool IsWave(Operation op) { return op == Operation::kSin || op == Operation::kCos; }

constexpr bool IsComparison(Operation op) {
  using enum Operation;
  return op == kLess || op == kLessEqual || op == kEqual;
}

// Is it one of those that are exact, and only rise with their argument?
constexpr bool IsStaircase(Operation op) {
  using enum Operation;
  return op == kFloor || op == kCeil || op == kRound || op == kSign;
}

// The operation that does for `op` where no argument can be a NaN, or y alone: a single instruction. An
// argument that may be a NaN has to be y.
constexpr Operation OfNumbers(Operation op) {
  return op == Operation::kMax ? Operation::kMaxNum : op == Operation::kMin ? Operation::kMinNum : op;
}

// Composes those operations whose parts integers have, too. All that `Math` needs is Number, Add, Sub, Mul,
// Max, Min, and, for floats, Fma and EitherNan. (Floats are negated by their sign: Compose.) `Max` and `Min`
// are y where either is a NaN, so an argument that may be one comes second.
template <typename Math, typename Value>
Value ComposeArithmetic(Math& math, Operation op, Value x, Value y) {
  switch (op) {
    case Operation::kAdd:
      return math.Add(x, y);
    case Operation::kSub:
      return math.Sub(x, y);
    case Operation::kMul:
      return math.Mul(x, y);
    case Operation::kMax:
      return math.EitherNan(math.Max(x, y), math.Max(y, x));
    case Operation::kMin:
      return math.EitherNan(math.Min(x, y), math.Min(y, x));
    case Operation::kMaxNum:
      return math.Max(x, y);
    case Operation::kMinNum:
      return math.Min(x, y);
    case Operation::kNeg:
      return math.Sub(math.Number(0), x);
    case Operation::kRelu:
      return math.Max(math.Number(0), x);
    case Operation::kLeakyRelu: {
      // y * min(x, 0) + max(x, 0), with -0 for 0, so that a zero keeps its sign.
      const Value zero = math.Number(-0.0f), negative = math.Min(zero, x);
      return math.Fma(negative, y, math.Max(x, zero));
    }
    case Operation::kHardswish: {
      // Any x below -3 is as good as -3, and so no infinity meets a 0. An FMA as in TimesSigmoid.
      const Value bounded = math.Max(math.Number(-3), x);
      const Value gate = math.Min(math.Number(6), math.Add(bounded, math.Number(3)));
      return math.Fma(math.Mul(gate, math.Number(1.0 / 6)), bounded, math.Number(-0.0f));
    }
    default:
      break;
  }
  KIRSCH_BUG("no arithmetic");
}

namespace composition {

// Below these, x * sigmoid(x) and x * sigmoid(u) of gelu_tanh are half of the least subnormal at most. u is
// no less than the last.
inline constexpr float kLeastSilu = -109, kLeastGeluTanh = -11, kLeastRaised = -113;

// The numbers of x * sigmoid(u) in a type of floats; kRaise and kLower as in spec/composition.h.
template <typename Real>
struct SigmoidNumbers;
template <>
struct SigmoidNumbers<float> {
  static constexpr float kLeastRaised = composition::kLeastRaised, kLower = composition::kLower;
  static constexpr int kRaise = composition::kRaise;
};
template <>
struct SigmoidNumbers<double> {
  static constexpr double kLeastRaised = -770, kLower = 0x1p-100;
  static constexpr int kRaise = 100;
};
inline constexpr double kLeastWideSilu = -753;

// x * sigmoid(u), where u has the sign of x and is not below kLeastRaised if it is negative. As in Sigmoid
// (composition.h), but e is raised where x < 0, as the result may be subnormal.
template <typename Real = float, typename Math, typename Value>
Value TimesSigmoid(Math& math, Value x, Value u) {
  constexpr Real kLower = SigmoidNumbers<Real>::kLower;
  Value e = math.Max(math.Number(SigmoidNumbers<Real>::kLeastRaised), math.MinusAbs(u));
  e = RaisedExp<Real>(math, e, SigmoidNumbers<Real>::kRaise);
  const Value denominator = math.Fma(e, math.Number(kLower), math.Number(1));
  const Value numerator = math.Select(Comparison::kLess, x, math.Number(-0x1p-60f), e, math.Number(1));
  const Value lower =
      math.Select(Comparison::kLess, x, math.Number(-0x1p-60f), math.Number(kLower), math.Number(1));
  // An FMA, since GCC would make one of this product and of a sum that is its only use.
  return math.Fma(math.Mul(Quotient(math, numerator, denominator), x), lower, math.Number(-0.0f));
}

template <typename Math, typename Value>
Value Silu(Math& math, Value x) {
  if (math.IsWide()) {
    const Value wide = math.Max(math.Number(kLeastWideSilu), x);
    return TimesSigmoid<double>(math, wide, wide);
  }
  const Value bounded = math.Max(math.Number(kLeastSilu), x);
  return TimesSigmoid(math, bounded, bounded);
}

// x * sigmoid(x * (1.5957691 + 0.07135482 * x^2))
template <typename Math, typename Value>
Value GeluTanh(Math& math, Value x) {
  const Value bounded = math.Max(math.Number(kLeastGeluTanh), x);
  const Value square = math.Mul(bounded, bounded);
  const Value slope = math.Fma(square, math.Number(0x1.2444f2p-4f), math.Number(0x1.988454p+0f));
  return TimesSigmoid(math, bounded, math.Mul(slope, bounded));
}

// exp(z^2 / 2) * erfc(z / sqrt(2)) / 2 = P(z) / Q(z), 0 <= z <= 14.3: 0.6. Both polynomials have positive
// coefficients, so that nothing cancels. From kMostGelu on, gelu is half of the least subnormal at most.
inline constexpr std::array<float, 5> kGeluAbove = {0x1.0abbe2p-8f, 0x1.4a72d8p-5f, 0x1.75861ap-3f,
                                                    0x1.bfae5p-2f, 0.5f};
inline constexpr std::array<float, 6> kGeluBelow = {0x1.4e4c1ap-7f, 0x1.9e2eecp-4f, 0x1.de6e7ep-2f,
                                                    0x1.32f41cp+0f, 0x1.ac1956p+0f, 1};
inline constexpr float kMostGelu = 14.37f;

// max(x, 0) - |x| * erfc(|x| / sqrt(2)) / 2. Where x < 0 there is nothing to cancel, and elsewhere the second
// term is the smaller half. z^2 / 2 is rounded; the rest of it becomes a factor.
template <typename Math, typename Value>
Value Gelu(Math& math, Value x) {
  const Value positive = math.Max(math.Number(-0.0f), x);
  const Value z = math.Min(math.Number(kMostGelu), math.Abs(x));
  const auto square = math.Product(math.Mul(z, math.Number(-0.5f)), z);
  Value e = RaisedExp(math, square.high, kRaise);
  e = math.Fma(e, square.low, e);
  const Value above = Polynomial(math, z, kGeluAbove);
  const Value below = Polynomial(math, z, kGeluBelow);
  const Value share = math.Div(math.Mul(math.Mul(e, z), above), below);
  return math.FmaNeg(share, math.Number(kLower), positive);
}

// tanh(x) = x + x^3 * P(x^2), x <= 0.56: 0.05.
inline constexpr std::array<float, 5> kTanh = {-0x1.95cf3cp-8f, 0x1.583552p-6f, -0x1.b906d2p-5f,
                                               0x1.110c5ep-3f, -0x1.555548p-2f};
inline constexpr float kSmallTanh = 0.55f;
inline constexpr float kMostTanh = 10;  // from there on it is 1

// (1 - e) / (1 + e) with e = exp(-2 |x|), or a polynomial where that would cancel.
template <typename Math, typename Value>
Value Tanh(Math& math, Value x) {
  const Value z = math.Abs(x), square = math.Mul(z, z);
  const Value polynomial = Polynomial(math, square, kTanh);
  const Value small = math.Fma(polynomial, math.Mul(square, z), z);
  const Value bounded = math.Min(math.Number(kMostTanh), z);
  const Value e = RaisedExp(math, math.Mul(bounded, math.Number(-2)), 0);
  const Value denominator = math.Add(e, math.Number(1));
  const Value quotient = Quotient(math, math.Sub(math.Number(1), e), denominator);
  return math.WithSignOf(x, math.Select(Comparison::kLess, math.Number(kSmallTanh), z, quotient, small));
}

// erf(x) = x + x * P(x^2), x <= 0.93: 0.02.
inline constexpr std::array<float, 7> kErf = {0x1.4f6738p-14f, -0x1.a60a2ap-11f, 0x1.544a1ap-8f,
                                              -0x1.b8011ap-6f, 0x1.ce2d64p-4f,   -0x1.81274p-2f,
                                              0x1.06eba8p-3f};
// erf(x) = 1 - exp(x * P(x)), 0.92 <= x <= 3.95: 0.06.
inline constexpr std::array<float, 6> kErfTail = {0x1.c0c552p-13f, -0x1.a5654ep-9f, 0x1.7707f4p-6f,
                                                  -0x1.af273cp-4f, -0x1.457cdap-1f, -0x1.20e652p+0f};
inline constexpr float kSmallErf = 0.925f;
inline constexpr float kMostErf = 3.95f;  // from there on it is 1

// 1 - exp(a polynomial), or a polynomial where that would cancel.
template <typename Math, typename Value>
Value Erf(Math& math, Value x) {
  const Value z = math.Abs(x), square = math.Mul(z, z);
  const Value small = math.Fma(Polynomial(math, square, kErf), z, z);
  const Value bounded = math.Min(math.Number(kMostErf), z);
  const Value e = RaisedExp(math, math.Mul(Polynomial(math, bounded, kErfTail), bounded), 0);
  const Value large = math.Sub(math.Number(1), e);
  return math.WithSignOf(x, math.Select(Comparison::kLess, math.Number(kSmallErf), z, large, small));
}

// Below this, exp(x) - 1 is -1.
inline constexpr float kLeastExpm1 = -18;

// (exp(x) - 1) * 2^bias, the exponential being 2^n * (1 + rest): near 0 the rest alone is left.
template <typename Math, typename Value>
Value RaisedExpm1(Math& math, Value x, int bias) {
  const auto exponent = math.RoundedProduct(x, kLog2E, bias);
  const Value z = RestOf(math, x, exponent.value);
  std::array<float, kExp.size() - 1> series = {};
  std::copy_n(kExp.begin(), series.size(), series.begin());
  const Value rest = math.Mul(Polynomial(math, z, series), z);
  const Value power = math.Raised(math.Number(1), exponent);
  return math.Fma(rest, power, math.Sub(power, math.Number(std::ldexp(1.0f, bias))));
}

// max(x, 0) + alpha * (exp(min(x, 0)) - 1)
template <typename Math, typename Value>
Value Elu(Math& math, Value x, Value alpha) {
  const Value zero = math.Number(-0.0f);
  const Value less = RaisedExpm1(math, math.Max(math.Number(kLeastExpm1), math.Min(zero, x)), 0);
  return math.Fma(math.Min(less, zero), alpha, math.Max(zero, x));  // zeros have their sign so
}

// y * x where x is not above 0. The test is for x below the least number above 0, as compilers would keep the
// zeros that accumulators begin with. A NaN is not below it.
inline constexpr float kLeastAboveZero = 0x1p-149f;
template <typename Math, typename Value>
Value LeakyRelu(Math& math, Value x, Value slope) {
  return math.Select(Comparison::kLess, x, math.Number(kLeastAboveZero), math.Mul(slope, x), x);
}

// log(1 + e) = e * P(e), 0 <= e <= 1: 0.11.
inline constexpr std::array<float, 10> kLog1p = {
    -0x1.af48fp-9f, 0x1.49179p-6f,   -0x1.d6b078p-5f, 0x1.b4ae06p-4f,  -0x1.3a435ep-3f,
    0x1.934b54p-3f, -0x1.ff23e6p-3f, 0x1.554ddp-2f,   -0x1.ffffd2p-2f, 1};

// max(x, 0) + log(1 + exp(-|x|))
template <typename Math, typename Value>
Value Softplus(Math& math, Value x) {
  const Value e = ExpOfNotPositive(math, math.MinusAbs(x));
  return math.Fma(Polynomial(math, e, kLog1p), e, math.Max(math.Number(-0.0f), x));
}

// Half of it is computed, as 2^128 is no f32. Below kSmallExpm1 it is x, whose halves may not be f32s.
inline constexpr float kSmallExpm1 = 0x1p-24f;
template <typename Math, typename Value>
Value Expm1(Math& math, Value x) {
  const Value bounded = math.Max(math.Number(kLeastExpm1), math.Min(math.Number(kMostExp), x));
  const Value half = RaisedExpm1(math, bounded, -1), whole = math.Add(half, half);
  return math.Select(Comparison::kLess, math.Abs(x), math.Number(kSmallExpm1), x, whole);
}

// log(1 + f) = f + f^2 * P(f), sqrt(1/2) <= 1 + f <= sqrt(2): 0.10. The last coefficient is -1/2.
inline constexpr std::array<float, 9> kLog = {-0x1.38c9dep-4f, 0x1.055ec6p-3f,  -0x1.0d8242p-3f,
                                              0x1.22d92ep-3f,  -0x1.54728ap-3f, 0x1.99a01cp-3f,
                                              -0x1.000226p-2f, 0x1.555554p-2f,  -0.5f};

// The logarithm of x, and with it `low`, which is small. x = 2^exponent * (1 + f). What has no such parts is
// 0 or less, infinite or a NaN.
template <typename Math, typename Value>
Value LogWith(Math& math, Value x, Value low) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const auto parts = math.Parted(x);
  const Value f = math.Sub(parts.mantissa, math.Number(1));
  low = math.Fma(parts.exponent, math.Number(kLn2Low), low);
  const Value square = math.Mul(f, f);
  low = math.Fma(square, Polynomial(math, f, kLog), low);
  const Value log = math.Fma(parts.exponent, math.Number(kLn2High), math.Add(f, low));
  const Value above = math.Select(Comparison::kLess, x, math.Number(kInfinity), log, x);
  const Value below = math.Select(Comparison::kEqual, x, math.Number(0), math.Number(-kInfinity),
                                  math.Number(std::numeric_limits<float>::quiet_NaN()));
  return math.Select(Comparison::kLess, x, math.Number(kLeastAboveZero), below, above);
}

template <typename Math, typename Value>
Value Log(Math& math, Value x) {
  return LogWith(math, x, math.Number(0));
}

// The logarithm of 1 + x, and of what is lost when that is rounded: log(u + low) = log(u) + low / u.
template <typename Math, typename Value>
Value Log1p(Math& math, Value x) {
  const auto sum = math.Sum(x, math.Number(1));
  const Value log = LogWith(math, sum.high, math.Div(sum.low, sum.high));
  return math.WithSignOf(x, log);  // of zeros: any other result has it
}

// sin(r) = r + r^3 * P(r^2), |r| <= pi / 2: 0.10.
inline constexpr std::array<float, 4> kSine = {0x1.5dc84ap-19f, -0x1.9f70eap-13f, 0x1.110edap-7f,
                                               -0x1.55554cp-3f};
// pi is the sum of these; below 2^20 the rest of it does not count (Cody and Waite, 1980).
inline constexpr std::array<float, 3> kPi = {0x1.921fb6p+1f, -0x1.777a5cp-24f, -0x1.ee59dap-49f};
inline constexpr float kInversePi = 0x1.45f306p-2f, kHalfPi = 0x1.921fb6p+0f;

// (-1)^turns * sin(x - multiple * pi). The first of three steps towards the difference is exact.
template <typename Math, typename Value>
Value SineBetween(Math& math, Value x, Value multiple, Value turns) {
  Value r = x;
  for (float part : kPi) r = math.FmaNeg(multiple, math.Number(part), r);
  const Value half = math.Mul(turns, math.Number(0.5f));
  const Value fraction = math.Sub(half, math.Rounded(half, Rounding::kDown));  // 1/2 of odd turns, else 0
  r = math.Select(Comparison::kLess, math.Number(0.25f), fraction, math.Negative(r), r);
  const Value square = math.Mul(r, r);
  return math.Fma(math.Mul(Polynomial(math, square, kSine), square), r, r);
}

template <typename Math, typename Value>
Value UpToMostSine(Math& math, Value magnitude, Value wave) {
  const Value none = math.Number(std::numeric_limits<float>::quiet_NaN());
  return math.Select(Comparison::kLess, magnitude, math.Number(static_cast<float>(kMostSine)), wave, none);
}

// Below kSmallSine it is x: a zero would lose its sign on the way.
inline constexpr float kSmallSine = 0x1p-12f;
template <typename Math, typename Value>
Value Sine(Math& math, Value x) {
  const Value turns = math.RoundedProduct(x, kInversePi, 0).value, magnitude = math.Abs(x);
  const Value sine = SineBetween(math, x, turns, turns);
  return UpToMostSine(math, magnitude,
                      math.Select(Comparison::kLess, magnitude, math.Number(kSmallSine), x, sine));
}

// sin(|x| + pi / 2)
template <typename Math, typename Value>
Value Cosine(Math& math, Value x) {
  const Value magnitude = math.Abs(x);
  const Value turns = math.RoundedProduct(math.Add(magnitude, math.Number(kHalfPi)), kInversePi, 0).value;
  const Value multiple = math.Sub(turns, math.Number(0.5f));
  return UpToMostSine(math, magnitude, SineBetween(math, magnitude, multiple, turns));
}

// log((1 + s) / (1 - s)) = 2 s + s^3 * P(s^2), |s| <= (sqrt(2) - 1) / (sqrt(2) + 1): 0.33.
inline constexpr std::array<float, 4> kLogOfRatio = {0x1.ab439cp-3f, 0x1.257d38p-2f, 0x1.9996acp-2f,
                                                     0x1.555556p-1f};
// ln(2), the first part of so few digits that its products with exponents are exact.
inline constexpr float kLn2First = 0x1.62e4p-1f, kLn2Rest = 0x1.7f7d1cp-20f;

// The logarithm of x in two parts, about 2^-29 of it off. x is positive and finite. s = (x - 1) / (x + 1).
template <typename Math, typename Value>
auto SplitLog(Math& math, Value x) {
  const auto parts = math.Parted(x);
  const Value f = math.Sub(parts.mantissa, math.Number(1));
  const auto s = math.Ratio(f, math.Sum(parts.mantissa, math.Number(1)));
  const Value square = math.Mul(s.high, s.high), triple = math.Mul(square, math.Number(3));
  const Value cube = math.Fma(triple, s.low, math.Mul(square, s.high));
  const Value twice = math.Add(s.high, s.high);
  auto log = math.Sum(math.Mul(parts.exponent, math.Number(kLn2First)), twice);
  Value low = math.Add(s.low, s.low);
  low = math.Fma(cube, Polynomial(math, square, kLogOfRatio), low);
  low = math.Fma(parts.exponent, math.Number(kLn2Rest), low);
  log.low = math.Add(log.low, low);
  return log;
}

// exp(y * log(x)), x >= 0 and not 1. Where the product is beyond kMostProduct it is 0 or infinity; the
// product's low part may be no number there.
inline constexpr float kMostProduct = 1024;
template <typename Math, typename Value>
Value PowOfPositive(Math& math, Value x, Value y) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const Value zero = math.Number(0), most = math.Number(kMostProduct);
  const auto log = SplitLog(math, x);
  Value high = math.Select(Comparison::kLess, x, math.Number(kInfinity), log.high, x);
  high = math.Select(Comparison::kEqual, x, zero, math.Number(-kInfinity), high);
  const auto product = math.Product(y, high);
  Value low = math.Fma(y, log.low, product.low);
  low = math.Select(Comparison::kLess, math.Abs(product.high), most, low, zero);
  const auto sum = math.Sum(math.Max(math.Number(-kMostProduct), math.Min(most, product.high)), low);
  const Value bounded = math.Max(math.Number(kLeastExp), sum.high);
  return ScaledExp(math, math.Min(math.Number(kMostExp), bounded), sum.low);
}

// As C's pow. Powers of a negative number have its sign where y is odd, and are none where y is no integer.
template <typename Math, typename Value>
Value Pow(Math& math, Value x, Value y) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const Value one = math.Number(1), zero = math.Number(0), magnitude = math.Abs(x);
  const Value positive =
      math.Select(Comparison::kEqual, magnitude, one, one, PowOfPositive(math, magnitude, y));
  const Value none = math.Select(Comparison::kEqual, magnitude, math.Number(kInfinity), positive,
                                 math.Number(std::numeric_limits<float>::quiet_NaN()));
  const Value fractional = math.Select(Comparison::kLess, x, zero, none, positive);
  const Value odd = math.WithSignOf(x, positive), half = math.Mul(y, math.Number(0.5f));
  const Value integral =
      math.Select(Comparison::kEqual, math.Rounded(half, Rounding::kDown), half, positive, odd);
  const Value power =
      math.Select(Comparison::kEqual, math.Rounded(y, Rounding::kDown), y, integral, fractional);
  return math.Select(Comparison::kEqual, y, zero, one, power);
}

template <typename Math, typename Value>
Value Compared(Math& math, Comparison comparison, Value x, Value y) {
  return math.Select(comparison, x, y, math.Number(1), math.Number(0));
}

// A NaN is neither above nor below 0, and so stays.
template <typename Math, typename Value>
Value Sign(Math& math, Value x) {
  const Value zero = math.Number(0);
  const Value not_negative = math.Select(Comparison::kLess, zero, x, math.Number(1), x);
  return math.Select(Comparison::kLess, x, zero, math.Number(-1), not_negative);
}

}  // namespace composition

// An operation on numbers; y: its second argument, or its option; z: its third argument. What `Math` is:
// spec/composition.h.
template <typename Math, typename Value>
Value Compose(Math& math, Operation op, Value x, Value y, Value z = {}) {
  switch (op) {
    case Operation::kDiv:
      return math.Div(x, y);
    case Operation::kNeg:
      return math.Negative(x);
    case Operation::kSqrt:
      return math.Sqrt(x);
    case Operation::kAbs:
      return math.Abs(x);
    case Operation::kRsqrt:
      return math.Div(math.Number(1), math.Sqrt(x));
    case Operation::kFloor:
      return math.Rounded(x, Rounding::kDown);
    case Operation::kCeil:
      return math.Rounded(x, Rounding::kUp);
    case Operation::kRound:
      return math.Rounded(x, Rounding::kNearest);
    case Operation::kSign:
      return composition::Sign(math, x);
    case Operation::kLess:
      return composition::Compared(math, Comparison::kLess, x, y);
    case Operation::kLessEqual:
      return composition::Compared(math, Comparison::kLessEqual, x, y);
    case Operation::kEqual:
      return composition::Compared(math, Comparison::kEqual, x, y);
    case Operation::kLog:
      return composition::Log(math, x);
    case Operation::kLog1p:
      return composition::Log1p(math, x);
    case Operation::kExpm1:
      return composition::Expm1(math, x);
    case Operation::kPow:
      return composition::Pow(math, x, y);
    case Operation::kSin:
      return composition::Sine(math, x);
    case Operation::kCos:
      return composition::Cosine(math, x);
    case Operation::kSelect:
      return math.Select(Comparison::kEqual, x, math.Number(0), z, y);
    case Operation::kExp:
      return composition::Exp(math, x);
    case Operation::kTanh:
      return composition::Tanh(math, x);
    case Operation::kErf:
      return composition::Erf(math, x);
    case Operation::kSigmoid:
      return composition::Sigmoid(math, x);
    case Operation::kSilu:
      return composition::Silu(math, x);
    case Operation::kGelu:
      return composition::Gelu(math, x);
    case Operation::kGeluTanh:
      return composition::GeluTanh(math, x);
    case Operation::kElu:
      return composition::Elu(math, x, y);
    case Operation::kLeakyRelu:
      return composition::LeakyRelu(math, x, y);
    case Operation::kSoftplus:
      return composition::Softplus(math, x);
    default:
      return ComposeArithmetic(math, op, x, y);
  }
}

}  // namespace kirsch

#endif  // KIRSCH_SPEC_OPERATION_H_
