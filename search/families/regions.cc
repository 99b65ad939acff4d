// SPDX-License-Identifier: Apache-2.0
#include "search/families/regions.h"

#include <algorithm>
#include <cstddef>

#include "spec/check.h"
#include "spec/language/schedule.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

const Impl& MainChild(const Impl& impl) {
  const Impl::Child* main = &impl.children.front();
  const auto work = [](const Impl::Child& child) {
    return static_cast<double>(child.trips) * Flops(child.impl.spec);
  };
  for (const Impl::Child& child : impl.children)
    if (work(child) > work(*main)) main = &child;
  return main->impl;
}

std::string DecisionText(const Impl& impl) {
  const Decision& decision = impl.decision;
  const uint32_t size = impl.spec.size[decision.dim];
  const bool even = decision.kind == RewriteKind::kParallelTile && decision.parts > 0 &&
                    decision.size == (size + decision.parts - 1) / decision.parts;
  if (!even) return PrintDecision(impl.spec.op, decision);
  return Cat("parallel ", impl.spec.op_info().dims[decision.dim].name, " even ", decision.parts);
}

// A move without code: data that the caches bring.
bool IsPlainMove(const Impl& node) {
  return node.decision.kind == RewriteKind::kMove && node.decision.level != Level::kVrf;
}

// Of tiles right inside tiles along the same dim, the outer ones only choose the remainders.
bool ChoosesRemainders(const Impl& node) {
  const Decision& inner = MainChild(node).decision;
  return node.decision.kind == RewriteKind::kTile && inner.kind == RewriteKind::kTile &&
         inner.dim == node.decision.dim;
}

// The nodes that tell, from the root down to the register tile; plain moves in a row, which mean the same in
// any order, the slower level and the earlier operand first.
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

// A member's place in the grid of sizes.
using Place = std::vector<int64_t>;

class BoxFinder {
 public:
  BoxFinder(absl::Span<const VaryingSize> sizes, absl::Span<const std::string> decisions)
      : sizes_(sizes), decisions_(decisions), taken_(decisions.size(), false), stride_(sizes.size()) {
    int64_t stride = 1;
    for (size_t dim = sizes.size(); dim-- > 0;) {
      stride_[dim] = stride;
      stride *= Count(dim);
    }
    KIRSCH_CHECK(stride == static_cast<int64_t>(decisions.size()));
  }

  std::vector<DispatchRange> Find() {
    std::vector<DispatchRange> regions;
    for (int64_t index = 0; index < static_cast<int64_t>(taken_.size()); ++index)
      if (!taken_[static_cast<size_t>(index)]) regions.push_back(Grow(index));
    return regions;
  }

 private:
  int64_t Count(size_t dim) const { return static_cast<int64_t>(sizes_[dim].values.size()); }

  int64_t Index(const Place& place) const {
    int64_t index = 0;
    for (size_t dim = 0; dim < place.size(); ++dim) index += place[dim] * stride_[dim];
    return index;
  }

  DispatchRange Grow(int64_t index) {
    const std::string& decision = decisions_[static_cast<size_t>(index)];
    Place first(sizes_.size());
    for (size_t dim = 0; dim < first.size(); ++dim) first[dim] = index / stride_[dim] % Count(dim);
    Place last = first;
    for (size_t dim = sizes_.size(); dim-- > 0;) {
      while (last[dim] + 1 < Count(dim)) {
        Place from = first, to = last;
        from[dim] = to[dim] = last[dim] + 1;
        const bool fits = Every(from, to, [&](size_t i) { return !taken_[i] && decisions_[i] == decision; });
        if (!fits) break;
        ++last[dim];
      }
    }
    DispatchRange region;
    region.decision = decision;
    Every(first, last, [&](size_t i) {
      region.members.push_back(static_cast<int64_t>(i));
      return taken_[i] = true;
    });
    for (size_t dim = 0; dim < sizes_.size(); ++dim) {
      const std::vector<uint32_t>& values = sizes_[dim].values;
      region.box.push_back({values[static_cast<size_t>(first[dim])], values[static_cast<size_t>(last[dim])]});
    }
    return region;
  }

  // True if `holds` is for every member of the box; asked of each up to the first for which it isn't.
  template <typename Holds>
  bool Every(const Place& first, const Place& last, Holds holds) const {
    Place place = first;
    while (true) {
      if (!holds(static_cast<size_t>(Index(place)))) return false;
      size_t dim = place.size();
      while (dim > 0 && place[dim - 1] == last[dim - 1]) {
        --dim;
        place[dim] = first[dim];
      }
      if (dim == 0) return true;
      ++place[dim - 1];
    }
  }

  const absl::Span<const VaryingSize> sizes_;
  const absl::Span<const std::string> decisions_;
  std::vector<bool> taken_;
  Place stride_;
};

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

std::vector<DispatchRange> FindRegions(absl::Span<const VaryingSize> sizes,
                                       absl::Span<const std::string> decisions) {
  return BoxFinder(sizes, decisions).Find();
}

}  // namespace kirsch
