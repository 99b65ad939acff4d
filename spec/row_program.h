// What is computed for each row of a few matrices: elementwise operations, and reductions along the row whose
// results the row's elements meet again. Softmax, normalisations and chains of elementwise operations are row
// programs.
#ifndef KIRSCH_SPEC_ROW_PROGRAM_H_
#define KIRSCH_SPEC_ROW_PROGRAM_H_

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "spec/dtype.h"

namespace kirsch {

enum class RowOp : uint8_t {
  kLoad,    // the element of an input
  kNumber,  // a constant
  kAdd,     // a + b
  kSub,     // a - b
  kMul,     // a * b
  kDiv,     // a / b, rounded once
  kMax,     // a > b ? a : b, so b where either is a NaN
  kMin,     // a < b ? a : b
  kNeg,
  kSqrt,
  kExp,
  kTanh,
  kErf,
  kSigmoid,  // 1 / (1 + exp(-a))
  kSum,      // of the row's elements: one value for the row
  kMaximum,  // of the row's elements
  kAbs,
  kGelu,      // a / 2 * (1 + erf(a / sqrt(2)))
  kGeluTanh,  // a / 2 * (1 + tanh(sqrt(2 / pi) * (a + 0.044715 * a^3)))
  kSilu,      // a / (1 + exp(-a))
};

struct RowOpInfo {
  RowOp op;
  std::string_view name;
  int arguments;
  bool reduces;
};

inline constexpr std::array<RowOpInfo, 20> kRowOps = {{
    {RowOp::kLoad, "load", 0, false},
    {RowOp::kNumber, "number", 0, false},
    {RowOp::kAdd, "add", 2, false},
    {RowOp::kSub, "sub", 2, false},
    {RowOp::kMul, "mul", 2, false},
    {RowOp::kDiv, "div", 2, false},
    {RowOp::kMax, "max", 2, false},
    {RowOp::kMin, "min", 2, false},
    {RowOp::kNeg, "neg", 1, false},
    {RowOp::kSqrt, "sqrt", 1, false},
    {RowOp::kExp, "exp", 1, false},
    {RowOp::kTanh, "tanh", 1, false},
    {RowOp::kErf, "erf", 1, false},
    {RowOp::kSigmoid, "sigmoid", 1, false},
    {RowOp::kSum, "sum", 1, true},
    {RowOp::kMaximum, "maximum", 1, true},
    {RowOp::kAbs, "abs", 1, false},
    {RowOp::kGelu, "gelu", 1, false},
    {RowOp::kGeluTanh, "gelu_tanh", 1, false},
    {RowOp::kSilu, "silu", 1, false},
}};

constexpr const RowOpInfo& Info(RowOp op) { return kRowOps[static_cast<size_t>(op)]; }

// All values are f32: inputs are widened when they are read, results narrowed (to nearest, ties to even;
// integers saturated) when they are stored. A product that is added, subtracted or summed is not rounded
// first: of a sum of two products, the first. How far functions may be off: vector_math.h. Sums are added up
// in any order; the maximum of a row passes over NaNs.
struct RowValue {
  RowOp op = RowOp::kLoad;
  int a = -1, b = -1;  // values before this one
  int input = -1;      // kLoad
  float number = 0;    // kNumber

  friend bool operator==(const RowValue&, const RowValue&) = default;
};

struct RowInput {
  Dtype dtype = Dtype::kF32;
  bool along_columns = true;  // an element for each column; else one for the row
  bool along_rows = true;     // other elements for each row; else the same for all

  friend bool operator==(const RowInput&, const RowInput&) = default;
};

struct RowResult {
  int value = -1;  // one element for each column, or one for the row if the value has none of the columns' in
                   // it but through reductions
  Dtype dtype = Dtype::kF32;

  friend bool operator==(const RowResult&, const RowResult&) = default;
};

struct RowProgram {
  // Reductions go down the columns, over all rows: where "row" stands for what a value is one for, or what
  // meets it again, read "column" then.
  bool reduces_rows = false;
  std::vector<RowInput> inputs;
  std::vector<RowValue> values;
  std::vector<RowResult> results;

  friend bool operator==(const RowProgram&, const RowProgram&) = default;
};

}  // namespace kirsch

#endif  // KIRSCH_SPEC_ROW_PROGRAM_H_
