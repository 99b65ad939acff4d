// What operations on numbers mean.
#ifndef KIRSCH_SPEC_SCALAR_MEANING_H_
#define KIRSCH_SPEC_SCALAR_MEANING_H_

#include "spec/row_program.h"

namespace kirsch {

// In double; not for loads, numbers and reductions. b: of two arguments the second. Thread-safe.
double ScalarMeaning(RowOp op, double a, double b = 0);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_SCALAR_MEANING_H_
