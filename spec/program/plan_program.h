// SPDX-License-Identifier: Apache-2.0
// The program of a graph: its plan, written in the shapes of spec/program/program.h.
#ifndef KIRSCH_SPEC_PROGRAM_PLAN_PROGRAM_H_
#define KIRSCH_SPEC_PROGRAM_PLAN_PROGRAM_H_

#include "spec/program/plan.h"
#include "spec/program/program.h"
#include "spec/target.h"

namespace kirsch {

// The program that computes `plan`. Its buffers begin with the caller's: the graph's parameters, then its
// result, by their own names. Thread-safe.
Program WriteProgram(const Plan& plan, const Target& target);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_PROGRAM_PLAN_PROGRAM_H_
