// A convolution by Winograd's algorithm (spec/winograd.h): transforms of inputs and filters, matmuls,
// transforms of the outputs with the epilogue; for bands of the output's rows, or for blocks of the filters.
#ifndef KIRSCH_REWRITES_WINOGRAD_H_
#define KIRSCH_REWRITES_WINOGRAD_H_

#include "rewrites/graph_rewrite.h"

namespace kirsch {

extern const GraphRewrite kWinograd;

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_WINOGRAD_H_
