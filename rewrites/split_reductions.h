// Reductions along axes with others between them, as one after the other along neighbouring axes.
#ifndef KIRSCH_REWRITES_SPLIT_REDUCTIONS_H_
#define KIRSCH_REWRITES_SPLIT_REDUCTIONS_H_

#include "spec/graph.h"

namespace kirsch {

// The same kernel, all of whose reductions are along axes next to each other: the last axes first, as the
// shortest rows are left then. A mean of means of as many elements each is the mean of them all.
Graph SplitReductions(const Graph& graph);

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_SPLIT_REDUCTIONS_H_
