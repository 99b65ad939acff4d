// SPDX-License-Identifier: Apache-2.0
// The reference evaluator: what a root spec means, computed on the caller's buffers without any of the ideas
// that the search or the code generator use. Thread-safe.
//
// Sums of floats are kept in double: exact for integers whose sums of magnitudes stay below 2^53, else within
// terms * 2^-53 of the sum of magnitudes. They are not rounded to the output's type. Sums of f64 are kept in
// the CPU's 80 bits, within terms * 2^-64, and then rounded to double. Sums of integers are exact: they wrap
// around as the spec says, and are saturated if the output is narrow. Sums that an epilogue follows are as it
// finds them; see ApplyEpilogue.
#ifndef KIRSCH_SPEC_MEANING_REFERENCE_H_
#define KIRSCH_SPEC_MEANING_REFERENCE_H_

#include <cstdint>
#include <vector>

#include "spec/epilogue.h"
#include "spec/spec.h"
#include "spec/storage.h"

namespace kirsch {

// Values of output elements, dense, in row order of the output's axes; and per element the sum of the
// magnitudes of the terms that were added up, which is what rounding errors are measured against (0 for
// integers, which are not rounded).
struct Expected {
  std::vector<double> value;
  std::vector<double> magnitude;
};

// The whole output, one point of the iteration space after the other: slow and obvious, for any op that is a
// sum of products. operands[output] is the output before the run; it is read only if the spec accumulates.
Expected Reference(const Spec& root, const ConstOperands& operands);

// The same for some output rows (row = batch index * m + row index, in any order), quick enough
// for large sizes. The result holds rows.size() rows of n.
Expected ReferenceRows(const Spec& root, const ConstOperands& operands, const std::vector<int64_t>& rows);

// What the root's epilogue makes of the sum of output element (batch, row, column).
Uncertain ApplyEpilogue(const Spec& root, const ConstOperands& operands, int64_t batch, int64_t row,
                        int64_t column, Uncertain sum);

// Terms added up per output element: the product of the reduction dims, plus one if the spec accumulates.
int64_t TermsPerElement(const Spec& spec);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_MEANING_REFERENCE_H_
