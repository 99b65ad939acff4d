// SPDX-License-Identifier: Apache-2.0
// Operations of a graph that go row by row -> one row program.
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

// Can the operation be a part of a row program: does it need no more of its inputs than the same row, or than
// the same column?
bool GoesByRows(const Graph& graph, int node);

// Neighbouring axes, by how many there are from the first of them on, and how many behind the last.
struct ReducedAxes {
  size_t from_first = 1, behind_last = 0;
  friend bool operator==(const ReducedAxes&, const ReducedAxes&) = default;
};
// Those that an operation reduces, or goes along; nothing if there are none, or others between them.
std::optional<ReducedAxes> FindReducedAxes(const Graph& graph, int node);

// Does the operation go by rows, each of which it reduces along itself, if at all?
bool GoesAlongRows(const Graph& graph, int node);

// Is the value narrowed, so that who needs it must read it from memory?
bool IsNarrowed(const Graph& graph, int node);

struct FusedRows {
  RowProgram program;
  std::vector<int> inputs;   // nodes, as the program's inputs
  std::vector<int> results;  // nodes, as the program's results: those of `wanted`
};

// The operations `nodes`, in their order, each of which goes by rows in `space`. What is wanted may also be
// none of them: it is read. Empty `error`, or why there is none.
FusedRows FuseRows(const GraphUses& uses, const std::vector<int>& nodes, const std::vector<int>& wanted,
                   const IterationSpace& space, std::string* error);

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_GRAPH_ROW_FUSION_H_
