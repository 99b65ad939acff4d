// Instructions of the functions that codegen/vector_math.cc and what is made of it compute.
#ifndef KIRSCH_COST_VECTOR_MATH_COST_H_
#define KIRSCH_COST_VECTOR_MATH_COST_H_

#include "spec/epilogue.h"
#include "spec/row_program.h"
#include "spec/target.h"

namespace kirsch {

// Of one vector. Loads, numbers and divisions, which cost in other ways, take none; reductions take one.
double InstructionsOf(RowOp op, const VectorUnit& unit);

// The same for a step of an epilogue, without loading its operand.
double InstructionsOf(EpilogueOp op, const VectorUnit& unit);

}  // namespace kirsch

#endif  // KIRSCH_COST_VECTOR_MATH_COST_H_
