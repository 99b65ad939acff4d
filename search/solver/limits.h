// SPDX-License-Identifier: Apache-2.0
// Computes how many cache lines a spec may still fill. Since slow levels are filled first, one number says it
// all: the lines left at the level that is being filled (rewrites/README.md). Pure functions.
//
// A worked example, of an L2 of which 10,000 lines may be filled. The root has its operands in L3; a move of
// a tile of 6,000 lines to L2 leaves 4,000 below it. A pack of 300 lines to L1 then opens L1: below it the
// number is what L1 has, less 300, and L2 is closed.
#ifndef KIRSCH_SEARCH_SOLVER_LIMITS_H_
#define KIRSCH_SEARCH_SOLVER_LIMITS_H_

#include "memo/memo.h"
#include "spec/expansion.h"
#include "spec/spec.h"
#include "spec/target.h"

namespace kirsch {

// The lines of the level that `spec` fills, none of them taken.
Lines EmptyLevel(const Spec& spec, const Target& target);

// The most lines that the tile may have which an expansion of `spec` brings to a level. `available`: the
// lines left to `spec` itself. If the tile goes to a faster level than the one being filled, all of that
// level is free.
Lines RoomFor(const Spec& spec, const Expansion& expansion, Lines available, const Target& target);

// The lines left to the children of an expansion of `spec`, which itself had `available`. Negative if the
// tile does not fit: then the decision is not to be taken.
Lines AvailableBelow(const Spec& spec, const Expansion& expansion, Lines available, const Target& target);

// The fewest lines with which AvailableBelow is not negative; more than kUnlimited if it always is.
Lines LinesNeeded(const Spec& spec, const Expansion& expansion, const Target& target);

// The lines that a node uses of the level its spec fills. `children`: the most that one of its children uses
// of the level that the child's spec fills. It is 0 if the node opens a faster level, as nothing below it
// fills this one.
Lines PeakAbove(const Spec& spec, const Expansion& expansion, Lines children);

// The lines that the operands of a placed root leave free in their level. No more than a thread's share of
// the level, as bounds are proven with EmptyLevel.
//
// If a constant operand is to be prepacked, all free lines count. Then as many lines are left below the copy
// as a root has that reads such a copy from the start (search/graph/operand_copies.h).
Lines AvailableAtPlacement(const Spec& placed_root, const Target& target);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_SOLVER_LIMITS_H_
