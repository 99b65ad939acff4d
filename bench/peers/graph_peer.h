// What a peer plug-in (peer.h) that computes graphs, too, has besides.
#ifndef KIRSCH_BENCH_PEERS_GRAPH_PEER_H_
#define KIRSCH_BENCH_PEERS_GRAPH_PEER_H_

#include <vector>

#include "spec/graph.h"

namespace kirsch {

// A graph and its operands in memory, plain and row-major, as the graph has them.
struct GraphProblem {
  const Graph* graph = nullptr;
  std::vector<void*> inputs;  // of the graph's parameters
  void* out = nullptr;
  int threads = 1;
};

}  // namespace kirsch

extern "C" {

// As kirsch_peer_methods; "+packed" takes the parameters that are weights in a layout of the library's
// choice.
const char* kirsch_peer_graph_methods();

// As kirsch_peer_prepare, for the same kirsch_peer_run and kirsch_peer_release.
void* kirsch_peer_prepare_graph(int method, const kirsch::GraphProblem* problem);
}

#endif  // KIRSCH_BENCH_PEERS_GRAPH_PEER_H_
