// A matmul of which several matrices share one of an operand's -> one after the other.
#ifndef KIRSCH_REWRITES_SHARED_MATRIX_H_
#define KIRSCH_REWRITES_SHARED_MATRIX_H_

#include "rewrites/graph_rewrite.h"

namespace kirsch {

extern const GraphRewrite kSharedMatrix;

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_SHARED_MATRIX_H_
