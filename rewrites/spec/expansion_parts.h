// SPDX-License-Identifier: Apache-2.0
// Adds to an expansion what most rewrites have in common: children, and the data that moves. Internal to
// rewrites/.
#ifndef KIRSCH_REWRITES_SPEC_EXPANSION_PARTS_H_
#define KIRSCH_REWRITES_SPEC_EXPANSION_PARTS_H_

#include <cstdint>

#include "spec/expansion.h"
#include "spec/footprint.h"
#include "spec/level.h"
#include "spec/spec.h"
#include "spec/target.h"

namespace kirsch {

// Returns the spec of a tile. A window may have fewer digits then (NarrowWindow).
Spec WithSize(const Spec& spec, int dim, uint32_t size);

// Adds a child that runs so often; none if it never does.
void AddChild(const Spec& spec, int64_t trips, Expansion* expansion);

// Notes that the operand's tile comes from its level to `to`, once per run of the node.
void AddTransfer(const Spec& spec, int operand, Level to, const Footprint& footprint, const Target& target,
                 Expansion* expansion);

inline Transfer& LastTransfer(Expansion* expansion) {
  return expansion->transfers[static_cast<size_t>(expansion->num_transfers - 1)];
}

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_SPEC_EXPANSION_PARTS_H_
