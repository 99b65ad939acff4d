// SPDX-License-Identifier: Apache-2.0
#include "rewrites/spec/tile_sizes.h"

#include <algorithm>
#include <bit>
#include <cstddef>

#include "spec/extension.h"
#include "spec/footprint.h"
#include "spec/microkernel.h"

namespace kirsch {
namespace {

constexpr uint32_t kMaxRows = 14;    // register-tile heights
constexpr uint32_t kMaxVectors = 6;  // register-tile widths, in vectors
constexpr uint32_t kMaxDotColumns = 6;
constexpr uint32_t kFewRows = 28;       // up to here every height is tried, above only those that fit well
constexpr uint32_t kCoarseSteps = 128;  // of many rows a reduction is tiled no finer than this
constexpr uint32_t kFewAskers = 64;   // but for so many rows, which ask for rows of rhs that meet in a cache,
constexpr uint32_t kAskedRows = 32;   // no finer than this
constexpr uint32_t kWalkedRows = 8;   // rows of rhs that are read side by side in a walk along them,
constexpr uint32_t kFewWalkers = 16;  // for at most so many rows of the output,
constexpr int64_t kLongWalk = 4096;   // over so many elements at least: shorter ones only cost time to search
constexpr uint32_t kLargestGroup = 4;  // of steps of a reduction, which tiles must not cut
constexpr uint32_t kWideTileRows = 5;  // tiles of more than 4 vectors are for so few rows

// The output's dims: rows, and the dim that vectors run along.
int OutputRowDim(const Spec& spec) { return OuterDim(spec, spec.op_info().output()); }
int OutputVectorDim(const Spec& spec) { return InnerDim(spec, spec.op_info().output()); }

// Elements in the widest, and in the narrowest, vector of the output's sums.
uint32_t WidestLanes(const Spec& spec, const Target& target) {
  return static_cast<uint32_t>(target.vectors.front().lanes(AccumulatorOf(spec)));
}
uint32_t NarrowestLanes(const Spec& spec, const Target& target) {
  return static_cast<uint32_t>(target.vectors.back().lanes(AccumulatorOf(spec)));
}

// True if a tile of a single vector may pay: where sums are narrower than a word, broadcasts are a part of
// the multiply-adds.
bool OneVectorPays(const Spec& spec) { return Bytes(AccumulatorOf(spec)) < kWordBytes; }

// Appends first * 2^i in (above, below).
void AppendPowers(uint32_t first, uint32_t above, uint32_t below, std::vector<uint32_t>* sizes) {
  for (uint64_t size = first; size < below; size *= 2)
    if (size > above) sizes->push_back(static_cast<uint32_t>(size));
}

// Returns the rows of the tallest register tile so many vectors wide. Beside the accumulators there have to
// be registers for the vectors of rhs and for one broadcast; with an excess, for its row and its factor, too.
//
//   32 registers, 2 vectors: (32 - 1 - 2) / 2 = 14 rows, 13 with an excess; 4 vectors: 6 rows
uint32_t TallestTile(const VectorUnit& unit, uint32_t vectors, uint32_t excess) {
  return std::min((static_cast<uint32_t>(unit.registers) - 1 - excess - vectors) / vectors - excess,
                  kMaxRows);
}

// True if `rows` is as tall as a register tile of some width gets.
bool FillsRegisters(const Spec& spec, uint32_t rows, const Target& target) {
  const uint32_t excess = Info(BestArithmetic(spec, target)).has_excess() ? 1 : 0;
  for (const VectorUnit& unit : target.vectors)
    for (uint32_t vectors = 1; vectors <= kMaxVectors; ++vectors)
      if (TallestTile(unit, vectors, excess) == rows) return true;
  return false;
}

// True if the target's matrix unit multiplies operands of these types.
bool MultipliesTiles(const Spec& spec, const Target& target) {
  return TileArithmetic(spec.tensor(MatmulDims::kLhs).dtype, spec.tensor(MatmulDims::kRhs).dtype, target)
      .has_value();
}

// Appends the heights of register tiles, then powers of two from 32. Of many rows not every height is tried:
// only those that divide them, or that fill the registers.
void AppendRowSizes(const Spec& spec, uint32_t size, const Target& target, std::vector<uint32_t>* sizes) {
  for (uint32_t rows = 1; rows <= kMaxRows && rows < size; ++rows)
    if (size <= kFewRows || size % rows == 0 || FillsRegisters(spec, rows, target)) sizes->push_back(rows);
  if (kTileRows < size && MultipliesTiles(spec, target)) sizes->push_back(kTileRows);
  AppendPowers(32, 0, size, sizes);
}

// True if a few rows of rhs can be read in one walk along them, from beyond L2 to the registers.
bool MayWalkRows(const Spec& spec, uint32_t rows) {
  const TensorSpec& rhs = spec.operand[MatmulDims::kRhs];
  return rows <= kFewWalkers && rhs.level >= Level::kL3 && !rhs.resident &&
         rhs.layout.kind == LayoutKind::kStrided && rhs.layout.order == Order::kRow &&
         ExtentOf(spec, MatmulDims::kRhs).inner >= kLongWalk;
}

// Returns the least tile of a reduction, in steps. It is finer where the output has few rows: rhs is then
// streamed, not reused, and wants long runs. Where copies ask for the next rows of rhs (AsksAhead), tiles
// are at least so fine that L2 holds these.
uint32_t FinestSteps(const Spec& spec, const Target& target) {
  const uint32_t rows = spec.size[static_cast<size_t>(OutputRowDim(spec))];
  uint32_t finest = std::min(kCoarseSteps, 4 * std::bit_ceil(rows));
  if (rows <= kFewAskers && !IsRelaxed(spec) && MayAskAhead(spec, target))
    while (finest >
           std::max<int64_t>(kAskedRows, RowsInHalfOfWays(spec, MatmulDims::kRhs, target, Level::kL2)))
      finest /= 2;
  return MayWalkRows(spec, rows) ? std::min(finest, kWalkedRows) : finest;
}

// Appends tiles of whole blocks, if rhs is of blocks. (An ideal rhs stands for its copies, too, which may be
// tiled finer: a bound must include them.)
void AppendReductionSizes(const Spec& spec, uint32_t size, const Target& target,
                          std::vector<uint32_t>* sizes) {
  const auto block = static_cast<uint32_t>(BlockOf(spec.operand[MatmulDims::kRhs].dtype));
  const uint32_t finest = FinestSteps(spec, target);
  AppendPowers(spec.ideal ? finest : std::max(finest, block), 0, size, sizes);
}

// Appends tiles along the dim of vectors: single columns where there are dot products, then whole vectors, as
// many as register tiles have, then powers of two.
void AppendVectorDimSizes(const Spec& spec, int dim, const Target& target, std::vector<uint32_t>* sizes) {
  const uint32_t size = spec.size[static_cast<size_t>(dim)];
  const size_t first = sizes->size();
  const uint32_t narrow = NarrowestLanes(spec, target), wide = WidestLanes(spec, target);
  uint32_t columns = 0;
  if (spec.operand[MatmulDims::kRhs].layout.order == Order::kCol)
    while (columns < kMaxDotColumns && columns + 1 < size) sizes->push_back(++columns);
  // Else a vector or less to a tile pays only where there is no room for two.
  if (columns < narrow && narrow < size && size < wide) sizes->push_back(narrow);
  if (columns < wide && wide < size && (size < 2 * wide || OneVectorPays(spec))) sizes->push_back(wide);
  const uint32_t rows = spec.size[static_cast<size_t>(OutputRowDim(spec))];
  for (uint32_t vectors = 2; vectors <= kMaxVectors && vectors * wide < size; ++vectors)
    if (vectors <= 4 || rows <= kWideTileRows) sizes->push_back(vectors * wide);
  AppendPowers(8 * wide, 0, size, sizes);
  const uint32_t panel = BoundPanel(spec);
  // A packed operand is read by whole panels.
  const auto splits_panel = [&](uint32_t tile) { return panel != 0 && tile % panel != 0; };
  sizes->erase(
      std::remove_if(sizes->begin() + static_cast<std::ptrdiff_t>(first), sizes->end(), splits_panel),
      sizes->end());
}

void AppendSizes(const Spec& spec, int dim, const Target& target, std::vector<uint32_t>* sizes) {
  const uint32_t size = spec.size[static_cast<size_t>(dim)];
  if (IsReduction(spec, dim)) {
    // Columns that are prefetched are read whole.
    if (!PrefetchesColumns(spec)) AppendReductionSizes(spec, size, target, sizes);
    return;
  }
  if (dim == OutputVectorDim(spec)) return AppendVectorDimSizes(spec, dim, target, sizes);
  if (dim == OutputRowDim(spec)) return AppendRowSizes(spec, size, target, sizes);
  if (size > 1) sizes->push_back(1);
}

// Adds whole runs of digits to the sizes from the first-th on, and leaves those that the window's tiles may
// have. (All, if the window's operand is dense: a relaxation includes the programs of what it relaxes, and of
// its copies, if it may have any.)
void FollowWindow(const Spec& spec, int dim, const DigitAxis& axis, size_t first, const Target& target,
                  std::vector<uint32_t>* sizes) {
  const uint32_t size = spec.size[static_cast<size_t>(dim)];
  const uint32_t finest = IsReduction(spec, dim) ? FinestSteps(spec, target) : 1;
  for (int level = 1; level < axis.digits; ++level)
    AppendPowers(static_cast<uint32_t>(std::min<int64_t>(axis.unit(level), size)), finest - 1, size, sizes);
  const auto begin = sizes->begin() + static_cast<std::ptrdiff_t>(first);
  std::sort(begin, sizes->end());
  auto end = std::unique(begin, sizes->end());
  if (IsReduction(spec, dim))
    end = std::remove_if(begin, end, [](uint32_t tile) { return tile % kLargestGroup != 0; });
  if (IsWindow(spec, spec.op_info().window.operand) || spec.op_info().strided == spec.op)
    end = std::remove_if(begin, end, [&](uint32_t tile) { return !axis.MayTile(size, tile); });
  sizes->erase(end, sizes->end());
}

// True if a tile of any kind may have this size: it cuts no panel, no block, no group of steps, no run of a
// window. Digits of a window that vectors do not run along are tiled one by one only.
bool MayTile(const Spec& spec, int dim, uint32_t tile) {
  const uint32_t size = spec.size[static_cast<size_t>(dim)];
  if (tile == 0 || tile >= size) return false;
  if (const DigitAxis* const axis = WindowAxis(spec, dim); axis != nullptr && !axis->MayTile(size, tile))
    return false;
  if (IsReduction(spec, dim)) {
    const int64_t block = BlockOf(spec.operand[MatmulDims::kRhs].dtype);
    return !PrefetchesColumns(spec) && tile % std::max<int64_t>(block, kLargestGroup) == 0;
  }
  const uint32_t panel = dim == OutputVectorDim(spec) ? BoundPanel(spec) : 0;
  return (dim == OutputVectorDim(spec) || dim == OutputRowDim(spec)) && (panel == 0 || tile % panel == 0);
}

// Adds an extension's sizes to those from the first-th on, which are sorted and differ afterwards.
void AddOwnSizes(const Spec& spec, int dim, const Extension& extension, size_t first,
                 std::vector<uint32_t>* sizes) {
  const size_t own = sizes->size();
  extension.AppendTileSizes(spec, dim, sizes);
  if (own == sizes->size()) return;
  const auto begin = sizes->begin() + static_cast<std::ptrdiff_t>(first);
  sizes->erase(std::remove_if(sizes->begin() + static_cast<std::ptrdiff_t>(own), sizes->end(),
                              [&](uint32_t tile) { return !MayTile(spec, dim, tile); }),
               sizes->end());
  std::sort(begin, sizes->end());
  sizes->erase(std::unique(begin, sizes->end()), sizes->end());
}

}  // namespace

uint32_t BoundPanel(const Spec& spec) {
  if (spec.op_info().lanewise())
    return static_cast<uint32_t>(spec.op_info().window.LaneGroup(spec.size[MatmulDims::kK]));
  const int dim = OutputVectorDim(spec);
  for (int operand = 0; operand < spec.op_info().output(); ++operand) {
    const Layout& layout = spec.tensor(operand).layout;
    if (layout.kind == LayoutKind::kPacked && layout.panel != 0 && InnerDim(spec, operand) == dim)
      return layout.panel;
  }
  return 0;
}

void AppendTileSizes(const Spec& spec, int dim, const Target& target, std::vector<uint32_t>* sizes) {
  const size_t first = sizes->size();
  AppendSizes(spec, dim, target, sizes);
  if (const DigitAxis* const axis = WindowAxis(spec, dim))
    FollowWindow(spec, dim, *axis, first, target, sizes);
  if (target.extension != nullptr) AddOwnSizes(spec, dim, *target.extension, first, sizes);
}

void AppendPanelWidths(const Spec& spec, const Target& target, std::vector<uint8_t>* widths) {
  const uint32_t size = spec.size[static_cast<size_t>(OutputVectorDim(spec))];
  const uint32_t narrow = NarrowestLanes(spec, target), wide = WidestLanes(spec, target);
  if (size <= narrow && narrow < wide) widths->push_back(static_cast<uint8_t>(narrow));
  // Panels are tiles, too: one vector only where such a tile is in the lattice, else the copy would be of no
  // use.
  for (uint32_t vectors = size < 2 * wide || OneVectorPays(spec) ? 1 : 2; vectors <= 4; ++vectors) {
    widths->push_back(static_cast<uint8_t>(vectors * wide));
    if (vectors * wide >= size) break;
  }
}

int64_t LineElements(const Target& target) { return target.line_bytes / Bytes(Dtype::kF32); }

int64_t RowDistance(int64_t columns, const Target& target) {
  const int64_t line = LineElements(target), lines = (columns + line - 1) / line;
  return (lines | 1) * line;
}

// From half as many rows as a line has f32, to 16 times as many: powers of two, and the tallest register
// tiles of each width, doubled as often as they fit.
std::vector<int64_t> RowTiles(int64_t rows, const Target& target) {
  constexpr uint32_t kWidestTile = 4;  // vectors
  const int64_t least = LineElements(target) / 2, most = 16 * LineElements(target);
  std::vector<int64_t> tiles = Doublings(least, most, rows);
  for (uint32_t vectors = 1; vectors <= kWidestTile; ++vectors) {
    int64_t height = std::max(TallestTile(target.vectors.front(), vectors, 0), 1u);
    while (height < least) height *= 2;
    for (int64_t tile : Doublings(height, most, rows)) tiles.push_back(tile);
  }
  std::ranges::sort(tiles);
  tiles.erase(std::unique(tiles.begin(), tiles.end()), tiles.end());
  return tiles;
}

std::vector<int64_t> Doublings(int64_t first, int64_t most, int64_t end) {
  std::vector<int64_t> sizes;
  for (int64_t size = first; size <= most && size < end; size *= 2) sizes.push_back(size);
  return sizes;
}

int64_t ShareOf(int64_t rows, int threads, int64_t step) {
  if (threads <= 1) return 0;
  const int64_t each = (rows + threads - 1) / threads, share = (each + step - 1) / step * step;
  return share < rows ? share : 0;
}

}  // namespace kirsch
