// SPDX-License-Identifier: Apache-2.0
// Brings operands closer to the core as they lie, or the output into registers. Internal to rewrites/.
//
//   before -> after, for an rhs of f32 64x512 in RAM, rows 512 elements apart:
//     move rhs L2    the spec with rhs in L2, resident: no code, lines come when first read
//     move out VRF   the spec with the output in registers; what is left is the microkernel
#ifndef KIRSCH_REWRITES_SPEC_MOVE_H_
#define KIRSCH_REWRITES_SPEC_MOVE_H_

#include "spec/decision.h"
#include "spec/expansion.h"
#include "spec/spec.h"
#include "spec/target.h"

namespace kirsch {

// Expands a move of either kind: to a cache, or into a register tile.
void ExpandMove(const Spec& spec, const Decision& decision, const Target& target, Expansion* expansion);

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_SPEC_MOVE_H_
