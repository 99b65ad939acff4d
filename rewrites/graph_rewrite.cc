#include "rewrites/graph_rewrite.h"

#include <algorithm>
#include <iterator>

#include "rewrites/convolution_bands.h"
#include "rewrites/convolution_parts.h"
#include "rewrites/flat_rows.h"
#include "rewrites/matmul_rows.h"
#include "rewrites/online_attention.h"
#include "rewrites/rhs_prologue.h"
#include "rewrites/rows.h"
#include "rewrites/shared_matrix.h"
#include "rewrites/strided_copy.h"
#include "rewrites/transpose_copy.h"
#include "rewrites/whole_convolution.h"
#include "rewrites/winograd.h"

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
