// SPDX-License-Identifier: Apache-2.0
// Brings operands closer to the core: as they lie (a move), as a copy in a better layout (a pack), or into
// registers. Internal to rewrites/.
//
//   before -> after, for an rhs of f32 64x512 in RAM, rows 512 elements apart:
//     move rhs L2                the spec with rhs in L2, resident: no code, lines come when first read
//     pack rhs L2, panels of 32  the spec with a copy in L2: 16 panels of 64x32, one behind the other
//     move out VRF               the spec with the output in registers; what is left is the microkernel
#ifndef KIRSCH_REWRITES_SPEC_MOVE_H_
#define KIRSCH_REWRITES_SPEC_MOVE_H_

#include <vector>

#include "rewrites/spec/rewrite.h"

namespace kirsch {

// Append the moves of operands to each cache that the rules allow.
void EnumerateMoves(const Spec& spec, const Target& target, std::vector<Decision>* decisions);
void ExpandMove(const Spec& spec, const Decision& decision, const Target& target, Expansion* expansion);

// Appends the copies of operands in layouts that some microkernel reads faster.
void EnumeratePacks(const Spec& spec, const Target& target, std::vector<Decision>* decisions);
// Appends the ways to prepack an operand that is constant, at the level where it is placed: as any copy, or
// as plain rows. A spec with a constant operand has no other decisions: the first one clears `constant`.
void EnumerateConstantPacks(const Spec& spec, int operand, const Target& target,
                            std::vector<Decision>* decisions);

// Expands a pack of either kind.
void ExpandPack(const Spec& spec, const Decision& decision, const Target& target, Expansion* expansion);

// Appends moves of the output into registers, one per register layout that fits. Appends nothing if none
// does.
void EnumerateRegisterTiles(const Spec& spec, const Target& target, std::vector<Decision>* decisions);

// Expands the microkernel on a register tile: the only leaf. Its operands below L1 stream through, as
// transfers.
void ExpandMicrokernel(const Spec& spec, const Decision& decision, const Target& target,
                       Expansion* expansion);

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_SPEC_MOVE_H_
