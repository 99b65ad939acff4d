// SPDX-License-Identifier: Apache-2.0
// Holds a kernel's program as the search decides on it, whichever kind of kernel it is. So whoever prints,
// verifies or emits a kernel need not know whether it is a spec or a graph.
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

// Counts the multiplications and additions of what the tree computes.
double Flops(const ProgramTree& tree);

// True if the products are of integers. For a graph this is about its first contraction, or, if it has none,
// its result.
bool IsOfIntegers(const ProgramTree& tree);

// Prints the decisions as --schedule reads them: see spec/language/schedule.h and plan_schedule.h.
std::string PrintSchedule(const ProgramTree& tree);

// Prints for people: the schedule of a spec, the loop nests of a graph. TreeName returns the word for that
// text: "schedule" or "plan".
std::string PrintTree(const ProgramTree& tree);
const char* TreeName(const ProgramTree& tree);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_PROGRAM_PROGRAM_TREE_H_
