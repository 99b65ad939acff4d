// What operations take: counted as spec/composition.h makes them.
#ifndef KIRSCH_COST_VECTOR_MATH_COST_H_
#define KIRSCH_COST_VECTOR_MATH_COST_H_

#include "spec/epilogue.h"
#include "spec/row_program.h"
#include "spec/target.h"

namespace kirsch {

// Of one vector. Loads and numbers, which cost in other ways, take nothing; reductions one instruction.
struct VectorWork {
  double instructions = 0, divisions = 0, roots = 0;
};
VectorWork WorkOf(RowOp op, const VectorUnit& unit);
double InstructionsOf(RowOp op, const VectorUnit& unit);

// The same for a step of an epilogue, without loading its operand.
double InstructionsOf(EpilogueOp op, const VectorUnit& unit);

}  // namespace kirsch

#endif  // KIRSCH_COST_VECTOR_MATH_COST_H_
