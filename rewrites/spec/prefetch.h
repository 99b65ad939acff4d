// SPDX-License-Identifier: Apache-2.0
// How far ahead a microkernel prefetches what it streams. Internal to rewrites/.
#ifndef KIRSCH_REWRITES_SPEC_PREFETCH_H_
#define KIRSCH_REWRITES_SPEC_PREFETCH_H_

#include <vector>

#include "rewrites/spec/rewrite.h"

namespace kirsch {

// Appends microkernels that prefetch, where rhs comes from beyond L2. The spec's output is in registers.
// clang-format off
//   rows of rhs, along   256 to 2048 bytes on, into the tiles beside this one; of 16 at most
//   rows, across         8 rows on, of 32 at least
//   columns, along       256 to 2048 bytes on, of twice as many at least
//   columns, across      the tile beside this one
// clang-format on
void EnumeratePrefetches(const Spec& spec, const Target& target, std::vector<Decision>* decisions);

// What the microkernel `decision` asks for ahead of its reads of rhs.
void PrefetchRhs(const Spec& spec, const Decision& decision, const Target& target, Transfer* rhs);

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_SPEC_PREFETCH_H_
