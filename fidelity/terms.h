// SPDX-License-Identifier: Apache-2.0
// What a predicted cost is made of: the bases of a program's nodes by kind, for finding the term that is off.
#ifndef KIRSCH_FIDELITY_TERMS_H_
#define KIRSCH_FIDELITY_TERMS_H_

#include <map>
#include <string>

#include "cost/cost_model.h"
#include "spec/impl.h"
#include "spec/program/plan.h"

namespace kirsch {

// Predicted cycles by what takes them:
//   "tile", "parallel"       the loops of tiles; shared by threads
//   "wait L2"                what waits for lines, by the level they come from
//   "pack L2"                copies, by the level they go to
//   "store", "store masked"  register tiles, from and to memory, with what their epilogues take
//   "entry"                  microkernels apart from their trips
//   "trips load sums fma"    trips of microkernels: the bottleneck, the form of the register tile
//                            (vectors, sums or lanewise), and the instruction
// They add up to the cost.
using Terms = std::map<std::string, double>;

Terms TermsOf(const Impl& impl, const CostModel& model);

// Stages that are no contractions are terms by their kind: "rows", "pad", "pack", "transpose", "transform".
// Threads' sharing is left out, so that of several threads they add up to what all do.
Terms TermsOf(const Plan& plan, const CostModel& model);

}  // namespace kirsch

#endif  // KIRSCH_FIDELITY_TERMS_H_
