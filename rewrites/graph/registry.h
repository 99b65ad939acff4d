// SPDX-License-Identifier: Apache-2.0
// All rewrites of graphs. Each is defined at the end of its own file, which says what it does; registry.cc
// lists them in the order in which the search tries them.
#ifndef KIRSCH_REWRITES_GRAPH_REGISTRY_H_
#define KIRSCH_REWRITES_GRAPH_REGISTRY_H_

#include <string_view>

#include "absl/types/span.h"
#include "rewrites/graph/graph_rewrite.h"

namespace kirsch {

// Row programs.
extern const GraphRewrite kRows, kFlatRows;
// Matmuls, with what goes by their rows.
extern const GraphRewrite kMatmulRows, kSharedMatrix, kRhsPrologue;
// Attention.
extern const GraphRewrite kOnlineAttention, kAnyKeys, kAnyKeysAtOnce;
// Copies.
extern const GraphRewrite kTransposeCopy, kStridedCopy;
// Convolutions.
extern const GraphRewrite kWholeConvolution, kConvolutionBands, kConvolutionParts, kWinograd;

absl::Span<const GraphRewrite* const> GraphRewrites();

// The rewrite of that name in schedules; null if there is none.
const GraphRewrite* FindGraphRewrite(std::string_view name);

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_GRAPH_REGISTRY_H_
