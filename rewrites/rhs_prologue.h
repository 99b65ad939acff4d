// Operations on what a matmul multiplies by, done while it is packed: weights that are widened and scaled, or
// masked. The group's tiles are blocks of the columns of the matmul's result: for each, a row program writes
// these columns of the rhs as a dense matrix in scratch memory (of a transposed view: rows of what it is a
// view of), by which all rows of the lhs are multiplied.
#ifndef KIRSCH_REWRITES_RHS_PROLOGUE_H_
#define KIRSCH_REWRITES_RHS_PROLOGUE_H_

#include "rewrites/graph_rewrite.h"

namespace kirsch {

extern const GraphRewrite kRhsPrologue;

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_RHS_PROLOGUE_H_
