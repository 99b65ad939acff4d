// Elementwise operations on tensors that lie alike -> one row program over all elements, whatever the rows: no
// row ends within a vector.
#ifndef KIRSCH_REWRITES_FLAT_ROWS_H_
#define KIRSCH_REWRITES_FLAT_ROWS_H_

#include "rewrites/graph_rewrite.h"

namespace kirsch {

extern const GraphRewrite kFlatRows;

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_FLAT_ROWS_H_
