// SPDX-License-Identifier: Apache-2.0
// The types of a graph's values.
#ifndef KIRSCH_SPEC_GRAPH_TYPES_H_
#define KIRSCH_SPEC_GRAPH_TYPES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spec/graph/graph.h"

namespace kirsch {

inline constexpr size_t kMaxRank = 5;
inline constexpr size_t kMaxStridedRank = 4;  // of what does not lie row by row
inline constexpr std::string_view kStridesWord = "strides";
inline constexpr uint32_t kMaxPad = 4096;  // on a side of an image

// Would a tensor of this shape have more than kMaxElements? Of any sizes, whose product may not fit 64 bits.
bool IsTooLarge(const std::vector<uint32_t>& dims);

// What is wrong with a tensor's strides, of which there is one for each axis: the first axis that shows it,
// and what was expected of its stride. Nothing if elements of a row follow each other, no two elements are in
// the same place, and the last is no further off than kMaxElements.
struct WrongStride {
  size_t axis;
  std::string expected;
};
std::optional<WrongStride> CheckStrides(const TensorType& type);

// One form of strides that are right: an axis of one element has what an axis that follows would have, and
// there are none where the tensor is dense.
void NormaliseStrides(TensorType* type);

// How many of a matmul's matrices, one after the other, are made from one of the operand's; mostly 1.
int64_t ItemsPerMatrix(const Graph& graph, const GraphNode& node, size_t input);

// Works out the type of `node`, whose inputs are in `graph` and have theirs; numbers among them get the type
// of what they meet. The dtype of a cast is set already. The result is dense. Returns what its inputs should
// have been, or nothing if all is well.
std::string InferType(Graph* graph, GraphNode* node);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_GRAPH_TYPES_H_
