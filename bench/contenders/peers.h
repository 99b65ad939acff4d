// SPDX-License-Identifier: Apache-2.0
// Knows the peers by name, and how to start one.
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

// A peer with its builds on this machine. Most have one; each build is a contender of its own, and the
// fastest counts.
struct Peer {
  std::string name;  // as asked for: "openblas", "onednn:noamx", "cblas:/path/lib.so"
  std::vector<Worker::Factory> builds;
  Environment environment = {};         // settings that hold for all its processes
  std::optional<LoopsKind> loops = {};  // that it needs for graphs; nothing: none
};

// The loops of each graph, of every kind that somebody needs.
using LoopsOfGraphs = std::map<LoopsKind, std::vector<CompiledLoops>>;

inline constexpr char kPartsPeer[] = "parts";  // our own kernels, one operation after the other

// Returns the library that "cblas:PATH" names; empty for any other peer's name.
std::string CblasPath(const std::string& name);

// Returns the peer of that name: openblas, blis, mkl, onednn, onednn:noamx (as on a CPU without matrix
// tiles), libxsmm, eigen or cblas:PATH. InvalidArgument for any other name, and for a PATH with a slash where
// there is no file. Headers are not found here. Whether a peer is on this machine shows only when it is
// loaded.
absl::StatusOr<Peer> FindPeer(const std::string& name);

// Returns a peer for graphs: those of FindPeer, and plain loops, but not kPartsPeer. A library with the
// interface of BLAS multiplies between loops. The loops that the peer needs are in `loops`, which outlives
// it, by the time it is loaded.
absl::StatusOr<Peer> FindPeerOfGraphs(const std::string& name, const LoopsOfGraphs& loops);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_CONTENDERS_PEERS_H_
