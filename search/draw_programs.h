// Programs drawn by chance from the space of a spec: what a cost model is fitted to, and judged by.
#ifndef KIRSCH_SEARCH_DRAW_PROGRAMS_H_
#define KIRSCH_SEARCH_DRAW_PROGRAMS_H_

#include <cstdint>
#include <vector>

#include "cost/cost_model.h"
#include "memo/memo.h"
#include "spec/impl.h"
#include "spec/spec.h"

namespace kirsch {

struct DrawnProgram {
  Impl impl;
  Cost cost = 0;  // as the search would give it
};

// How far programs may be from the optimum: those drawn from the whole space, and those around the optimum.
inline constexpr Cost kFarthestDrawn = 10;
inline constexpr double kFarthestAround = 1.5;

// `count` programs of a placed root that has room (see Search), no two with the same schedule; fewer where the
// space has no more that are easily found. The first is the optimum. Half of the others are random descents: at
// each spec any decision that fits and whose bound leaves the program within kFarthestDrawn optima, each as
// likely as any other; what has more than some hundred different specs is left out, since its code is long.
// The other half are the optimum with the decision of one node, which takes a twentieth of the time at least,
// replaced by another, the best below it, within kFarthestAround optima.
// Deterministic: depends on the spec, the model, the count and the seed, not on what the memo holds.
std::vector<DrawnProgram> DrawPrograms(const Spec& placed_root, const CostModel& model, Memo& memo, int count,
                                       uint64_t seed);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_DRAW_PROGRAMS_H_
