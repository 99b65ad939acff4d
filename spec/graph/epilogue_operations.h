// SPDX-License-Identifier: Apache-2.0
// Writes the epilogue of a contraction as operations of a graph. Requests that cannot be one spec become a
// graph this way, and their epilogue has to mean the same there.
//
// Example: the steps "add one for each column, maxnum 0" on the value v2 become v3 = add(v2, p) and v4 =
// maxnum(v3, 0), where p is the parameter with an element for each column.
#ifndef KIRSCH_SPEC_GRAPH_EPILOGUE_OPERATIONS_H_
#define KIRSCH_SPEC_GRAPH_EPILOGUE_OPERATIONS_H_

#include <cstdint>
#include <vector>

#include "spec/epilogue.h"
#include "spec/graph/builder.h"

namespace kirsch {

// The shapes of the operands that an epilogue reads from memory. The graph may have the contraction's output
// in a shape with other axes than the spec has, so the caller gives them.
struct EpilogueShapes {
  std::vector<uint32_t> rows, columns, all;

  // The shape for this kind of operand. A single element (and a number) has no axes.
  std::vector<uint32_t> Of(EpilogueOperand operand) const;
};

// False if a step has no counterpart in graphs: a function with an option, such as leaky_relu, whose option
// is in memory.
bool IsGraphEpilogue(const Epilogue& epilogue);

// Adds a parameter for each operand that lies in memory, and returns their nodes in the order of the steps.
// Their names are those of EpilogueNames. `sum`: the type of the sums that the epilogue begins with.
std::vector<int> AddEpilogueParameters(const Epilogue& epilogue, Dtype sum, const EpilogueShapes& shapes,
                                       GraphBuilder* builder);

// Adds the steps on `value` and a cast to `stored`, the type that is stored. Returns the last node.
// `parameters`: those that AddEpilogueParameters returned.
int AddEpilogueSteps(const Epilogue& epilogue, Dtype sum, Dtype stored, int value,
                     const std::vector<int>& parameters, GraphBuilder* builder);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_GRAPH_EPILOGUE_OPERATIONS_H_
