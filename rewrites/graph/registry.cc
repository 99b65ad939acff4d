// SPDX-License-Identifier: Apache-2.0
#include "rewrites/graph/registry.h"

#include <algorithm>
#include <iterator>

namespace kirsch {
namespace {

#define KIRSCH_ADDRESS_OF(rewrite) &(rewrite),
constexpr const GraphRewrite* kGraphRewrites[] = {KIRSCH_GRAPH_REWRITES(KIRSCH_ADDRESS_OF)};
#undef KIRSCH_ADDRESS_OF

}  // namespace

absl::Span<const GraphRewrite* const> GraphRewrites() { return kGraphRewrites; }

const GraphRewrite* FindGraphRewrite(std::string_view name) {
  const auto* const found = std::find_if(std::begin(kGraphRewrites), std::end(kGraphRewrites),
                                         [&](const GraphRewrite* rewrite) { return rewrite->name == name; });
  return found == std::end(kGraphRewrites) ? nullptr : *found;
}

}  // namespace kirsch
