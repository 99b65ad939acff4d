// SPDX-License-Identifier: Apache-2.0
// Writes operations of a graph that go row by row as one row program, so that values between them stay in
// registers.
//
//   before -> after:
//     softmax(x)  ->  v0 = load x          v3 = exp(v2)       v5 = 1
//                     v1 = maximum(v0)     v4 = sum(v3)       v6 = v5 / v4
//                     v2 = v0 - v1                            v7 = v3 * v6, the result
#ifndef KIRSCH_REWRITES_GRAPH_ROW_FUSION_H_
#define KIRSCH_REWRITES_GRAPH_ROW_FUSION_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "rewrites/analysis/graph_uses.h"
#include "rewrites/analysis/iteration.h"
#include "spec/graph/row_program.h"

namespace kirsch {

// True if the operation can be a part of a row program: it needs the same row of its inputs only, or, where
// it reduces rows, the same column.
bool GoesByRows(const Graph& graph, int node);

// Neighbouring axes, counted from the last one: {1, 0} is the last axis, {2, 1} the last but one, {2, 0}
// both. Counting from the last axis keeps them comparable between shapes of different ranks.
struct ReducedAxes {
  size_t from_first = 1, behind_last = 0;
  friend bool operator==(const ReducedAxes&, const ReducedAxes&) = default;
};
// Returns the axes that an operation reduces or, as a softmax, goes along. Returns nothing if there are none,
// or if others lie between them.
std::optional<ReducedAxes> FindReducedAxes(const Graph& graph, int node);

// True if the operation goes by rows and, if it reduces anything, reduces the last axis: the row itself.
bool GoesAlongRows(const Graph& graph, int node);

// True if a cast narrows the value, or rounds it to s32. Whoever needs the rounded value must read it from
// memory, so it ends a row program.
bool IsNarrowed(const Graph& graph, int node);

// A row program and the nodes that it stands for.
struct FusedRows {
  RowProgram program;
  std::vector<int>
      inputs;  // nodes, as the program's inputs; a slice that is one of its own is read as it lies
  std::vector<int> results;  // nodes, as the program's results: those of `wanted`
};

// Writes the operations `nodes` in their order; each goes by rows in `space`, or is a slice (ViewOfSlice).
// `wanted` are the values to store; one that is none of the nodes is read and stored. `*error` says why there
// is no program, or is empty.
FusedRows FuseRows(const GraphUses& uses, const std::vector<int>& nodes, const std::vector<int>& wanted,
                   const IterationSpace& space, std::string* error);

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_GRAPH_ROW_FUSION_H_
