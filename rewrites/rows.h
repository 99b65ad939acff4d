// Operations that go by rows, without a contraction -> row programs over tiles of rows, or over parts of one
// row.
#ifndef KIRSCH_REWRITES_ROWS_H_
#define KIRSCH_REWRITES_ROWS_H_

#include "rewrites/graph_rewrite.h"

namespace kirsch {

extern const GraphRewrite kRows;

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_ROWS_H_
