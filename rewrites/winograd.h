// Convolutions by Winograd's algorithm (spec/winograd.h) as groups: of bands of the output's rows, or of
// blocks of the filters.
#ifndef KIRSCH_REWRITES_WINOGRAD_H_
#define KIRSCH_REWRITES_WINOGRAD_H_

#include <vector>

#include "rewrites/convolution_bands.h"
#include "rewrites/epilogue_fusion.h"
#include "rewrites/graph_groups.h"

namespace kirsch {

struct WinogradConvolution {
  const ConvolutionNode& convolution;
  const FusedEpilogue& fused;
  int node, image, filters;  // the convolution, and what it takes as it lies in memory
  int next_value;            // the first of the buffers' numbers
  Dtype stored;              // the type of what the epilogue ends in
  bool constant_filters;     // they are transformed ahead
};

// Those worth trying, for the operations of `whole`; none where the algorithm is not for the convolution.
std::vector<GroupChoice> WinogradChoices(const ConvolutionNode& node, const GroupChoice& whole);

GroupShape WinogradGroups(const WinogradConvolution& winograd, const GroupChoice& choice);

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_WINOGRAD_H_
