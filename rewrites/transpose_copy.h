// A transposed value that is no view -> a copy.
#ifndef KIRSCH_REWRITES_TRANSPOSE_COPY_H_
#define KIRSCH_REWRITES_TRANSPOSE_COPY_H_

#include "rewrites/graph_rewrite.h"

namespace kirsch {

extern const GraphRewrite kTransposeCopy;

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_TRANSPOSE_COPY_H_
