// The kernel catalogue: the forms a register tile may be computed in, and the registers each takes. Shared by
// the rewrites (what fits), the cost model (what it costs) and the code generator (what is emitted).
#ifndef KIRSCH_SPEC_MICROKERNEL_H_
#define KIRSCH_SPEC_MICROKERNEL_H_

#include <cstdint>

#include "spec/spec.h"
#include "spec/target.h"

namespace kirsch {

// A register tile: `rows` x `columns` accumulators.
//   kVectors      outer-product FMA: a column is a vector along the output's inner dim; per step of the
//                 reduction, `columns` vector loads of rhs and `rows` broadcasts of lhs
//   kPartialSums  dot product: a column is one output element; per `lanes` steps of the reduction, `rows`
//   vector
//                 loads of lhs and `columns` of rhs; the lanes are summed at the end
struct RegisterTile {
  LayoutKind form = LayoutKind::kVectors;
  int lanes = 0;
  int rows = 0;
  int columns = 0;
  bool masked_rhs = false;  // the last vector of rhs must be loaded under a mask
  int accumulators() const { return rows * columns; }
};

// The register tile that computes all of `spec`'s output in the given register layout.
RegisterTile RegisterTileOf(const Spec& spec, const Layout& registers);

// The unit of `target` with vectors of `lanes` elements of `dtype`.
const VectorUnit& UnitWithLanes(const Target& target, int lanes, Dtype dtype);

// Vector registers the tile needs while it runs.
int RegistersNeeded(const RegisterTile& tile, const VectorUnit& unit);

// Accumulator sets the reduction is split over, so that enough independent FMAs are in flight to cover their
// latency: 1, 2 or 4, as registers allow.
int KSplit(const RegisterTile& tile, const VectorUnit& unit);

// Steps of the reduction by which a microkernel prefetches the rows of rhs; 0 where it does not. It does so
// for rows of the caller's matrix that come from L3: too short and too far apart for the hardware to follow.
// (From RAM it would not help: measured, too few lines can be on their way at once.)
int PrefetchSteps(const Spec& spec);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_MICROKERNEL_H_
