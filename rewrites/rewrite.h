// The rewrites: for a spec, the decisions that may be taken (its rewrite space), and what each turns the spec
// into. Everything here is about what is legal; what is fast is cost/'s business.
//
// The stated space, which the search explores exactly:
//   * Moves fill slow levels first: an operand may move to (or be packed into) a level that is at least as fast
//     as every level in use. So at any time one level is being filled, slower ones are closed, faster ones are
//     empty, and a single number - the lines left at the level being filled - is all there is of limits.
//   * A batch is split first, one matrix at a time (or shared out over threads).
//   * Tile sizes come from a lattice per kind of dim (lattice.h); any remainder is a spec of its own.
//   * A spec whose output fits the registers is not tiled along a reduction: the microkernel does that.
// Thread-safe: everything here is a pure function.
#ifndef KIRSCH_REWRITES_REWRITE_H_
#define KIRSCH_REWRITES_REWRITE_H_

#include <array>
#include <cstdint>
#include <vector>

#include "spec/decision.h"
#include "spec/footprint.h"
#include "spec/impl.h"
#include "spec/spec.h"
#include "spec/target.h"

namespace kirsch {

// Data crossing levels once per execution of the node.
struct Transfer {
  Level from = Level::kVrf;  // the slower end
  Footprint read;            // zero when the output is only written
  Footprint written;         // zero for inputs
};

// What one decision makes of a spec: plain data, priced by cost/.
struct Expansion {
  struct Child {
    Spec spec;
    int64_t trips = 0;
  };
  int num_children = 0;
  std::array<Child, 3> children;  // in execution order; see impl.h
  int num_transfers = 0;
  std::array<Transfer, kMaxOperands> transfers;  // move, pack: the operand; microkernel: operands that stream
  int64_t copied_elements = 0;                   // pack: elements the copy loop handles
  bool copy_transposes = false;                  // pack: the contiguous axis changes
  Level filled = Level::kVrf;                    // move, pack: the level that receives the tile ...
  int64_t filled_lines = 0;                      // ... and the lines it takes there
};

// Replaces *decisions by all that the space holds for `spec`, in a fixed order. Limits are not considered here.
void EnumerateDecisions(const Spec& spec, const Target& target, std::vector<Decision>* decisions);

// Applies a decision. Precondition: it is one that EnumerateDecisions yields for the spec.
void Expand(const Spec& spec, const Decision& decision, const Target& target, Expansion* expansion);

// True if `decision` is in the space of `spec` (used on schedules that come from outside).
bool IsLegal(const Spec& spec, const Decision& decision, const Target& target);

// The fastest memory level in use by the spec's operands (registers aside): the level being filled.
Level FillingLevel(const Spec& spec);

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_REWRITE_H_
