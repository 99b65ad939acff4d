// What a predicted cost is made of: the bases of a program's nodes by kind, for finding the term that is off.
#ifndef KIRSCH_FIDELITY_TERMS_H_
#define KIRSCH_FIDELITY_TERMS_H_

#include <map>
#include <string>

#include "cost/cost_model.h"
#include "spec/graph/plan.h"
#include "spec/impl.h"

namespace kirsch {

// Predicted cycles by the kind of the node that takes them: "tile", "parallel", "move L2" (the level it comes
// from), "store" (of a register tile), "pack L2" (the level it goes to), and of microkernels their
// bottleneck, "FMA" or "load" or others, with the level that some operand streams from, if that is none of
// the caches closest: "FMA L2". They add up to the cost.
using Terms = std::map<std::string, double>;

Terms TermsOf(const Impl& impl, const CostModel& model);

// Stages that are no contractions are terms by their kind: "rows", "pad", "pack", "transpose", "transform".
// Threads' sharing is left out, so that of several threads they add up to what all do.
Terms TermsOf(const Plan& plan, const CostModel& model);

}  // namespace kirsch

#endif  // KIRSCH_FIDELITY_TERMS_H_
