// SPDX-License-Identifier: Apache-2.0
// Plans the memory of a program: says how long each value is needed, and gives it a place that no other value
// uses at that time.
#ifndef KIRSCH_SPEC_PROGRAM_PROGRAM_MEMORY_H_
#define KIRSCH_SPEC_PROGRAM_PROGRAM_MEMORY_H_

#include <optional>
#include <vector>

#include "spec/program/program.h"

namespace kirsch {

// The first and the last kernel run that need what a value holds, both included. Runs are numbered in the
// order of the program's text. Parts that take turns (of a loop, of a OneOf) use the same numbers.
//
// Example: k0 writes b3, k1 reads b3 and writes b4, k2 reads b4: b3 lives from 0 to 1, b4 from 1 to 2.
struct Lifetime {
  int first = 0, last = 0;

  friend bool operator==(const Lifetime&, const Lifetime&) = default;
};

// The lifetime of each buffer, by its number; nothing for those that the program's body does not use. A value
// from before a loop that the loop uses is needed until the loop ends. A value that the loop makes for later,
// or hands on from trip to trip, is needed from the loop's beginning. A value that every trip makes anew
// lives within the trip.
std::vector<std::optional<Lifetime>> FindLifetimes(const Program& program);

// The same in phases instead of runs, for memory that all threads share: nobody knows which run of a phase
// another thread has come to.
std::vector<std::optional<Lifetime>> FindPhases(const Program& program);

// Gives each value that is not the caller's its kind of memory and its place, in whole lines, and sets the
// bytes of each kind. Two values of a thread's own overlap only if their lifetimes do not meet. Two values
// that several phases use, so that all threads share them, overlap only if their phases do not meet. Values
// that are made ahead never overlap. The largest value is placed first, each as low as there is room.
// Temporaries (Buffer::temporary) come behind a thread's own values.
void PlaceBuffers(Program* program);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_PROGRAM_PROGRAM_MEMORY_H_
