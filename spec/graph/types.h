// The types of a graph's values.
#ifndef KIRSCH_SPEC_GRAPH_TYPES_H_
#define KIRSCH_SPEC_GRAPH_TYPES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "spec/graph/graph.h"

namespace kirsch {

inline constexpr size_t kMaxRank = 4;
inline constexpr uint32_t kMaxPad = 4096;  // on a side of an image

// Would a tensor of this shape have more than kMaxElements? Of any sizes, whose product may not fit 64 bits.
bool IsTooLarge(const std::vector<uint32_t>& dims);

// How many of a matmul's matrices, one after the other, are made from one of the operand's; mostly 1.
int64_t SharersOf(const Graph& graph, const GraphNode& node, size_t input);

// Works out the type of `node`, whose inputs are in `graph` and have theirs; numbers among them get the type
// of what they meet. The dtype of a cast is set already. Returns what its inputs should have been, or nothing
// if all is well.
std::string InferType(Graph* graph, GraphNode* node);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_GRAPH_TYPES_H_
