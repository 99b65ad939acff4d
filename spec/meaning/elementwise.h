// SPDX-License-Identifier: Apache-2.0
// Computes the elementwise values of row programs as kernels do, for the interpreter and the references: of
// rows, and of epilogues, which are row programs. Values that are exact, bit for bit, have no error. Others
// have a bound of how far off a kernel may be: by what they are computed from, by roundings and by functions.
#ifndef KIRSCH_SPEC_MEANING_ELEMENTWISE_H_
#define KIRSCH_SPEC_MEANING_ELEMENTWISE_H_

#include "absl/functional/function_ref.h"
#include "spec/graph/row_program.h"
#include "spec/uncertain.h"

namespace kirsch {

// Returns a value that is neither loaded nor reduced; at(v) is the value v before it. A value that may be
// anything has an infinite error. An exact product of exact factors that is part of a multiply-add is not
// rounded.
Uncertain ElementwiseValue(const RowProgram& program, int value, absl::FunctionRef<Uncertain(int)> at);

// Returns the element that an epilogue (RowProgramOf) makes of a sum; operand(i) is the element of its i-th
// operand in memory.
Uncertain Apply(const RowProgram& epilogue, Uncertain sum, absl::FunctionRef<double(int)> operand);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_MEANING_ELEMENTWISE_H_
