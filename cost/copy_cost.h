// SPDX-License-Identifier: Apache-2.0
// Prices copies that pack, widen, decode and turn, as parts of a program or as stages of their own.
//
//   turn a matrix of bf16, by squares of 4 x 4: 0.5 cycles an element, so 8 cycles a square
#ifndef KIRSCH_COST_COPY_COST_H_
#define KIRSCH_COST_COPY_COST_H_

#include <cstdint>

#include "spec/dtype.h"
#include "spec/level.h"
#include "spec/program/plan.h"
#include "spec/spec.h"
#include "spec/target.h"
#include "spec/traffic.h"

namespace kirsch {

// Cycles for an element, loaded, turned and stored, by squares of 4 x 4 elements, on any target.
inline constexpr double kSmallSquareCycles = 0.5;

// Returns the cycles for an element of `bytes` bytes in a copy that turns a matrix: by squares as wide as a
// vector, if it is a word or more, else by small ones.
double SquareCycles(int bytes, const VectorUnit& unit);

// Return the cycles for an element of a copy that decodes blocks: to f32, or to words where `to` is of bf16
// and nothing is rounded. Beside that, RecodingInCopies: to round it to bf16, or to give its codes 8 bits.
// (Floats of 8 bits are decoded by vectors of 32 bytes at most; twice as many are taken to last as long as
// wider ones.)
double DecodingInCopies(Dtype from, Dtype to, const VectorUnit& unit);
double RecodingInCopies(Dtype from, Dtype to, const VectorUnit& unit);

// Returns the cycles for an element of a copy that widens it, puts it into its place in a word of several, or
// makes q8 of it.
double ConvertingInCopies(Dtype from, Dtype to, const VectorUnit& unit);

// Return the cycles per element of a copy of a window, which goes run by run of its inner dim; a copy of a
// matrix takes `per_element`. LeastWindowCopyCycles: no copy of a part of the window takes less.
double WindowCopyCycles(const Spec& spec, int operand, double per_element, const VectorUnit& unit);
double LeastWindowCopyCycles(const Spec& spec, int operand, double per_element, const VectorUnit& unit);

// Returns the cycles of a copy from one level to another: instructions, or the lines that cross levels,
// whichever takes longer.
double CopyCycles(const CopyShape& copy, bool transposes, Level from, Level to, const Target& target);

// Returns the bytes that the same copy moves.
Traffic CopyTraffic(const CopyShape& copy, Level from, Level to);

// Returns the cycles until so many bytes that follow each other have come from a level. L1 is free.
double ReadCycles(int64_t bytes, Level level, const Target& target);

}  // namespace kirsch

#endif  // KIRSCH_COST_COPY_COST_H_
