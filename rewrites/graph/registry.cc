// SPDX-License-Identifier: Apache-2.0
#include "rewrites/graph/registry.h"

#include <algorithm>
#include <iterator>

namespace kirsch {
namespace {

constexpr const GraphRewrite* kGraphRewrites[] = {
    &kRows,
    &kFlatRows,
    &kMatmulRows,
    &kSharedMatrix,
    &kRhsPrologue,
    &kOnlineAttention,
    &kAnyKeys,
    &kAnyKeysAtOnce,
    &kTransposeCopy,
    &kStridedCopy,
    &kWholeConvolution,
    &kConvolutionBands,
    &kConvolutionParts,
    &kWinograd,
};

}  // namespace

absl::Span<const GraphRewrite* const> GraphRewrites() { return kGraphRewrites; }

const GraphRewrite* FindGraphRewrite(std::string_view name) {
  const auto* const found = std::find_if(std::begin(kGraphRewrites), std::end(kGraphRewrites),
                                         [&](const GraphRewrite* rewrite) { return rewrite->name == name; });
  return found == std::end(kGraphRewrites) ? nullptr : *found;
}

}  // namespace kirsch
