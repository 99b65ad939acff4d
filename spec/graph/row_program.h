// SPDX-License-Identifier: Apache-2.0
// Says what is computed for each row of a few matrices: elementwise operations, and reductions along the row.
// The elements of a row may use the results of its reductions. Softmax, normalisations and chains of
// elementwise operations are row programs.
//
// Example: v0 = load x; v1 = maximum(v0); v2 = sub(v0, v1); v3 = exp(v2); v4 = sum(v3); v5 = div(v3, v4).
#ifndef KIRSCH_SPEC_GRAPH_ROW_PROGRAM_H_
#define KIRSCH_SPEC_GRAPH_ROW_PROGRAM_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "spec/dtype.h"
#include "spec/operation.h"

namespace kirsch {

// One operation of the program. It is computed in f32, f64 or s32, and its arguments have the same type; the
// exception is kF32, which makes an f32 of an s32. A program with values of f64 has no others. (Epilogues of
// sums in f16 are computed in that.) Inputs are
// widened when they are read; integers may become f32 or s32. Results are narrowed when they are stored: to
// nearest, ties to even, from f64 by way of f32, and integers are saturated.
//
// Of floats, a product whose single use is to be added, subtracted or summed is not rounded first. Of a sum
// of two such products, this holds for the first. Any other product is rounded, once for all its uses.
// docs/exactness.md says how far functions may be off. Sums may be added up in any order. The maximum of a
// row ignores NaNs. In s32 there are kLoad, kNumber, kAdd, kSub, kMul, kMaxNum and kMinNum, modulo 2^32.
struct RowValue {
  Operation op = Operation::kLoad;
  int a = -1, b = -1;  // values before this one; b: also the number that an operation has beside one argument
  int input = -1;      // kLoad
  double number = 0;   // kNumber: one of the type
  Dtype type = Dtype::kF32;
  int c = -1;  // a third value before this one; few operations have one

  friend bool operator==(const RowValue&, const RowValue&) = default;
};

// A matrix, a row or a column that the program reads. The two flags say along which axes its elements differ.
struct RowInput {
  Dtype dtype = Dtype::kF32;
  bool along_columns = true;  // an element for each column; else one for the row
  bool along_rows = true;     // other elements for each row; else the same for all
  // The number of an s32 input whose element for the row says which row of this one is read; what is beyond
  // the `rows` that there are is moved to the first or the last. -1: rows come one after the other.
  int row_from = -1;
  int64_t rows = 0;

  friend bool operator==(const RowInput&, const RowInput&) = default;
};

// A value that is stored.
struct RowResult {
  int value = -1;  // one element for each column, or one for the row if the value has none of the columns' in
                   // it but through reductions
  Dtype dtype = Dtype::kF32;

  friend bool operator==(const RowResult&, const RowResult&) = default;
};

// A whole program. Values are in an order in which they can be computed.
struct RowProgram {
  // True if reductions go down the columns, over all rows. Then read "column" wherever these comments say
  // "row" of a reduction, or of a value that there is one of for the row.
  bool reduces_rows = false;
  std::vector<RowInput> inputs;
  std::vector<RowValue> values;
  std::vector<RowResult> results;

  friend bool operator==(const RowProgram&, const RowProgram&) = default;
};

// The type of the program's floats: f64, f32 or, in an epilogue, f16 of sums. A vector has as many lanes as
// fit of them.
inline Dtype RealOf(const RowProgram& program) {
  Dtype real = Dtype::kF32;
  for (const RowValue& value : program.values)
    if (value.type == Dtype::kF64 || (real == Dtype::kF32 && IsFloating(value.type))) real = value.type;
  return real;
}

// An operation on values of the program, of the type of the first. A maximum or minimum that meets a number
// is the cheap form, which returns its second operand if either is a NaN: the number is no NaN, so it comes
// first.
inline RowValue ValueOf(const RowProgram& program, Operation op, int a, int b = -1, int c = -1) {
  const auto is_number = [&](int value) {
    return program.values[static_cast<size_t>(value)].op == Operation::kNumber;
  };
  const Dtype type = op == Operation::kF32 ? Dtype::kF32 : program.values[static_cast<size_t>(a)].type;
  if (const Operation cheap = OfNumbers(op); cheap != op) {
    const bool turns = IsFloating(type) && !is_number(a);
    if (!turns || is_number(b)) op = cheap;
    if (turns && is_number(b)) std::swap(a, b);
  }
  return {op, a, b, -1, 0, type, c};
}

}  // namespace kirsch

#endif  // KIRSCH_SPEC_GRAPH_ROW_PROGRAM_H_
