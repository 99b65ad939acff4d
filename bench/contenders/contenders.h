// SPDX-License-Identifier: Apache-2.0
// Makes the contenders that may take part beside our own kernel. Nothing is loaded before Contender::Load:
// these functions run in the worker's process, and a library belongs there alone.
#ifndef KIRSCH_BENCH_CONTENDERS_CONTENDERS_H_
#define KIRSCH_BENCH_CONTENDERS_CONTENDERS_H_

#include <memory>
#include <string>
#include <vector>

#include "bench/loops/compiled_loops.h"
#include "bench/workload/contender.h"

namespace kirsch {

// A library with the C interface of BLAS (32-bit integers): the first of `libraries` that loads.
std::unique_ptr<Contender> MakeCblasContender(std::vector<std::string> libraries);

// A peer's plug-in (bench/workload/peer.h), by its name: "kirsch_peer_onednn".
std::unique_ptr<Contender> MakePluginContender(std::string name);

// Plain loops, which compute graphs. `loops` has those of each item (LoopsKind::kLoops), and outlives the
// contender.
std::unique_ptr<Contender> MakeLoopsContender(const std::vector<CompiledLoops>& loops);

// Plain loops that call a library with the interface of BLAS for products (LoopsKind::kCblas): the first of
// `libraries` that loads. It takes graphs with a contraction of f32.
std::unique_ptr<Contender> MakeCblasLoopsContender(std::vector<std::string> libraries,
                                                   const std::vector<CompiledLoops>& loops);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_CONTENDERS_CONTENDERS_H_
