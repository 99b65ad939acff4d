// SPDX-License-Identifier: Apache-2.0
// What is computed for each row of a few matrices: elementwise operations, and reductions along the row whose
// results the row's elements meet again. Softmax, normalisations and chains of elementwise operations are row
// programs.
#ifndef KIRSCH_SPEC_GRAPH_ROW_PROGRAM_H_
#define KIRSCH_SPEC_GRAPH_ROW_PROGRAM_H_

#include <vector>

#include "spec/dtype.h"
#include "spec/operation.h"

namespace kirsch {

// Every value is computed in f32 or in s32, and so is what it is made of, but for kF32, which makes an f32 of
// an s32. Inputs are widened when they are read, those of integers to either; results are narrowed (to
// nearest, ties to even; integers saturated) when they are stored.
//
// In f32, a product whose single use is to be added, subtracted or summed is not rounded first: of a sum of
// two such products, the first. Any other is rounded, once for all its uses. How far functions may be off:
// docs/exactness.md. Sums are added up in any order; the maximum of a row passes over NaNs. In s32 there are
// kLoad, kNumber, kAdd, kSub, kMul, kMaxNum and kMinNum, modulo 2^32.
struct RowValue {
  Operation op = Operation::kLoad;
  int a = -1, b = -1;  // values before this one; b: also the number that an operation has beside one argument
  int input = -1;      // kLoad
  double number = 0;   // kNumber: an f32 or an s32
  Dtype type = Dtype::kF32;

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

#endif  // KIRSCH_SPEC_GRAPH_ROW_PROGRAM_H_
