// SPDX-License-Identifier: Apache-2.0
// What a program does, in numbers that are counted, not priced: what a model of its time may be learned from,
// beside the terms of its price.
#ifndef KIRSCH_FIDELITY_FACTS_H_
#define KIRSCH_FIDELITY_FACTS_H_

#include <map>
#include <string>

#include "cost/cost_model.h"
#include "spec/impl.h"
#include "spec/program/plan.h"

namespace kirsch {

// Of one run of the program:
//   "microkernels"              runs of microkernels
//   "trips", "instructions", "multiply-adds", "spills"
//                               of their loops, as cost/tile_facts.h has them; the last two in whole vectors
//   "read L2", "written L2"     bytes that cross from a level to what is closer to the core, and back
//   "held L1"                   bytes that are kept in a cache, at most, as a share of it
// What is none is left out. Nothing depends on a target's cost keys but through what is legal.
using Facts = std::map<std::string, double>;

Facts GatherFacts(const Impl& impl, const CostModel& model);

// Rows of a graph have traffic, no microkernels.
Facts GatherFacts(const Plan& plan, const CostModel& model);

}  // namespace kirsch

#endif  // KIRSCH_FIDELITY_FACTS_H_
