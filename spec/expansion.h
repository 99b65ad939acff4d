// SPDX-License-Identifier: Apache-2.0
// Holds an expansion: what one decision makes of a spec. rewrites/ produces it and cost/ prices it, so
// neither has to know the other.
#ifndef KIRSCH_SPEC_EXPANSION_H_
#define KIRSCH_SPEC_EXPANSION_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "spec/footprint.h"
#include "spec/level.h"
#include "spec/spec.h"

namespace kirsch {

// The data of one operand that crosses levels once each time the node runs.
struct Transfer {
  Level from = Level::kVrf;  // the slower end
  Level to = Level::kVrf;    // the faster end; kVrf: through to the core
  Footprint read;            // zero when the output is only written
  Footprint written;         // zero for inputs
  bool in_order = false;     // the rows are read a few at a time, not all side by side
  bool one_by_one = false;   // the runs are read one after another, with no other beside it
  bool one_stream = false;   // the only run goes on in the next tile: the stream is as long as the operand
  int64_t new_runs = 0;     // runs that end with the tile, as those along the reduction and panels but one do
  int64_t ahead_lines = 0;  // lines that prefetch instructions have asked for at any time; 0: there are none
  bool by_tiles = false;    // of rhs: microkernels ask for each tile while they go over the one before
  bool rows_conflict = false;  // of rhs: the rows of its tile evict each other from L1
  double head = 0;             // the share of all lines that none asks for: the first ones of each run
  // All of it is asked for while the tile before is worked on. So its way to L2 hides whole behind the time
  // which that takes.
  bool a_tile_ahead = false;
};

// Plain data: the specs that the decision makes, how often each runs, and what is moved and held.
struct Expansion {
  struct Child {
    Spec spec;
    int64_t trips = 0;
    int64_t weight =
        0;  // trips that take time one after another: fewer than `trips` where they run in parallel
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

// Returns the fastest memory level that the spec's operands use, registers aside. It is the level whose room
// is being given out at this point of a program.
Level FillingLevel(const Spec& spec);

// Returns the child that does most of the work, by its arithmetic in all runs; the first of equals. There is
// at least one child.
size_t MainChild(const Expansion& expansion);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_EXPANSION_H_
