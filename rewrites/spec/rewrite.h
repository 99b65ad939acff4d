// SPDX-License-Identifier: Apache-2.0
// Enumerates the rewrites of specs: for a spec the decisions that may be taken (its rewrite space), and the
// specs that each makes of it. Everything here is about what is legal; what is fast is cost/'s business.
//
//   matmul f32 100x300x512, all in L2:
//     tile m 32      ->  3 times 32x300x512, then once 4x300x512
//     move rhs L1    ->  the same spec, rhs in L1
//     pack rhs L1    ->  the same spec, rhs a copy in panels, in L1
//
// The stated space, which the search explores exactly:
//
// - Moves fill slow levels first: an operand may move to (or be packed into) a level that is at least as fast
//   as every level in use. So one level is being filled, slower ones are closed, faster ones are empty. The
//   lines left at the level being filled are the only limit.
// - A constant operand is prepacked, before anything else; in plain rows at least.
// - A batch is split first, one matrix at a time, or shared out over threads.
// - Tile sizes come from a lattice per kind of dim (tile_sizes.h); any remainder is a spec of its own.
// - A spec whose output fits the registers is not tiled along a reduction: the microkernel does that. It is
//   where a matrix unit multiplies the types, whose tiles take one step of the reduction.
//
// Thread-safe: everything here is a pure function.
#ifndef KIRSCH_REWRITES_SPEC_REWRITE_H_
#define KIRSCH_REWRITES_SPEC_REWRITE_H_

#include <optional>
#include <vector>

#include "spec/decision.h"
#include "spec/expansion.h"
#include "spec/spec.h"
#include "spec/target.h"

namespace kirsch {

// Replaces *decisions by all that the space holds for `spec`, in a fixed order, since ties are decided by it.
// Limits are not considered here: whether a fill fits is seen from its expansion.
void EnumerateDecisions(const Spec& spec, const Target& target, std::vector<Decision>* decisions);

// Replaces *expansion by what the decision makes of the spec. Precondition: EnumerateDecisions yields the
// decision for the spec.
void Expand(const Spec& spec, const Decision& decision, const Target& target, Expansion* expansion);

// True if `decision` is in the space of `spec`. Schedules that come from outside are checked so.
bool IsLegal(const Spec& spec, const Decision& decision, const Target& target);

// Rows without gaps, as those of copies.
inline constexpr Layout kDense{LayoutKind::kPacked, Order::kRow, 0, 1, 0};

// Returns the spec with a dense lhs in registers, of the type in which it is multiplied. There is a program
// of it for each one of the spec, with the same products and the same copies of rhs. Nothing, where there are
// programs of the spec for which there is none.
std::optional<Spec> WithoutLhs(const Spec& spec, const Target& target);

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_SPEC_REWRITE_H_
