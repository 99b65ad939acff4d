// SPDX-License-Identifier: Apache-2.0
// The rewrites: for a spec, the decisions that may be taken (its rewrite space), and what each turns the spec
// into. Everything here is about what is legal; what is fast is cost/'s business.
//
// The stated space, which the search explores exactly:
//   * Moves fill slow levels first: an operand may move to (or be packed into) a level that is at least
//     as fast as every level in use. So one level is being filled, slower ones are closed, faster ones are
//     empty. A single number, the lines left at the level being filled, is all there is of limits.
//   * A constant operand is prepacked, before anything else; in plain rows at least.
//   * A batch is split first, one matrix at a time (or shared out over threads).
//   * Tile sizes come from a lattice per kind of dim (tile_sizes.h); any remainder is a spec of its own.
//   * A spec whose output fits the registers is not tiled along a reduction: the microkernel does that.
// Thread-safe: everything here is a pure function.
#ifndef KIRSCH_REWRITES_SPEC_REWRITE_H_
#define KIRSCH_REWRITES_SPEC_REWRITE_H_

#include <vector>

#include "spec/decision.h"
#include "spec/expansion.h"
#include "spec/spec.h"
#include "spec/target.h"

namespace kirsch {

// Replaces *decisions by all that the space holds for `spec`, in a fixed order. Limits are not considered
// here.
void EnumerateDecisions(const Spec& spec, const Target& target, std::vector<Decision>* decisions);

// Applies a decision. Precondition: it is one that EnumerateDecisions yields for the spec.
void Expand(const Spec& spec, const Decision& decision, const Target& target, Expansion* expansion);

// True if `decision` is in the space of `spec` (used on schedules that come from outside).
bool IsLegal(const Spec& spec, const Decision& decision, const Target& target);

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_SPEC_REWRITE_H_
