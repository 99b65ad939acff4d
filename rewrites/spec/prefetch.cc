// SPDX-License-Identifier: Apache-2.0
#include "rewrites/spec/prefetch.h"

#include <algorithm>

#include "spec/block.h"

namespace kirsch {
namespace {

constexpr int kRhs = MatmulDims::kRhs;
constexpr int64_t kAheadBytes[] = {256, 512, 1024, 2048};
constexpr uint8_t kAheadRows = 8;  // or a group of them
constexpr int64_t kMostBlocks = 8;
constexpr int64_t kRowsSideBySide = 16;  // rows walked along side by side; of more, next to none stay in L1
constexpr int64_t kLeastRuns = 2;        // what is read is at least twice as long as what is asked for ahead
constexpr uint32_t kLeastRows = 4;       // and at least four times as high

// True if the tile lies in columns, read along the reduction; else it lies in rows, read across it.
bool InColumns(const Spec& spec) { return InnerDim(spec, kRhs) == MatmulDims::kK; }

int64_t BytesAlong(const Spec& spec, int64_t elements) { return Bytes(spec.operand[kRhs].dtype, elements); }

// Returns the bytes from where the tile's runs begin to where the walk along them ends. A tile of whole
// columns has them all; rows go on in the tiles beside it.
int64_t RunBytes(const Spec& spec) {
  return BytesAlong(spec, InColumns(spec) ? ExtentOf(spec, kRhs).inner : spec.operand[kRhs].layout.ld);
}

// Lines that so many bytes fill.
int64_t LinesAcross(int64_t bytes, const Target& target) {
  return (bytes + target.line_bytes - 1) / target.line_bytes;
}

// True if lines that were asked for are still in L1 when they are read: those of runs of so many elements.
bool StaysInL1(const Spec& spec, int64_t elements, const Target& target) {
  Spec window = spec;
  window.size[static_cast<size_t>(InnerDim(spec, kRhs))] = static_cast<uint32_t>(elements);
  const Footprint footprint = FootprintOf(window, kRhs, target);
  return ResidentLines(window, kRhs, footprint, target, Level::kL1) <=
         target.at(Level::kL1).bytes / target.line_bytes;
}

// Returns the lines on their way: of columns, the distance of each; of rows that go on in the next tile,
// whole tiles; else the distance is covered while a single row is read.
int64_t LinesAheadAlong(const Spec& spec, int64_t bytes, const Footprint& tile, const Target& target) {
  if (InColumns(spec)) return tile.runs * LinesAcross(bytes, target);
  const int64_t tiles = bytes / BytesAlong(spec, ExtentOf(spec, kRhs).inner);
  return tiles == 0 ? LinesAcross(bytes, target) : tiles * tile.lines;
}

void AppendMicrokernel(int dim, int64_t ahead, std::vector<Decision>* decisions) {
  Decision decision;
  decision.kind = RewriteKind::kMicrokernel;
  decision.dim = static_cast<uint8_t>(dim);
  decision.size = static_cast<uint32_t>(ahead);
  decisions->push_back(decision);
}

// Appends distances along the runs, of which there are few.
void EnumerateAlong(const Spec& spec, const Target& target, std::vector<Decision>* decisions) {
  for (int64_t bytes : kAheadBytes) {
    const int64_t elements = ElementsIn(spec.operand[kRhs].dtype, bytes);
    if (kLeastRuns * bytes <= RunBytes(spec) && StaysInL1(spec, elements, target))
      AppendMicrokernel(InnerDim(spec, kRhs), elements, decisions);
  }
}

// Appends distances in whole blocks, for panels of blocks. All lines on their way, and those that are read
// meanwhile, take no more than half of L1.
void EnumerateBlocks(const Spec& spec, const Target& target, std::vector<Decision>* decisions) {
  const Dtype rhs = spec.operand[kRhs].dtype;
  const TileExtent extent = ExtentOf(spec, kRhs);
  const int64_t block = BlockOf(rhs), step_bytes = Bytes(rhs, block * extent.inner);
  for (int64_t ahead = 1; ahead <= kMostBlocks; ahead *= 2)
    if ((ahead + 1) * step_bytes <= target.at(Level::kL1).bytes / 2 &&
        extent.outer >= kLeastRuns * ahead * block)
      AppendMicrokernel(MatmulDims::kK, ahead * block, decisions);
}

}  // namespace

void EnumeratePrefetches(const Spec& spec, const Target& target, std::vector<Decision>* decisions) {
  const TensorSpec& rhs = spec.operand[kRhs];
  if (rhs.level < Level::kL3) return;
  // Rows of any distance are prefetched along; panels, and rows of many steps, across; columns, the next tile
  // of them.
  const bool strided = rhs.layout.kind == LayoutKind::kStrided;
  if (!strided && rhs.layout.panel == 0) return;  // dense: nothing to gain
  const TileExtent extent = ExtentOf(spec, kRhs);
  if (strided && extent.outer <= kRowsSideBySide) EnumerateAlong(spec, target, decisions);
  if (IsInPanels(rhs.dtype)) {
    EnumerateBlocks(spec, target, decisions);
  } else if (!InColumns(spec)) {
    const int64_t ahead = std::max(kAheadRows, rhs.layout.group);
    if (extent.outer >= kLeastRows * ahead) AppendMicrokernel(MatmulDims::kK, ahead, decisions);
  } else if (StaysInL1(spec, kLeastRuns * extent.inner, target)) {
    AppendMicrokernel(MatmulDims::kN, extent.outer, decisions);
  }
}

// What is left of a reduction may be shorter than the distance: then all of it is asked for, and no more.
void PrefetchRhs(const Spec& spec, const Decision& decision, const Target& target, Transfer* rhs) {
  if (decision.size == 0) return;
  if (decision.dim == InnerDim(spec, kRhs)) {
    const int64_t bytes = BytesAlong(spec, decision.size);
    rhs->ahead_lines = LinesAheadAlong(spec, bytes, rhs->read, target);
    rhs->head = std::min(1.0, static_cast<double>(bytes) / static_cast<double>(RunBytes(spec)));
  } else {
    // Higher bits of codes are at the end of a block, which is asked for last, and read from its beginning
    // on. So a block less is on its way.
    const Dtype dtype = spec.operand[kRhs].dtype;
    const int64_t late = IsInPanels(dtype) && HasHigherBits(dtype) ? BlockOf(dtype) : 0;
    const int64_t steps = ExtentOf(spec, kRhs).outer;
    rhs->ahead_lines = rhs->read.lines * std::min(decision.size - late, steps) / steps;
  }
}

}  // namespace kirsch
