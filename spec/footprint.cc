// SPDX-License-Identifier: Apache-2.0
#include "spec/footprint.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "spec/region.h"

namespace kirsch {
namespace {

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Division by a power of two, as lines and pages are. This is the search's innermost arithmetic.
int64_t CeilShift(int64_t bytes, int unit) {
  return (bytes + unit - 1) >> std::countr_zero(static_cast<unsigned>(unit));
}

// Rows of a packed copy with its last group filled up.
int64_t GroupedRows(const TileExtent& extent, const Layout& layout) {
  return CeilDiv(extent.outer, layout.group) * layout.group;
}

Footprint Contiguous(int64_t bytes, const Target& target) {
  return {CeilShift(bytes, target.line_bytes), 1, CeilShift(bytes, target.page_bytes)};
}

Footprint Strided(const TileExtent& extent, int64_t row_bytes, int64_t stride_bytes, const Target& target) {
  const int64_t rows = extent.outer * extent.batch;
  const int64_t lines = CeilShift(row_bytes, target.line_bytes);
  const int64_t pages = stride_bytes >= target.page_bytes
                            ? rows * CeilShift(row_bytes, target.page_bytes)
                            : CeilShift((rows - 1) * stride_bytes + row_bytes, target.page_bytes);
  // Neighbouring rows closer than a line share it. The gap after the last row counts: two halves of a tile
  // must not take fewer lines than the whole, or there would be no bound on what a program moves.
  if (stride_bytes < target.line_bytes) return Contiguous(rows * stride_bytes, target);
  return {rows * lines, rows, pages};
}

// A view that overlaps itself.
Footprint Overlapping(const Spec& spec, int operand, const Target& target) {
  const int64_t bytes = Bytes(spec.tensor(operand).dtype);
  const Region region = RegionOf(spec, operand, target.line_bytes / bytes, target.page_bytes / bytes);
  return {region.stretches * CeilShift(region.length * bytes, target.line_bytes),
          region.stretches * region.walks,
          region.groups * CeilShift(region.spanned * bytes, target.page_bytes)};
}

}  // namespace

Footprint FootprintOf(const Spec& spec, int operand, const Target& target) {
  const TensorSpec& tensor = spec.tensor(operand);
  const TileExtent extent = ExtentOf(spec, operand);
  const int64_t row_bytes = Bytes(tensor.dtype, extent.inner);
  const Layout& layout = tensor.layout;
  if (layout.kind == LayoutKind::kPacked) {
    if (layout.panel == 0) {
      // Our own dense copy, walked from end to end: no run ever starts anew.
      Footprint dense = Contiguous(Bytes(tensor.dtype, extent.elements()), target);
      dense.runs = 0;
      return dense;
    }
    const int64_t panels = CeilDiv(extent.inner, layout.panel);
    const int64_t elements = extent.batch * GroupedRows(extent, layout) * layout.panel;
    const Footprint panel = Contiguous(Bytes(tensor.dtype, elements), target);
    return {panels * panel.lines, panels, panels * panel.pages};
  }
  if (layout.ld < extent.inner && Overlaps(spec, operand)) return Overlapping(spec, operand, target);
  const int64_t stride_bytes = Bytes(tensor.dtype, layout.ld);
  if (extent.outer * extent.batch == 1) return Contiguous(row_bytes, target);
  if (stride_bytes == row_bytes) {
    // Rows that follow one another are still read side by side, unless they are shorter than a line.
    Footprint rows = Contiguous(Bytes(tensor.dtype, extent.elements()), target);
    if (row_bytes >= target.line_bytes) rows.runs = extent.outer * extent.batch;
    return rows;
  }
  return Strided(extent, row_bytes, stride_bytes, target);
}

namespace {

int64_t Sets(const MemoryLevel& cache, const Target& target) {
  return std::max<int64_t>(1, cache.bytes / (cache.ways * int64_t{target.line_bytes}));
}

// Elements between the caller's rows that are neighbours, and don't overlap; else 0.
int64_t RowStride(const Spec& spec, int operand) {
  const Layout& layout = spec.tensor(operand).layout;
  if (layout.kind == LayoutKind::kStrided) return Overlaps(spec, operand) ? 0 : layout.ld;
  if (layout.kind != LayoutKind::kWindow || operand != MatmulDims::kLhs) return 0;
  const auto& [rows, columns] = spec.op_info().window.axes;
  const int64_t length = columns.At(ExtentOf(spec, operand).inner - 1) + 1;
  return length <= rows.stride(0) ? rows.stride(0) : 0;
}

// Rows of the caller's matrix whose strides are whole lines come to lie on few sets of a cache: this many
// lines apart, rows share their sets. 0 where rows spread over all sets.
int64_t SetPeriod(const Spec& spec, int operand, const Target& target, const MemoryLevel& cache) {
  const int64_t stride_bytes = Bytes(spec.tensor(operand).dtype, RowStride(spec, operand));
  if (stride_bytes == 0 || stride_bytes % target.line_bytes != 0) return 0;
  return std::gcd(stride_bytes / target.line_bytes, Sets(cache, target));
}

}  // namespace

int64_t ResidentLines(const Spec& spec, int operand, const Footprint& footprint, const Target& target,
                      Level level) {
  const TileExtent extent = ExtentOf(spec, operand);
  if (level == Level::kRam || extent.outer == 1) return footprint.lines;
  const MemoryLevel& cache = target.at(level);
  const int64_t period = SetPeriod(spec, operand, target, cache);
  const int64_t row_lines = std::max<int64_t>(1, footprint.lines / std::max<int64_t>(1, extent.outer));
  // Only a power of two folds rows onto the same sets for good; rows that are few enough never meet.
  if (period <= row_lines || extent.outer <= Sets(cache, target) / period) return footprint.lines;
  return footprint.lines * CeilDiv(period, row_lines);
}

namespace {

// Of L1; 1 where rows spread over all sets.
int64_t RowsOnOneSet(const Spec& spec, int operand, const Target& target) {
  const MemoryLevel& cache = target.at(Level::kL1);
  const int64_t period = SetPeriod(spec, operand, target, cache);
  if (period == 0) return 1;
  return CeilDiv(ExtentOf(spec, operand).outer, Sets(cache, target) / period);
}

}  // namespace

bool RowsEvictEachOther(const Spec& spec, int operand, const Target& target) {
  return RowsOnOneSet(spec, operand, target) >= target.at(Level::kL1).ways;
}

bool RowsAreCrowded(const Spec& spec, int operand, const Target& target) {
  return RowsOnOneSet(spec, operand, target) > target.at(Level::kL1).ways;
}

int64_t PackedLd(int64_t inner, Dtype dtype, const Target& target) {
  if (const int64_t block = BlockOf(dtype); block > 1) {
    const int64_t blocks = CeilDiv(inner, block);
    return (blocks * Bytes(dtype) % (8 * target.line_bytes) == 0 ? blocks + 1 : blocks) * block;
  }
  const int64_t per_line = target.line_bytes / Bytes(dtype);
  int64_t lines = CeilDiv(inner, per_line);
  if (lines % 8 == 0) ++lines;
  return lines * per_line;
}

int64_t CopyLd(const TileExtent& extent, const Layout& layout, Dtype dtype, const Target& target) {
  return layout.kind == LayoutKind::kStrided ? layout.ld : PackedLd(extent.inner, dtype, target);
}

int64_t PackedElements(const TileExtent& extent, const Layout& layout, Dtype dtype, const Target& target) {
  if (layout.panel == 0) return extent.batch * extent.outer * CopyLd(extent, layout, dtype, target);
  return CeilDiv(extent.inner, layout.panel) * layout.panel * extent.batch * GroupedRows(extent, layout);
}

}  // namespace kirsch
