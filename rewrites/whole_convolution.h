// A convolution with its epilogue, all rows at once; of a padded image: of a copy with zeros around it.
#ifndef KIRSCH_REWRITES_WHOLE_CONVOLUTION_H_
#define KIRSCH_REWRITES_WHOLE_CONVOLUTION_H_

#include "rewrites/graph_rewrite.h"

namespace kirsch {

extern const GraphRewrite kWholeConvolution;

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_WHOLE_CONVOLUTION_H_
