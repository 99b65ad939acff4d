// SPDX-License-Identifier: Apache-2.0
#include "search/families/regions.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "search/families/size_grid.h"
#include "spec/check.h"
#include "spec/language/schedule.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

// The child that does most of the work; the first of equals.
const Impl& MainChild(const Impl& impl) {
  const auto work = [](const Impl::Child& child) {
    return static_cast<double>(child.trips) * Flops(child.impl.spec);
  };
  return std::ranges::max_element(impl.children, {}, work)->impl;
}

// Writes a decision. A parallel tile that shares its dim out evenly is written without its size, which only
// follows from the number of parts.
std::string DecisionText(const Impl& impl) {
  const Decision& decision = impl.decision;
  const uint32_t size = impl.spec.size[decision.dim];
  const bool even = decision.kind == RewriteKind::kParallelTile && decision.parts > 0 &&
                    decision.size == (size + decision.parts - 1) / decision.parts;
  if (!even) return PrintDecision(impl.spec.op, decision);
  return Cat("parallel ", impl.spec.op_info().dims[decision.dim].name, " even ", decision.parts);
}

// True for a move without code: the caches bring the data.
bool IsPlainMove(const Impl& node) {
  return node.decision.kind == RewriteKind::kMove && node.decision.level != Level::kVrf;
}

// True if the node's tiles are divided again along the same dim right away. Then its size only decides which
// remainders there are.
bool ChoosesRemainders(const Impl& node) {
  const Decision& inner = MainChild(node).decision;
  return node.decision.kind == RewriteKind::kTile && inner.kind == RewriteKind::kTile &&
         inner.dim == node.decision.dim;
}

// The nodes that tell programs apart, from the root down to the register tile. Plain moves in a row mean the
// same in any order. They are sorted, so that their order makes no difference to the text: the slower level
// first, then the earlier operand.
std::vector<const Impl*> Spine(const Impl& root) {
  std::vector<const Impl*> spine;
  for (const Impl* node = &root; node->decision.kind != RewriteKind::kMicrokernel; node = &MainChild(*node))
    if (!ChoosesRemainders(*node)) spine.push_back(node);
  const auto before = [](const Impl* a, const Impl* b) {
    return a->decision.level != b->decision.level ? a->decision.level > b->decision.level
                                                  : a->decision.operand < b->decision.operand;
  };
  for (auto begin = spine.begin(); begin != spine.end();) {
    auto end = begin;
    while (end != spine.end() && IsPlainMove(**end)) ++end;
    std::sort(begin, end, before);
    begin = end == spine.end() ? end : end + 1;
  }
  return spine;
}

SizeGrid GridOf(absl::Span<const VaryingSize> sizes) {
  std::vector<size_t> counts;
  for (const VaryingSize& size : sizes) counts.push_back(size.values.size());
  return SizeGrid(std::move(counts));
}

}  // namespace

std::string DecisionSpine(const Impl& impl, bool swapped) {
  std::string text = swapped ? "transposed; " : "";
  bool first = true;
  for (const Impl* node : Spine(impl)) {
    Append(&text, first ? "" : "; ", DecisionText(*node));
    first = false;
  }
  return text;
}

std::vector<Region> FindRegions(absl::Span<const VaryingSize> sizes,
                                absl::Span<const std::string> decisions) {
  const SizeGrid grid = GridOf(sizes);
  KIRSCH_CHECK(grid.members() == decisions.size());
  // The last size grows first.
  std::vector<size_t> last_first(grid.dims());
  std::iota(last_first.rbegin(), last_first.rend(), 0);
  std::vector<bool> taken(decisions.size());
  std::vector<Region> regions;
  for (size_t index = 0; index < taken.size(); ++index) {
    if (taken[index]) continue;
    const SizeGrid::Place first = grid.At(index);
    const SizeGrid::Place last = grid.Grow(first, last_first, [&](size_t member) {
      return !taken[member] && decisions[member] == decisions[index];
    });
    Region& region = regions.emplace_back();
    region.decision = decisions[index];
    // The grown box becomes a region; its members are taken.
    grid.Every(first, last, [&](size_t member) {
      region.members.push_back(static_cast<int64_t>(member));
      return taken[member] = true;
    });
    for (size_t dim = 0; dim < sizes.size(); ++dim)
      region.box.push_back({sizes[dim].values[first[dim]], sizes[dim].values[last[dim]]});
  }
  return regions;
}

}  // namespace kirsch
