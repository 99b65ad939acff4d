// SPDX-License-Identifier: Apache-2.0
// The epilogue of a contraction as operations of a graph.
#ifndef KIRSCH_SPEC_GRAPH_EPILOGUE_OPERATIONS_H_
#define KIRSCH_SPEC_GRAPH_EPILOGUE_OPERATIONS_H_

#include <cstdint>
#include <vector>

#include "spec/epilogue.h"
#include "spec/graph/builder.h"

namespace kirsch {

// Of what an epilogue takes from memory, where the graph has the contraction's output in a shape of its own.
struct EpilogueShapes {
  std::vector<uint32_t> rows, columns, all;

  std::vector<uint32_t> Of(EpilogueOperand operand) const;
};

// False if a step has no counterpart: leaky_relu by numbers in memory.
bool IsGraphEpilogue(const Epilogue& epilogue);

// A parameter for each operand in memory, called as EpilogueNames says. `sum`: the type of the sums.
std::vector<int> AddEpilogueParameters(const Epilogue& epilogue, Dtype sum, const EpilogueShapes& shapes,
                                       GraphBuilder* builder);

// The steps on `value`, and what is stored of them: its node. `parameters`: as above.
int AddEpilogueSteps(const Epilogue& epilogue, Dtype sum, Dtype stored, int value,
                     const std::vector<int>& parameters, GraphBuilder* builder);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_GRAPH_EPILOGUE_OPERATIONS_H_
