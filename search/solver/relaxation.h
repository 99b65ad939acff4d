// SPDX-License-Identifier: Apache-2.0
// Relaxed specs: easier specs whose optimum bounds that of a harder one from below. They are ordinary specs,
// so they are solved and remembered like any other, and one relaxed spec serves many harder ones.
#ifndef KIRSCH_SEARCH_SOLVER_RELAXATION_H_
#define KIRSCH_SEARCH_SOLVER_RELAXATION_H_

#include <optional>

#include "cost/cost_model.h"
#include "spec/spec.h"

namespace kirsch {

struct Relaxation {
  Spec spec;       // to be solved with its filling level empty
  Cost extra = 0;  // cost(harder) >= cost(spec) + extra
};

// One step of relaxation:
// 1. The epilogue goes, if sums may be stored as they are: a program without it is one of the relaxed spec,
//    whose register tiles take so much less.
// 2. Every operand becomes dense: no strides, no panels, so every line is full and every tile size allowed.
// An
//    operand that overlaps itself, such as a window, takes no lines and no time. Narrow inputs need no
//    widening if they may still be copied; what is read as it lies keeps its type and its groups.
// 3. The operands at the slowest level come one level closer.
//
// Why this is a bound: take any program of the harder spec and leave out its moves and packs into levels that
// the relaxed spec starts at. What is left is a program of the relaxed spec. Each of its transfers costs no
// more, and every compulsory line is cheaper by at least the difference between the levels.
//
// Nothing where everything is dense and in L1 already; where an operand is constant, its layout yet to be
// chosen; where lhs may yet be rounded, and multiplied faster; where rhs lies along the reduction and may
// still be copied, so that dot products and outer products compete; or lies so beyond L2, as columns that are
// asked for ahead come cheaper than dense ones; or where the closer level is not the cheaper one.
std::optional<Relaxation> Relax(const Spec& spec, const CostModel& model);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_SOLVER_RELAXATION_H_
