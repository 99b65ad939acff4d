// SPDX-License-Identifier: Apache-2.0
#include "spec/footprint.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <utility>

#include "spec/window_footprint.h"

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

// One run of bytes that begins at a line and a page.
Footprint Contiguous(int64_t bytes, const Target& target) {
  return {CeilShift(bytes, target.line_bytes), 1, CeilShift(bytes, target.page_bytes)};
}

// Rows with gaps between them.
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

WindowFootprint TouchedBy(const Spec& spec, int operand, const Target& target) {
  const int64_t bytes = Bytes(spec.tensor(operand).dtype);
  return WindowFootprintOf(spec, operand, target.line_bytes / bytes, target.page_bytes / bytes);
}

// The footprint of a view that overlaps itself: each element counts once.
Footprint Overlapping(const Spec& spec, int operand, const Target& target) {
  const int64_t bytes = Bytes(spec.tensor(operand).dtype);
  const WindowFootprint touched = TouchedBy(spec, operand, target);
  return {touched.stretches * CeilShift(touched.length * bytes, target.line_bytes),
          touched.stretches * touched.walks,
          touched.groups * CeilShift(touched.spanned * bytes, target.page_bytes)};
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
    // Each panel is a run of its own; rows are filled up to whole groups.
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

// A cache of 32 KiB with 8 ways and lines of 64 bytes has 64 sets.
int64_t Sets(const MemoryLevel& cache, const Target& target) {
  return std::max<int64_t>(1, cache.bytes / (cache.ways * int64_t{target.line_bytes}));
}

// Elements from one of the caller's rows to the next, where rows don't overlap; else 0.
int64_t RowStride(const Spec& spec, int operand) {
  const Layout& layout = spec.tensor(operand).layout;
  return layout.kind == LayoutKind::kStrided && !Overlaps(spec, operand) ? layout.ld : 0;
}

// Lines that hold the tile. Rows of the caller's that are no multiple of a line apart begin anywhere in one:
// at each multiple of the distance's and the line's common divisor, equally often. (A transfer counts fewer
// lines: the rest of a row's last line belongs to the tile beside.)
int64_t LinesHeld(const Spec& spec, int operand, const Footprint& footprint, const Target& target) {
  const TensorSpec& tensor = spec.tensor(operand);
  const TileExtent extent = ExtentOf(spec, operand);
  const int64_t row_bytes = Bytes(tensor.dtype, extent.inner), line = target.line_bytes;
  const int64_t stride_bytes = Bytes(tensor.dtype, tensor.layout.ld), grain = std::gcd(stride_bytes, line);
  if (tensor.layout.kind != LayoutKind::kStrided || stride_bytes <= std::max(row_bytes, line) ||
      grain == line)
    return footprint.lines;
  const int64_t from_grain = CeilDiv(row_bytes, grain) * grain;
  return CeilDiv(extent.outer * extent.batch * (from_grain + line - grain), line);
}

// How rows that are a distance apart come to lie on the sets of a cache. After `rows` rows, one begins within
// a line of where the first one did, modulo the bytes of a way, and `drift` beside it.
struct SetWalk {
  int64_t rows;
  int64_t drift;  // bytes
};

// Finds the first multiple of the stride that comes within a line of 0. Of all multiples of a number, those
// that come closer to 0 than all before are at the denominators of its convergents (Khinchin, Continued
// Fractions, theorem 17).
SetWalk WalkOverSets(int64_t stride_bytes, int64_t way_bytes, int64_t line_bytes) {
  int64_t before = 0, rows = 1, wider = way_bytes, drift = stride_bytes % way_bytes;
  while (drift >= line_bytes) {
    const int64_t times = wider / drift;
    before = std::exchange(rows, before + times * rows);
    wider = std::exchange(drift, wider - times * drift);
  }
  return {rows, drift};
}

// Returns the number of sets that a window's stretches fall on. Steps of one distance come to as many places
// as the way holds multiples of its common divisor with the distance. (Pixels of 512 floats begin at one of 2
// sets of 64.)
int64_t SetsOfStretches(const Spec& spec, int operand, const Target& target, const MemoryLevel& cache) {
  const WindowFootprint touched = TouchedBy(spec, operand, target);
  const int64_t sets = Sets(cache, target), way = sets * target.line_bytes;
  const int64_t bytes = Bytes(spec.tensor(operand).dtype);
  int64_t begins = 1;
  for (const Steps& steps : touched.apart)
    begins = std::min(sets, begins * std::min(steps.count, way / std::gcd(way, steps.stride * bytes)));
  const int64_t used = begins * CeilShift(touched.length * bytes, target.line_bytes);
  return touched.stretches <= begins ? sets : std::min(used, sets);
}

// Returns the number of sets that the caller's rows fall on, which have `lines` lines together. A power of
// two in their stride, or nearly one, brings them back to the same few sets.
int64_t SetsOfRows(const Spec& spec, int operand, int64_t lines, const Target& target,
                   const MemoryLevel& cache) {
  if (IsWindow(spec, operand)) return SetsOfStretches(spec, operand, target, cache);
  const int64_t sets = Sets(cache, target), line = target.line_bytes, rows = ExtentOf(spec, operand).outer;
  const int64_t stride_bytes = Bytes(spec.tensor(operand).dtype, RowStride(spec, operand));
  if (stride_bytes < line) return sets;
  const SetWalk walk = WalkOverSets(stride_bytes, sets * line, line);
  if (rows <= walk.rows) return sets;  // no two meet
  const int64_t used = walk.rows * lines / rows + (rows - walk.rows) * walk.drift / line;
  return std::clamp<int64_t>(used, 1, sets);
}

}  // namespace

int64_t ResidentLines(const Spec& spec, int operand, const Footprint& footprint, const Target& target,
                      Level level) {
  if (level == Level::kRam || ExtentOf(spec, operand).outer == 1) return footprint.lines;
  const MemoryLevel& cache = target.at(level);
  const int64_t lines = LinesHeld(spec, operand, footprint, target);
  return CeilDiv(lines * Sets(cache, target), SetsOfRows(spec, operand, lines, target, cache));
}

int64_t RowsInHalfOfWays(const Spec& spec, int operand, const Target& target, Level level) {
  const MemoryLevel& cache = target.at(level);
  const int64_t stride_bytes = Bytes(spec.tensor(operand).dtype, RowStride(spec, operand));
  if (stride_bytes < target.line_bytes) return std::numeric_limits<int64_t>::max();
  const int64_t way_bytes = Sets(cache, target) * target.line_bytes;
  return WalkOverSets(stride_bytes, way_bytes, target.line_bytes).rows * std::max(1, cache.ways / 2);
}

namespace {

// The rows of a tile that fall on one set of L1; 1 if the rows are spread over all sets.
int64_t RowsOnOneSet(const Spec& spec, int operand, const Target& target) {
  const int64_t rows = ExtentOf(spec, operand).outer;
  const MemoryLevel& cache = target.at(Level::kL1);
  Spec column = spec;  // the lines that are read side by side
  column.size[static_cast<size_t>(InnerDim(spec, operand))] = 1;
  const int64_t sets = SetsOfRows(column, operand, rows, target, cache);
  return sets == Sets(cache, target) ? 1 : CeilDiv(rows, sets);
}

}  // namespace

bool RowsEvictEachOther(const Spec& spec, int operand, const Target& target) {
  return RowsOnOneSet(spec, operand, target) >= target.at(Level::kL1).ways;
}

bool RowsConflict(const Spec& spec, int operand, const Target& target) {
  return RowsOnOneSet(spec, operand, target) > target.at(Level::kL1).ways;
}

int64_t PackedLd(int64_t inner, Dtype dtype, const Target& target) {
  // A distance that is a multiple of 8 lines falls on an eighth of the sets, at most. One more line, or
  // block, avoids it.
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
