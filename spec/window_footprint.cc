// SPDX-License-Identifier: Apache-2.0
#include "spec/window_footprint.h"

#include <algorithm>

#include "spec/storage.h"

namespace kirsch {
namespace {

// Adds the steps of an axis's digits, as far as indices below `size` have them. A last digit may be partial.
void AppendSteps(const DigitAxis& axis, int64_t size, bool outer, WindowSteps* steps) {
  const int digits = axis.DigitsOf(size);
  for (int level = 0; level < digits; ++level) {
    const int64_t unit = axis.unit(level);
    const int64_t count = level + 1 < digits ? axis.unit(level + 1) / unit : (size + unit - 1) / unit;
    if (count > 1) steps->push_back({axis.stride(level), count, outer});
  }
}

// The steps of all axes of the tile, the smallest first.
WindowSteps StepsOf(const Spec& spec, int operand) {
  const TileExtent extent = ExtentOf(spec, operand);
  const Layout& layout = spec.tensor(operand).layout;
  WindowSteps steps;
  if (layout.kind == LayoutKind::kWindow) {
    const AxisArray extents = AxisExtents(spec, operand);
    AppendSteps(spec.op_info().window.axes[0], extents[1], true, &steps);
    AppendSteps(spec.op_info().window.axes[1], extents[2], false, &steps);
    AppendSteps(DigitAxis::Strided(1), extents[3], false, &steps);
  } else {
    AppendSteps(DigitAxis::Strided(1), extent.inner, false, &steps);
    AppendSteps(DigitAxis::Strided(layout.ld), extent.outer, true, &steps);
  }
  std::ranges::sort(steps, {}, &Steps::stride);
  return steps;
}

}  // namespace

// Goes from the smallest steps to the largest. Steps that overlap or touch make a stretch longer. Steps that
// fall on steps which are there already (the rows of the output, after those of the window) make them more.
WindowFootprint WindowFootprintOf(const Spec& spec, int operand, int64_t line, int64_t page) {
  WindowFootprint touched;
  WindowSteps& apart = touched.apart;
  for (const Steps& steps : StepsOf(spec, operand)) {
    if (apart.empty() && (steps.stride <= touched.length || steps.stride < line)) {
      // The gap after the last step counts: parts must not touch fewer lines than the whole.
      touched.length = (steps.count - 1) * steps.stride + std::max(steps.stride, touched.length);
      if (steps.outer && steps.stride >= line) touched.walks *= steps.count;
    } else if (!apart.empty() && steps.stride % apart.back().stride == 0 &&
               steps.stride / apart.back().stride <= apart.back().count) {
      apart.back().count += (steps.count - 1) * (steps.stride / apart.back().stride);
    } else {
      apart.push_back(steps);
    }
  }
  // Stretches less than a page apart are one group, whose pages are counted together.
  touched.spanned = touched.length;
  for (const Steps& steps : apart) {
    touched.stretches *= steps.count;
    if (steps.stride >= page)
      touched.groups *= steps.count;
    else
      touched.spanned += (steps.count - 1) * steps.stride;
  }
  return touched;
}

}  // namespace kirsch
