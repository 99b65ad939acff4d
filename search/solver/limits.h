// SPDX-License-Identifier: Apache-2.0
// Limits: how many lines a spec may still fill. There is one number, the lines left at the level being filled
// (see rewrites/README.md). Pure functions.
#ifndef KIRSCH_SEARCH_SOLVER_LIMITS_H_
#define KIRSCH_SEARCH_SOLVER_LIMITS_H_

#include "memo/memo.h"
#include "spec/expansion.h"
#include "spec/spec.h"
#include "spec/target.h"

namespace kirsch {

// The lines of the level that `spec` fills, none of them taken.
Lines EmptyLevel(const Spec& spec, const Target& target);

// The lines that the tile which an expansion of `spec` brings to a level may have; `available` is as below.
Lines RoomFor(const Spec& spec, const Expansion& expansion, Lines available, const Target& target);

// Lines left for the specs below an expansion of `spec`, which had `available`; negative if the tile won't
// fit.
Lines AvailableBelow(const Spec& spec, const Expansion& expansion, Lines available, const Target& target);

// What a node uses of the level its spec fills, given what its children use of the level theirs fill.
Lines PeakAbove(const Spec& spec, const Expansion& expansion, Lines children);

// The lines of its level that the operands of a placed root leave free; no more than a thread's share,
// as bounds are proven with EmptyLevel. Of a root whose constant operand is to be prepacked, all that are
// free: so below the copy are as many as a root has that reads one (search/graph/operand_copies.h).
Lines AvailableAtPlacement(const Spec& placed_root, const Target& target);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_SOLVER_LIMITS_H_
