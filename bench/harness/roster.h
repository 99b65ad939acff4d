// SPDX-License-Identifier: Apache-2.0
// Everyone who takes part: our kernels, the peak, and each peer in each setting worth trying.
#ifndef KIRSCH_BENCH_HARNESS_ROSTER_H_
#define KIRSCH_BENCH_HARNESS_ROSTER_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "bench/contenders/peers.h"
#include "bench/contenders/worker.h"
#include "bench/results/report.h"

namespace kirsch {

// One contender in one setting, and its process.
struct Entrant {
  std::string peer;  // as asked for; kOurName for ours
  Worker::Factory factory;
  WorkerOptions options;
  ContenderInfo info;
  Worker worker;
  int deaths = 0;

  std::string name() const { return info.core.empty() ? info.name : info.name + "/" + info.core; }
};

// Starts the entrant's process and loads the contender. Also after a death; refuses one that died three
// times.
absl::Status StartEntrant(Entrant& entrant);

// The entrants of a peer: each build in the default setting and in each alternative. Left out are those with
// the same kernels as an earlier one. So are those whose kernels need other features of the CPU than
// `features` (core_types.h). They go to `report`, and so does the reason if the peer is missing.
std::vector<Entrant> EnterPeer(const Peer& peer, const WorkerOptions& options,
                               const std::vector<std::string>& features, BenchReport& report);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_HARNESS_ROSTER_H_
