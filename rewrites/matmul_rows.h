// Matmuls, their epilogues and operations that go by the rows of their results -> stages over tiles of rows.
// A matmul's rhs is read whole for each tile.
#ifndef KIRSCH_REWRITES_MATMUL_ROWS_H_
#define KIRSCH_REWRITES_MATMUL_ROWS_H_

#include "rewrites/graph_rewrite.h"

namespace kirsch {

extern const GraphRewrite kMatmulRows;

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_MATMUL_ROWS_H_
