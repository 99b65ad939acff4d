// SPDX-License-Identifier: Apache-2.0
// Holds a decision: one rewrite with its parameters. The memo stores decisions, and a schedule is made of
// them. It is never an index into an enumeration, so a table outlives a change in the order of enumeration.
#ifndef KIRSCH_SPEC_DECISION_H_
#define KIRSCH_SPEC_DECISION_H_

#include <cstddef>
#include <cstdint>

#include "spec/dtype.h"
#include "spec/layout.h"
#include "spec/level.h"

namespace kirsch {

enum class RewriteKind : uint8_t {
  kNone,          // no decision yet
  kTile,          // run the spec on consecutive tiles of `size` along `dim`; the remainder is its own spec
  kParallelTile,  // the same, the tiles shared out over `parts` groups of threads
  kMove,          // make `operand` resident at `level` (same layout)
  kPack,          // copy `operand` to a buffer at `level` in `layout`; a constant one once, ahead
  kMicrokernel,   // compute the register tile; `layout` of the output names the form. Prefetches the
                  // elements of rhs that lie `size` further along `dim` than those it reads; 0: none
};
inline constexpr size_t kRewriteKinds = static_cast<size_t>(RewriteKind::kMicrokernel) + 1;

// Of a constant operand, the copy's layout may also be kStrided (with `ld` 0): plain rows that follow each
// other. Parameters that the kind does not use have their defaults.
struct Decision {
  RewriteKind kind = RewriteKind::kNone;
  uint8_t dim = 0;
  uint8_t operand = 0;
  Level level = Level::kVrf;
  uint32_t size = 0;          // tile size; kMicrokernel: elements to prefetch ahead
  uint32_t parts = 0;         // kParallelTile: groups of threads
  Layout layout;              // kPack: the copy's layout; kMove to VRF: the register layout
  Dtype dtype = Dtype::kF32;  // kPack: the copy's

  friend bool operator==(const Decision&, const Decision&) = default;
};

}  // namespace kirsch

#endif  // KIRSCH_SPEC_DECISION_H_
