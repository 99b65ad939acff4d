// SPDX-License-Identifier: Apache-2.0
// Lists all rewrites of graphs, so that nobody else has to name them. Each is defined at the end of its own
// file, which says what it does.
#ifndef KIRSCH_REWRITES_GRAPH_REGISTRY_H_
#define KIRSCH_REWRITES_GRAPH_REGISTRY_H_

#include <string_view>

#include "absl/types/span.h"
#include "rewrites/graph/graph_rewrite.h"

namespace kirsch {

// In the order in which the search tries them.
// clang-format off
#define KIRSCH_GRAPH_REWRITES(REWRITE) \
  REWRITE(kRows) \
  REWRITE(kFlatRows) \
  REWRITE(kMatmulRows) \
  REWRITE(kSharedMatrix) \
  REWRITE(kRhsPrologue) \
  REWRITE(kOnlineAttention) \
  REWRITE(kAnyKeys) \
  REWRITE(kAnyKeysAtOnce) \
  REWRITE(kTransposeCopy) \
  REWRITE(kStridedCopy) \
  REWRITE(kWholeConvolution) \
  REWRITE(kConvolutionByLanes) \
  REWRITE(kConvolutionBands) \
  REWRITE(kConvolutionParts) \
  REWRITE(kWinograd) \
  REWRITE(kTransposedConvolution) \
  REWRITE(kAlongAxis)
// clang-format on

#define KIRSCH_DECLARE_REWRITE(rewrite) extern const GraphRewrite rewrite;
KIRSCH_GRAPH_REWRITES(KIRSCH_DECLARE_REWRITE)
#undef KIRSCH_DECLARE_REWRITE

// Returns all of them. They are constants that live as long as the process.
absl::Span<const GraphRewrite* const> GraphRewrites();

// Returns the rewrite of that name in schedules; null if there is none.
const GraphRewrite* FindGraphRewrite(std::string_view name);

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_GRAPH_REGISTRY_H_
