// SPDX-License-Identifier: Apache-2.0
// Decides who takes part: our kernels, the limits, and each peer in each setting worth trying.
//
//   peer "openblas"  -> one build  -> the default setting, and five of OPENBLAS_CORETYPE
//                    -> without those that turn out to have the same kernels, or kernels that this CPU can't
//                    run
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

// One contender in one setting, with its process.
struct Entrant {
  std::string peer;  // as asked for; kOurName for ours
  Worker::Factory factory;
  WorkerOptions options;
  ContenderInfo info;
  Worker worker;
  int deaths = 0;  // of its process, so far

  // The name in reports: "openblas 0.3.21/SkylakeX".
  std::string name() const { return info.core.empty() ? info.name : info.name + "/" + info.core; }
};

// Starts the entrant's process and loads the contender, also after a death. Refuses one that died three
// times, with Aborted.
absl::Status StartEntrant(Entrant& entrant);

// Returns the entrants of a peer: each build in the default setting and in each alternative. Entrants with
// the same kernels as an earlier one are left out. So are those whose kernels need other features of the CPU
// than `features` (core_types.h); `report` names them. If no entrant starts, `report` says why the peer is
// missing.
std::vector<Entrant> EnterPeer(const Peer& peer, const WorkerOptions& options,
                               const std::vector<std::string>& features, BenchReport& report);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_HARNESS_ROSTER_H_
