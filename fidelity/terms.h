// SPDX-License-Identifier: Apache-2.0
// Splits a predicted cost by what takes it, so that the term that is off can be found.
//
// If the programs of one term are all predicted to be too fast, the constants behind that term are the
// suspects: corpus_text.h prints the terms of the programs that are furthest off.
#ifndef KIRSCH_FIDELITY_TERMS_H_
#define KIRSCH_FIDELITY_TERMS_H_

#include <map>
#include <string>

#include "cost/cost_model.h"
#include "spec/impl.h"
#include "spec/program/plan.h"

namespace kirsch {

// Predicted cycles by what takes them:
//   "tile", "parallel"       the loops of tiles; loops shared by threads
//   "wait L2"                waiting for lines, by the slowest level that they come from
//   "pack L2"                copies, by the level they go to
//   "store", "store masked"  register tiles, from and to memory, with what their epilogues take
//   "entry"                  microkernels apart from their trips
//   "trips load sums fma"    trips of microkernels: the bottleneck, the form of the register tile
//                            (vectors, sums, tiles or lanewise), and the instruction
//
// The terms of one program add up to its cost.
using Terms = std::map<std::string, double>;

// The terms of a program tree.
Terms TermsOf(const Impl& impl, const CostModel& model);

// The terms of a plan. Stages that are no contractions are terms by their kind: "rows", "pad", "pack",
// "transpose", "transform". What a contraction's stage takes beside its program is "fetch". Threads' sharing
// is left out, so with several threads the terms add up to what all of them do.
Terms TermsOf(const Plan& plan, const CostModel& model);

}  // namespace kirsch

#endif  // KIRSCH_FIDELITY_TERMS_H_
