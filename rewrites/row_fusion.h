// Operations of a graph that go row by row -> one row program.
#ifndef KIRSCH_REWRITES_ROW_FUSION_H_
#define KIRSCH_REWRITES_ROW_FUSION_H_

#include <string>
#include <vector>

#include "rewrites/graph_uses.h"
#include "rewrites/iteration.h"
#include "spec/row_program.h"

namespace kirsch {

// Can the operation be a part of a row program: does it need no more of its inputs than the same row?
bool GoesByRows(const Graph& graph, int node);

// Is the value narrowed, so that who needs it must read it from memory?
bool IsNarrowed(const Graph& graph, int node);

struct FusedRows {
  RowProgram program;
  std::vector<int> inputs;   // nodes, as the program's inputs
  std::vector<int> results;  // nodes, as the program's results: those of `wanted`
};

// The operations `nodes`, in their order, each of which goes by rows in `space`. Empty `error`, or why there
// is none.
FusedRows FuseRows(const GraphUses& uses, const std::vector<int>& nodes, const std::vector<int>& wanted,
                   const IterationSpace& space, std::string* error);

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_ROW_FUSION_H_
