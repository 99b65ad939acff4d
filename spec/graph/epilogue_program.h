// SPDX-License-Identifier: Apache-2.0
// Says what an epilogue means: it is a row program whose first input is the sum. All that code, costs,
// references and self-tests know of an epilogue's arithmetic, they know of this program.
//
//   add:n,relu     v0 = load sum; v1 = load bias; v2 = add(v0, v1); v3 = number 0; v4 = maxnum(v3, v2)
#ifndef KIRSCH_SPEC_GRAPH_EPILOGUE_PROGRAM_H_
#define KIRSCH_SPEC_GRAPH_EPILOGUE_PROGRAM_H_

#include "spec/dtype.h"
#include "spec/epilogue.h"
#include "spec/graph/row_program.h"
#include "spec/spec.h"

namespace kirsch {

// The program of an epilogue on sums of type `sum`, whose result is stored as `out`. Its first value loads
// the sum, which is input 0. The other inputs are the operands in memory, in the order of their steps.
RowProgram RowProgramOf(const Epilogue& epilogue, Dtype sum, Dtype out);
// The program of a spec's own epilogue.
RowProgram RowProgramOf(const Spec& spec);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_GRAPH_EPILOGUE_PROGRAM_H_
