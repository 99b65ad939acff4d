// SPDX-License-Identifier: Apache-2.0
// The peers by name, and how to start one.
#ifndef KIRSCH_BENCH_CONTENDERS_PEERS_H_
#define KIRSCH_BENCH_CONTENDERS_PEERS_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/contenders/worker.h"
#include "bench/loops/compiled_loops.h"

namespace kirsch {

// A peer's builds on this machine (most have one); each is a contender of its own and the fastest counts.
struct Peer {
  std::string name;  // as asked for: "openblas", "onednn:noamx", "cblas:/path/lib.so"
  std::vector<Worker::Factory> builds;
  Environment environment = {};         // a restriction that was asked for
  std::optional<LoopsKind> loops = {};  // of graphs, that it needs
};

// The loops of each graph, of every kind that somebody needs.
using LoopsOfGraphs = std::map<LoopsKind, std::vector<CompiledLoops>>;

inline constexpr char kPartsPeer[] = "parts";  // our own kernels, one operation after the other

// The library that "cblas:PATH" names; empty: it is another peer's name.
std::string CblasPath(const std::string& name);

// Names are openblas, blis, mkl, onednn, onednn:noamx (as on a CPU without matrix tiles), libxsmm, eigen and
// cblas:PATH. InvalidArgument for any other, and for a PATH with a slash where there is no file. Headers are
// not found here. Whether another is on this machine shows only when it is loaded.
absl::StatusOr<Peer> FindPeer(const std::string& name);

// The same for graphs (but for kPartsPeer): plain loops, too, and a library with the interface of BLAS
// multiplies between loops. Those that the peer needs are in `loops`, which outlives it, when it is loaded.
absl::StatusOr<Peer> FindPeerOfGraphs(const std::string& name, const LoopsOfGraphs& loops);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_CONTENDERS_PEERS_H_
