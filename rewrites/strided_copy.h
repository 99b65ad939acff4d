// The copy of a tensor that lies in any way, or to one.
#ifndef KIRSCH_REWRITES_STRIDED_COPY_H_
#define KIRSCH_REWRITES_STRIDED_COPY_H_

#include "rewrites/graph_rewrite.h"

namespace kirsch {

extern const GraphRewrite kStridedCopy;

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_STRIDED_COPY_H_
