// SPDX-License-Identifier: Apache-2.0
// Makes easier specs whose optimum is a lower bound for a harder one. The solver asks them first: if their
// bound reaches the budget, it need not expand the harder spec. Relaxed specs are ordinary specs. So the memo
// keeps their answers, and one relaxed spec serves many harder ones.
#ifndef KIRSCH_SEARCH_SOLVER_RELAXATION_H_
#define KIRSCH_SEARCH_SOLVER_RELAXATION_H_

#include <optional>

#include "cost/cost_model.h"
#include "spec/spec.h"

namespace kirsch {

// The easier spec, and what the harder one costs at least in addition to it.
struct Relaxation {
  Spec spec;       // to be solved with its filling level empty
  Cost extra = 0;  // cost(harder) >= cost(spec) + extra
};

// Takes one step of relaxation, the first of these that applies:
// 1. It drops the epilogue, if sums may be stored as they are. A program of the harder spec without its
//    epilogue is one of the relaxed spec, and each of its register tiles saves the epilogue's cost.
// 2. It leaves out lhs: that is taken to be dense and in registers, at no cost, and needs no widening. So the
//    answer serves all places and layouts of lhs. Rhs and the output are brought and copied as they are.
// 3. It makes every operand dense: no strides and no panels. So every line is full, and every tile size is
//    allowed. An operand that overlaps itself, such as a window, takes no lines and no time. Narrow inputs
//    need no widening if they may still be copied. An input that is read as it lies keeps its type and its
//    groups. An rhs that copies may ask for ahead may still be so (CostModel prices its move as either).
// 4. It brings the operands at the slowest level one level closer, until all are in L1.
//
// Example, of `relu(matmul)` with strided operands in L3: first the matmul alone, strided in L3. Then without
// lhs, then dense in L3, then dense in L1. Each asks the next one when it is solved.
//
// Why this is a bound: take any program of the harder spec, and leave out its moves and packs into levels
// that the relaxed spec starts at. The rest is a program of the relaxed spec. Each of its transfers costs no
// more, and every compulsory line is cheaper by at least the difference between the levels.
//
// Returns nothing where everything is dense and in L1 already, the output is in registers, or threads may
// still be given work; nor in these cases, in which an epilogue may still be left out:
// - An operand is constant: its layout is not chosen yet.
// - Lhs may still be rounded, and then be multiplied faster.
// Nor in these, in which lhs may be left out, too:
// - Rhs lies along the reduction, and may still be copied: dot products and outer products compete.
// - Rhs lies along the reduction, beyond L2: columns that are prefetched cost less than dense ones.
// - The closer level is not the cheaper one, as a target file may say.
std::optional<Relaxation> Relax(const Spec& spec, const CostModel& model);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_SOLVER_RELAXATION_H_
