// SPDX-License-Identifier: Apache-2.0
// Moving and packing operands, and the register tile. Internal to rewrites/.
#ifndef KIRSCH_REWRITES_SPEC_MOVE_H_
#define KIRSCH_REWRITES_SPEC_MOVE_H_

#include <vector>

#include "rewrites/spec/rewrite.h"

namespace kirsch {

void EnumerateMoves(const Spec& spec, const Target& target, std::vector<Decision>* decisions);
void ExpandMove(const Spec& spec, const Decision& decision, const Target& target, Expansion* expansion);

void EnumeratePacks(const Spec& spec, const Target& target, std::vector<Decision>* decisions);
// How an operand that is constant may be prepacked, at the level where it is placed: as any copy, or as
// plain rows. All there is to decide before `constant` is cleared.
void EnumerateConstantPacks(const Spec& spec, int operand, const Target& target,
                            std::vector<Decision>* decisions);

// What either turns the spec into.
void ExpandPack(const Spec& spec, const Decision& decision, const Target& target, Expansion* expansion);

// Moves of the output into registers, one per register layout that fits. Appends nothing if none does.
void EnumerateRegisterTiles(const Spec& spec, const Target& target, std::vector<Decision>* decisions);

// The microkernel on a register tile: its operands below L1 stream through.
void ExpandMicrokernel(const Spec& spec, const Decision& decision, const Target& target,
                       Expansion* expansion);

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_SPEC_MOVE_H_
