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

// One step of relaxation. First the epilogue goes, if sums may be stored as they are: a program without it is
// one of the relaxed spec, whose register tiles take so much less. Then every operand becomes dense (no
// strides, no panels: every line is full, every tile size allowed; an operand that overlaps itself, such as a
// window, takes no lines and no time; narrow inputs need no widening, but for an rhs of which no other copy
// will be made), then the operands at the slowest level come one level closer. Why this
// is a bound: take any program of the harder spec and leave out its moves and packs into levels that the
// relaxed spec starts at; what is left is a program of the relaxed spec, each transfer of which costs no
// more, and every compulsory line is cheaper by at least the difference between the levels. Nothing when
// there is no epilogue to leave out and everything is dense and in L1 already; or an operand is constant, its
// layout yet to be chosen; or lhs may yet be rounded, and multiplied faster; or rhs is contiguous along the
// reduction, so that dot products and outer products compete and density is no relaxation; or the closer
// level is not the cheaper one.
std::optional<Relaxation> Relax(const Spec& spec, const CostModel& model);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_SOLVER_RELAXATION_H_
