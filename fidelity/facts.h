// SPDX-License-Identifier: Apache-2.0
// Counts what a program does, without pricing it. A model of its time may be learned from these numbers,
// beside the terms of its price (fidelity/learned).
#ifndef KIRSCH_FIDELITY_FACTS_H_
#define KIRSCH_FIDELITY_FACTS_H_

#include <map>
#include <string>

#include "cost/cost_model.h"
#include "spec/impl.h"
#include "spec/program/plan.h"

namespace kirsch {

// The counts of one run of the program, by name:
//   "microkernels"              runs of microkernels
//   "trips", "instructions", "multiply-adds", "spills"
//                               of their loops, as cost/tile_facts.h has them; the last two in whole vectors
//   "read L2", "written L2"     bytes that cross from a level to the next closer one, and back
//   "held L1"                   bytes that are kept in a cache, at most, as a share of it
//
// Counts of 0 are left out. Cost keys of a target matter only where they decide what is legal.
using Facts = std::map<std::string, double>;

// The facts of a program tree.
Facts GatherFacts(const Impl& impl, const CostModel& model);

// The facts of a plan. Row programs of a graph have traffic, but no microkernels.
Facts GatherFacts(const Plan& plan, const CostModel& model);

}  // namespace kirsch

#endif  // KIRSCH_FIDELITY_FACTS_H_
