// SPDX-License-Identifier: Apache-2.0
// Counts the instructions of operations on numbers, as spec/operation.h composes them. Costs and code then
// follow from the same composition.
#ifndef KIRSCH_COST_VECTOR_MATH_COST_H_
#define KIRSCH_COST_VECTOR_MATH_COST_H_

#include <vector>

#include "spec/graph/row_program.h"
#include "spec/operation.h"
#include "spec/target.h"

namespace kirsch {

// The work for one vector, without loading its operands. Loads and numbers, which cost in other ways, take
// nothing; reductions take one instruction.
struct VectorWork {
  double instructions = 0, divisions = 0, roots = 0;
  double products = 0;  // of s32
  double steps = 0;     // instructions that wait for each other: the longest chain
};
// `type`: f32, f64, f16 of sums, or s32. InstructionsOf: of f32.
VectorWork WorkOf(Operation op, Dtype type, const VectorUnit& unit);
// The same of several values of a program.
VectorWork WorkOf(const RowProgram& program, const std::vector<int>& values, const VectorUnit& unit);
double InstructionsOf(Operation op, const VectorUnit& unit);  // a product of s32 being one

// The cycles of work without divisions and roots. Products of s32 have a rate of their own.
double ArithmeticCycles(const VectorWork& work, const VectorUnit& unit);
// The cycles between two vectors' divisions and square roots of `type`; typical of all targets so far.
double DivisionCycles(const VectorWork& work, Dtype type, const VectorUnit& unit);

// The instructions that bring floats into the range of integers: two bounds and a conversion.
inline constexpr double kIntoRange = 3;

}  // namespace kirsch

#endif  // KIRSCH_COST_VECTOR_MATH_COST_H_
