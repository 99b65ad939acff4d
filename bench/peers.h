// The peers by name, and how to start one.
#ifndef KIRSCH_BENCH_PEERS_H_
#define KIRSCH_BENCH_PEERS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/compiled_loops.h"
#include "bench/graph_workload.h"
#include "bench/worker.h"

namespace kirsch {

// A peer's builds on this machine (most have one); each is a contender of its own and the fastest counts.
struct Peer {
  std::string name;  // as asked for: "openblas", "onednn:noamx", "cblas:/path/lib.so"
  std::vector<Worker::Factory> builds;
  Environment environment;  // a restriction that was asked for
};

// InvalidArgument for a name that is none of openblas, blis, mkl, onednn, onednn:noamx (as on a CPU without
// matrix tiles), libxsmm, eigen, cblas:PATH. Whether it is on this machine shows only when it is loaded. It
// runs `problems`, which outlive it.
absl::StatusOr<Peer> FindPeer(const std::string& name, const std::vector<Problem>& problems);

// What the peers of graphs run: the problems, and loops of each of them where a peer that needs them takes
// part.
struct GraphField {
  const std::vector<GraphProblem>& problems;
  std::vector<CompiledLoops> plain, cblas;
};

inline constexpr char kLoopsPeer[] = "loops";
inline constexpr char kPartsPeer[] = "parts";  // our own kernels, one operation after the other

// The same for graphs, but for kPartsPeer: loops, onednn and onednn:noamx, or a library with the interface of BLAS, which
// multiplies between loops.
absl::StatusOr<Peer> FindGraphPeer(const std::string& name, const GraphField& field);

// Whether the name is one of the last kind.
bool IsCblasPeer(const std::string& name);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_PEERS_H_
