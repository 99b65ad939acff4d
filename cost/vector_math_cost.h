// SPDX-License-Identifier: Apache-2.0
// What operations on numbers take: counted as spec/operation.h makes them.
#ifndef KIRSCH_COST_VECTOR_MATH_COST_H_
#define KIRSCH_COST_VECTOR_MATH_COST_H_

#include "spec/operation.h"
#include "spec/target.h"

namespace kirsch {

// Of one vector, without loading what it takes. Loads and numbers, which cost in other ways, take nothing;
// reductions one instruction.
struct VectorWork {
  double instructions = 0, divisions = 0, roots = 0;
  double products = 0;  // of s32
};
// `type`: f32 or s32.
VectorWork WorkOf(Operation op, Dtype type, const VectorUnit& unit);
double InstructionsOf(Operation op, const VectorUnit& unit);  // a product of s32 being one

}  // namespace kirsch

#endif  // KIRSCH_COST_VECTOR_MATH_COST_H_
