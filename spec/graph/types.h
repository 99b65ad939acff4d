// SPDX-License-Identifier: Apache-2.0
// Infers and checks the types of a graph's values, so that no later part has to handle an ill-typed graph.
#ifndef KIRSCH_SPEC_GRAPH_TYPES_H_
#define KIRSCH_SPEC_GRAPH_TYPES_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spec/graph/graph.h"

namespace kirsch {

inline constexpr size_t kMaxRank = 8;
inline constexpr size_t kMaxStridedRank = 4;  // of what does not lie row by row
inline constexpr std::string_view kStridesWord = "strides";
inline constexpr uint32_t kMaxPad = 4096;    // on a side of an image
inline constexpr uint32_t kMaxWindow = 128;  // elements

// True if a tensor of this shape would have more than kMaxElements. Sizes may be any, also such as make a
// product of more than 64 bits.
bool IsTooLarge(const std::vector<uint32_t>& dims);

// Checks the strides of a tensor, of which there is one for each axis. Returns the first axis that is wrong,
// and what was expected of its stride. Returns nothing if the elements of a row follow each other, no two
// elements share a place, and the last is no further off than kMaxElements.
struct WrongStride {
  size_t axis;
  std::string expected;
};
std::optional<WrongStride> CheckStrides(const TensorType& type);

// Gives strides that passed CheckStrides their one form, so that equal tensors have equal types. An axis of
// one element gets the stride that an axis which follows its neighbour would have. A dense tensor has no
// strides at all.
void NormaliseStrides(TensorType* type);

// Which matrix of each operand a matrix of a matmul's result is made of. That of number o * inner + i, for
// each o below `outer` and i below `inner`, is made of the operand's o * outer_step + i * inner_step.
//
//   [6,4,M,K] and [6,1,K,N]     outer 6, steps 4 and 1; inner 4, steps 1 and 0
//   [6,1,M,K] and [1,4,K,N]     outer 6, steps 1 and 0; inner 4, steps 0 and 1
struct MatmulBatch {
  int64_t outer = 1, inner = 1;
  std::array<int64_t, 2> outer_step = {}, inner_step = {};
};
MatmulBatch BatchOf(const Graph& graph, const GraphNode& matmul);

// How many consecutive matrices of a matmul read the same matrix of the operand: mostly 1. 0 if those that do
// are not consecutive.
int64_t ItemsPerMatrix(const Graph& graph, const GraphNode& node, size_t input);
// True if matrices that read the same one of the rhs are neighbours along the batch's last axis; or none do.
bool SharesRhsAlongAxis(const Graph& graph, const GraphNode& matmul);

// Infers the type of `node`, whose inputs are in `graph` and have types already. Numbers among the inputs get
// the type of the tensor that they meet. The caller has set the dtype of a cast. The result is dense. Returns
// what the inputs should have been, as a text for people, or "" if all is well.
std::string InferType(Graph* graph, GraphNode* node);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_GRAPH_TYPES_H_
