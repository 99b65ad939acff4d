// SPDX-License-Identifier: Apache-2.0
// A kernel's program as the search decides on it, whichever kind of kernel it is.
#ifndef KIRSCH_SPEC_PROGRAM_PROGRAM_TREE_H_
#define KIRSCH_SPEC_PROGRAM_PROGRAM_TREE_H_

#include <string>
#include <variant>

#include "spec/impl.h"
#include "spec/program/plan.h"
#include "spec/program/program.h"
#include "spec/target.h"

namespace kirsch {

// A contraction's tree of decisions, or a graph's plan.
using ProgramTree = std::variant<Impl, Plan>;

// The same in the shapes of spec/program/program.h. Thread-safe.
Program WriteProgram(const ProgramTree& tree, const Target& target);

// Multiplications and additions of what it computes.
double Flops(const ProgramTree& tree);

// Are its products of integers? A graph's are those of its first contraction, or without one the result.
bool IsOfIntegers(const ProgramTree& tree);

// The decisions as --schedule reads them: see spec/language/schedule.h and plan_schedule.h.
std::string PrintSchedule(const ProgramTree& tree);

// For people: the schedule of a spec, the loop nests of a graph. And what people call that: "schedule" or
// "plan".
std::string PrintTree(const ProgramTree& tree);
const char* TreeName(const ProgramTree& tree);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_PROGRAM_PROGRAM_TREE_H_
