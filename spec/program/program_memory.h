// SPDX-License-Identifier: Apache-2.0
// Where the values of a program lie: the plan of its memory.
#ifndef KIRSCH_SPEC_PROGRAM_PROGRAM_MEMORY_H_
#define KIRSCH_SPEC_PROGRAM_PROGRAM_MEMORY_H_

#include <optional>
#include <vector>

#include "spec/program/program.h"

namespace kirsch {

// The kernel runs, numbered in the order of the program's text, from the first to the last that need what a
// value holds; of the parts of a loop that take turns, the same numbers are used again. Both included.
struct Lifetime {
  int first = 0, last = 0;

  friend bool operator==(const Lifetime&, const Lifetime&) = default;
};

// Of each buffer, by its number; nothing of those that the program's body does not use. What a loop uses and
// was there before is needed to its end; what it makes for later, or hands on from trip to trip, from its
// beginning; what every trip makes anew lives within the trip.
std::vector<std::optional<Lifetime>> FindLifetimes(const Program& program);

// The same in phases: there is no saying which run of one another thread has come to.
std::vector<std::optional<Lifetime>> FindPhases(const Program& program);

// Gives each value that is not the caller's its kind of memory and its place, in whole lines: two of a
// thread's own overlap only if their lifetimes don't meet; two that all threads share, as several phases use
// them, if their phases don't; what is made ahead never. Largest first, each as low as there is room. What
// kernels take for themselves (Buffer::temporary) comes behind a thread's own values. Sets the bytes of each
// kind of memory.
void PlaceBuffers(Program* program);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_PROGRAM_PROGRAM_MEMORY_H_
