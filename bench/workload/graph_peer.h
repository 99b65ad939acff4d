// SPDX-License-Identifier: Apache-2.0
// Defines how a plug-in (peer.h) gets a graph. Such a plug-in is built with Kirsch's headers, so it can read
// the graph itself.
#ifndef KIRSCH_BENCH_WORKLOAD_GRAPH_PEER_H_
#define KIRSCH_BENCH_WORKLOAD_GRAPH_PEER_H_

#include <vector>

#include "spec/graph/graph.h"

// A graph and its operands in memory, which are plain and row-major, as the graph has them.
struct KirschGraph {
  kirsch::Graph graph;
  std::vector<void*> inputs = {};   // of the graph's parameters
  std::vector<void*> results = {};  // of the graph's results
};

#endif  // KIRSCH_BENCH_WORKLOAD_GRAPH_PEER_H_
