// SPDX-License-Identifier: Apache-2.0
// Chooses how far ahead a microkernel prefetches the rhs that it streams. Hardware prefetchers lose the first
// lines of each run, and all lines of too many runs; an instruction can ask for them in time. Internal to
// rewrites/.
//
//   before -> after, for an rhs of f32 in RAM, 16 long rows side by side:
//     microkernel  ->  microkernel; or microkernel that prefetches 64, 128, 256 or 512 elements ahead
#ifndef KIRSCH_REWRITES_SPEC_PREFETCH_H_
#define KIRSCH_REWRITES_SPEC_PREFETCH_H_

#include <vector>

#include "rewrites/spec/rewrite.h"

namespace kirsch {

// Appends microkernels that prefetch, where rhs comes from beyond L2. The spec's output is in registers.
// Lines must stay in L1 until they are read. See bench/lab/2026-11-26.md.
// clang-format off
//   rows of rhs, along   256 to 2048 bytes on, into the tiles beside this one; of 16 at most
//   rows, across         8 rows on, of 32 at least
//   columns, along       256 to 2048 bytes on, of twice as many at least
//   columns, across      the tile beside this one
//   panels of blocks     1 to 8 blocks on
// clang-format on
void EnumeratePrefetches(const Spec& spec, const Target& target, std::vector<Decision>* decisions);

// Notes in `rhs` how many lines the microkernel `decision` has asked for at any time, ahead of its reads, and
// which share of all lines none asks for.
void PrefetchRhs(const Spec& spec, const Decision& decision, const Target& target, Transfer* rhs);

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_SPEC_PREFETCH_H_
