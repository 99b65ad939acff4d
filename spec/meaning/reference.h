// SPDX-License-Identifier: Apache-2.0
// Evaluates what a root spec means, on the caller's buffers. It uses none of the ideas of the search or the
// code generator, so that it can judge both. Thread-safe.
//
// Sums of floats are kept in double. They are exact for integers whose sums of magnitudes stay below 2^53;
// any other sum is within terms * 2^-53 of the sum of magnitudes. They are not rounded to the output's type.
// Sums of f64 are kept in the CPU's 80 bits, within terms * 2^-64, and then rounded to double. Sums of
// integers are exact: they wrap around as the spec says, and are saturated if the output is narrow. If an
// epilogue follows, its input is returned; see ApplyEpilogue.
#ifndef KIRSCH_SPEC_MEANING_REFERENCE_H_
#define KIRSCH_SPEC_MEANING_REFERENCE_H_

#include <cstdint>
#include <vector>

#include "spec/graph/row_program.h"
#include "spec/spec.h"
#include "spec/storage.h"
#include "spec/uncertain.h"

namespace kirsch {

// The values of output elements, dense, in row order of the output's axes. For each there is also the sum of
// the magnitudes of its terms, which rounding errors are measured against. It is 0 for integers, which are
// not rounded.
struct Expected {
  std::vector<double> value;
  std::vector<double> magnitude;
};

// Computes the whole output, one point of the iteration space after the other. It is slow and obvious, and
// works for any op that is a sum of products. operands[output] is the output before the run, and is read only
// if the spec accumulates.
Expected Reference(const Spec& root, const ConstOperands& operands);

// Computes the same for some output rows, quickly enough for large sizes. A row's number is batch index * m +
// row index; rows may be in any order. The result holds rows.size() rows of n elements.
Expected ReferenceRows(const Spec& root, const ConstOperands& operands, const std::vector<int64_t>& rows);

// Applies the root's epilogue, whose program this is, to the sum of output element (batch, row, column).
Uncertain ApplyEpilogue(const Spec& root, const RowProgram& epilogue, const ConstOperands& operands,
                        int64_t batch, int64_t row, int64_t column, Uncertain sum);

// Counts the terms that are added up for each output element: the product of the reduction dims, plus one if
// the spec accumulates.
int64_t TermsPerElement(const Spec& spec);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_MEANING_REFERENCE_H_
