// SPDX-License-Identifier: Apache-2.0
#include "codegen/header/size_dispatch.h"

#include <algorithm>
#include <functional>

namespace kirsch {

SizeDispatch::SizeDispatch(const HeaderFunction& function, const HeaderVariant& variant)
    : function_(function), variant_(variant) {
  // The last size runs fastest, so strides grow from the last to the first.
  size_t stride = 1;
  for (size_t size = function.sizes.size(); size-- > 0;) {
    levels_.insert(levels_.begin(), {size, stride});
    stride *= function.sizes[size].values.size();
  }
  // A list has gaps, whose sizes are refused.
  const auto taken = [&](const Level& level) {
    return function.sizes[level.size].is_range() &&
           std::ranges::any_of(variant.sizes_of, [&](const auto& sizes) {
             return std::ranges::any_of(sizes, [&](const SizeSum& sum) { return sum.Has(level.size); });
           });
  };
  // Cases come first and comparisons last, each in the order of the sizes.
  const auto compared = std::stable_partition(levels_.begin(), levels_.end(), std::not_fn(taken));
  first_compared_ = static_cast<size_t>(compared - levels_.begin());
}

std::vector<SizeDispatch::Range> SizeDispatch::RangesOf(size_t level, size_t member) const {
  const size_t count = SizeOf(level).values.size(), stride = levels_[level].stride;
  std::vector<Range> ranges;
  for (size_t first = 0; first < count; first = ranges.back().end) {
    size_t end = first + 1;
    while (end < count && SameKernels(level + 1, member + first * stride, member + end * stride)) ++end;
    ranges.push_back({first, end});
  }
  return ranges;
}

// True if two groups of members have the same kernels, member by member. A group is the member `a`, or `b`,
// with all values of the sizes of this level and of those after it.
bool SizeDispatch::SameKernels(size_t level, size_t a, size_t b) const {
  if (level == levels_.size()) return variant_.number_of(a) == variant_.number_of(b);
  const size_t stride = levels_[level].stride;
  for (size_t value = 0; value < SizeOf(level).values.size(); ++value)
    if (!SameKernels(level + 1, a + value * stride, b + value * stride)) return false;
  return true;
}

}  // namespace kirsch
