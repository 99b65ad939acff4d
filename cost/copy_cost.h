// SPDX-License-Identifier: Apache-2.0
// What copies cost that are no part of a contraction.
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

// Cycles for an element, loaded, turned and stored, by squares of 4 x 4 elements: of any target.
inline constexpr double kSmallSquareCycles = 0.5;

// Cycles for an element of so many bytes in a copy that turns a matrix: by squares as wide as a vector, if it
// is a word, else by small ones.
double SquareCycles(int bytes, const VectorUnit& unit);

// Cycles for an element of a copy that decodes blocks: to f32, or to words where `to` is of bf16 and nothing
// is rounded; and, beside that, to round it to bf16 or to give its codes 8 bits. (Floats of 8 bits are
// decoded by vectors of 32 bytes at most; twice as many are taken to last as long as wider ones.)
double DecodingInCopies(Dtype from, Dtype to, const VectorUnit& unit);
double RecodingInCopies(Dtype from, Dtype to, const VectorUnit& unit);

// Cycles for an element of a copy that widens it, puts it into its place in a word of several, or makes q8 of
// it.
double ConvertingInCopies(Dtype from, Dtype to, const VectorUnit& unit);

// Cycles per element of a copy of a window, which goes run by run of its inner dim; a copy of a matrix takes
// `per_element`. The least: what no copy of a part of the window is below.
double WindowCopyCycles(const Spec& spec, int operand, double per_element, const VectorUnit& unit);
double LeastWindowCopyCycles(const Spec& spec, int operand, double per_element, const VectorUnit& unit);

// Cycles of a copy from one level to another: instructions, or the lines that cross levels, whichever takes
// longer.
double CopyCycles(const CopyShape& copy, bool transposes, Level from, Level to, const Target& target);

// What that moves.
Traffic CopyTraffic(const CopyShape& copy, Level from, Level to);

// Cycles until so many bytes that follow each other have come from a level.
double ReadCycles(int64_t bytes, Level level, const Target& target);

}  // namespace kirsch

#endif  // KIRSCH_COST_COPY_COST_H_
