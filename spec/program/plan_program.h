// SPDX-License-Identifier: Apache-2.0
// Writes the program of a graph: its plan becomes loops, kernel runs and buffers in the shapes of
// spec/program/program.h.
#ifndef KIRSCH_SPEC_PROGRAM_PLAN_PROGRAM_H_
#define KIRSCH_SPEC_PROGRAM_PLAN_PROGRAM_H_

#include "spec/program/plan.h"
#include "spec/program/program.h"
#include "spec/target.h"

namespace kirsch {

// Writes the program that computes `plan`. The buffers begin with the caller's: the graph's parameters, then
// its result, with the names that they have for the caller. Thread-safe.
Program WriteProgram(const Plan& plan, const Target& target);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_PROGRAM_PLAN_PROGRAM_H_
