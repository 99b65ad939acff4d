// SPDX-License-Identifier: Apache-2.0
// Who may take part beside our own kernel.
#ifndef KIRSCH_BENCH_CONTENDERS_CONTENDERS_H_
#define KIRSCH_BENCH_CONTENDERS_CONTENDERS_H_

#include <memory>
#include <string>
#include <vector>

#include "bench/loops/compiled_loops.h"
#include "bench/workload/contender.h"

namespace kirsch {

// A library with the C interface of BLAS (32-bit integers), found at run time: the first of `libraries` that
// loads.
std::unique_ptr<Contender> MakeCblasContender(std::vector<std::string> libraries);

// A peer's plug-in (bench/workload/peer.h), by its name: "kirsch_peer_onednn".
std::unique_ptr<Contender> MakePluginContender(std::string name);

// Graphs computed by plain loops. `loops` of each item (LoopsKind::kLoops) outlive the contender.
std::unique_ptr<Contender> MakeLoopsContender(const std::vector<CompiledLoops>& loops);

// The same with LoopsKind::kCblas, by the first of `libraries` that loads. Takes graphs with a contraction of
// f32.
std::unique_ptr<Contender> MakeCblasLoopsContender(std::vector<std::string> libraries,
                                                   const std::vector<CompiledLoops>& loops);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_CONTENDERS_CONTENDERS_H_
