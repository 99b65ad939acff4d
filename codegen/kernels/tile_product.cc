// SPDX-License-Identifier: Apache-2.0
// Writes the microkernel of a matrix unit. Accumulators stay in tiles over the whole reduction. Every step
// loads the tiles of lhs, then those of rhs one after the other, each of which is multiplied by all of lhs.
// Tiles have no masks, so what is left of the reduction is copied into whole tiles, filled up with zeros. The
// registers of 2 x 2 tiles:
//   0 1    accumulators       4 5    lhs
//   2 3                       6 7    rhs, by turns
#include <cstdint>

#include "codegen/kernels/epilogue_code.h"
#include "codegen/kernels/form_writer.h"
#include "spec/check.h"

namespace kirsch {
namespace {

// The caller has configured the tiles as Procedure::tiles says.
class TileProduct : FormWriter {
 public:
  explicit TileProduct(const Microkernel& kernel)
      : FormWriter(kernel),
        epilogue_(builder_, kernel, parameters_.out, parameters_.arguments, kernel.tile.lanes,
                  parameters_.size, parameters_.last) {
    KIRSCH_CHECK(kernel.lhs.order == Order::kRow && kernel.lhs.panel == 0 && kernel.lhs.window.empty());
    KIRSCH_CHECK(kernel.rhs.order == Order::kRow && kernel.rhs.group == kernel.tile.group());
    KIRSCH_CHECK(kernel.rhs.panel % kernel.tile.lanes == 0);
    KIRSCH_CHECK(kernel.sum_levels == 0 && TileRegistersNeeded(kernel.tile) <= kTileRegisters);
  }

  Procedure Build() && {
    // Tiles begin as the output or as zeros; then the main loop, and what is left of the reduction.
    PrefetchOut();
    Start();
    builder_.Loop(IndexOf(parameters_.trips), [&](VarId) {
      if (kernel_.prefetches()) PrefetchRhs();
      Step([&](int i) { LoadLhs(i); }, [&](int j) { LoadRhs(j); });
      builder_.Do(Advance{parameters_.lhs, LhsAt(0, kernel_.step())});
      builder_.Do(Advance{parameters_.rhs, Constant(kernel_.rhs.At(kernel_.step(), 0))});
      Ask(builder_, kernel_, parameters_, 0, kernel_.step());
      if (kernel_.asked_lines != 0)
        builder_.Do(Advance{parameters_.asked, AskedRow(kernel_, parameters_, kernel_.step())});
    });
    if (parameters_.tail != kNoVar)
      builder_.WithAny(parameters_.tail,
                       [&] { Tail({StepsOfTile(), parameters_.tail}, IndexOf(parameters_.tail)); });
    else if (kernel_.k_tail != 0)
      Tail(static_cast<int>(kernel_.k_tail), Constant(kernel_.k_tail));
    Store();
    Procedure procedure = std::move(builder_).Build();
    // Configurations are made outside of kernels (loop/tile_configuration.h).
    procedure.tiles = Rows();
    return procedure;
  }

 private:
  // The numbers of the tiles' registers. Accumulators come first, then lhs; what is left takes turns for rhs.
  int Accumulator(int i, int j) const { return i * kernel_.tile.columns + j; }
  int Lhs(int i) const { return kernel_.tile.row_tiles() * kernel_.tile.columns + i; }
  int Rhs(int j) const {
    const int first = Lhs(kernel_.tile.row_tiles());
    return first + j % (kTileRegisters - first);
  }
  // Returns how many rows each tile has. The last row of tiles may have fewer; all others are full.
  TileRows Rows() const {
    TileRows rows;
    rows.fill(kTileRows);
    ForEachTile([&](int i, int j) {
      const auto number = static_cast<uint8_t>(kernel_.tile.rows_of(i));
      rows[static_cast<size_t>(Accumulator(i, j))] = rows[static_cast<size_t>(Lhs(i))] = number;
    });
    return rows;
  }
  template <typename Do>
  void ForEachTile(const Do& visit) const {
    for (int i = 0; i < kernel_.tile.row_tiles(); ++i)
      for (int j = 0; j < kernel_.tile.columns; ++j) visit(i, j);
  }

  // Steps of the reduction that a tile of lhs or rhs has.
  int StepsOfTile() const { return static_cast<int>(kernel_.step()); }
  Affine OutAt(int i, int j) const {
    return kernel_.out.At(int64_t{i} * kTileRows, Lane(j), parameters_.size);
  }
  // Returns the elements from one row to the next.
  Affine Distance(const MatrixLayout& layout) const {
    return layout.outer_stride.IsConstant() ? Constant(layout.outer_stride) : IndexOf(parameters_.size);
  }

  // Tiles are loaded from memory as it lies, with any distance between rows.
  void LoadLhs(int i) {
    builder_.Do(TileLoad{Lhs(i), {parameters_.lhs, LhsAt(int64_t{i} * kTileRows, 0)}, Distance(kernel_.lhs)});
  }
  void LoadRhs(int j) {
    builder_.Do(TileLoad{Rhs(j), At(parameters_.rhs, kernel_.rhs.At(0, Lane(j))), Distance(kernel_.rhs)});
  }
  // Writes one step of all tiles. Loads come just before their first use, so that the first product waits for
  // two tiles only.
  template <typename LoadLhs, typename LoadRhs>
  void Step(const LoadLhs& load_lhs, const LoadRhs& load_rhs) {
    // An instruction takes unsigned and signed bytes in either order, by different names.
    const bool exchanged = kernel_.lhs.dtype != kernel_.tile.instruction().lhs;
    for (int j = 0; j < kernel_.tile.columns; ++j)
      for (int i = 0; i < kernel_.tile.row_tiles(); ++i) {
        if (j == 0) load_lhs(i);
        if (i == 0) load_rhs(j);
        builder_.Do(TileMultiplyAdd{kernel_.tile.arithmetic, exchanged, Accumulator(i, j), Lhs(i), Rhs(j)});
      }
  }

  // Multiplies what is left of the reduction: `count` steps, which are `steps`. Lhs and rhs are copied into
  // arrays of whole tiles, whose other steps are zeros; a step then reads these.
  void Tail(const LaneCount& count, const Affine& steps) {
    const int in_tile = StepsOfTile(), group = kernel_.tile.group(), columns = kernel_.tile.columns;
    // Rows of lhs: a masked load makes the steps that don't exist zero.
    const VarId row = builder_.Vector("row", kernel_.lhs.dtype, in_tile);
    const VarId lhs =
        builder_.Array("lhs_tail", kernel_.lhs.dtype, in_tile, int64_t{kernel_.tile.rows} * in_tile);
    for (int i = 0; i < kernel_.tile.rows; ++i) {
      builder_.Do(Load{row, {parameters_.lhs, LhsAt(i, 0)}, count});
      builder_.Do(kirsch::Store{row, At(lhs, int64_t{i} * in_tile), in_tile});
    }
    // Rhs: rows of groups. All rows are zeros at first; then those that exist are copied.
    const VarId groups = builder_.Vector("groups", kernel_.rhs.dtype, in_tile);
    const int64_t tile = int64_t{kTileRows} * in_tile;
    const VarId rhs = builder_.Array("rhs_tail", kernel_.rhs.dtype, in_tile, columns * tile);
    builder_.Do(Zero{groups});
    for (int i = 0; i < columns * kTileRows; ++i)
      builder_.Do(kirsch::Store{groups, At(rhs, int64_t{i} * in_tile), in_tile});
    const Affine rounded = Plus(steps, group - 1);
    builder_.Loop(
        rounded.IsConstant() ? Constant(rounded.constant / group)
                             : IndexOf(builder_.Quotient(rounded, group, false)),
        [&](VarId number) {
          for (int j = 0; j < columns; ++j) {
            const Affine from = Constant(kernel_.rhs.At(0, Lane(j)));
            builder_.Do(
                Load{groups, {parameters_.rhs, Plus(from, number, kernel_.rhs.outer_stride)}, in_tile});
            builder_.Do(kirsch::Store{groups, {rhs, Plus(Constant(j * tile), number, in_tile)}, in_tile});
          }
        });
    // The tiles have to be read after the arrays are written.
    builder_.Do(Fence{});
    Step([&](int i) { builder_.Do(TileLoad{Lhs(i), At(lhs, i * tile), Constant(in_tile)}); },
         [&](int j) { builder_.Do(TileLoad{Rhs(j), At(rhs, j * tile), Constant(in_tile)}); });
  }

  // Sums that are stored as they are go on from what is accumulated into. Those that wait for the epilogue
  // begin as zero; Store() adds what is accumulated into.
  void Start() {
    const bool adds = kernel_.accumulate && !WaitsForEpilogue(kernel_);
    const auto load = [&] {
      ForEachTile([&](int i, int j) {
        builder_.Do(TileLoad{Accumulator(i, j), {parameters_.out, OutAt(i, j)}, Distance(kernel_.out)});
      });
    };
    if (adds && kernel_.accumulate.IsConstant()) return load();
    ForEachTile([&](int i, int j) { builder_.Do(TileZero{Accumulator(i, j)}); });
    if (adds) builder_.WithAny(parameters_.adds, load);
  }

  // Stores sums to the output, or to the array where they wait for the epilogue.
  void Store() {
    if (!WaitsForEpilogue(kernel_)) {
      ForEachTile([&](int i, int j) {
        builder_.Do(TileStore{Accumulator(i, j), {parameters_.out, OutAt(i, j)}, Distance(kernel_.out)});
      });
      return;
    }
    const int64_t pitch = epilogue_.Pitch();
    ForEachTile([&](int i, int j) {
      builder_.Do(TileStore{Accumulator(i, j), At(epilogue_.waiting(), i * kTileRows * pitch + Lane(j)),
                            Constant(pitch)});
    });
    builder_.Do(Fence{});
    if (!kernel_.accumulate) return epilogue_.Finish();
    const VarId old = builder_.Vector("old", kernel_.accumulator(), kernel_.tile.lanes);
    epilogue_.Finish([&](VarId sums, const Address& at, const LaneCount& count) {
      parameters_.WhereItAdds(builder_, [&] {
        builder_.Do(Load{old, at, count});
        builder_.Do(Binary{BinaryOp::kAdd, sums, sums, old});
      });
    });
  }

  // Prefetches the output, which is not in L1, while the reduction runs.
  void PrefetchOut() {
    if (!kernel_.prefetch_out) return;
    for (int i = 0; i < kernel_.tile.rows; ++i)
      for (int64_t column = 0; column < kernel_.n; column += kLineBytes / Bytes(kernel_.out.dtype))
        builder_.Do(Prefetch{{parameters_.out, kernel_.out.At(i, column, parameters_.size)}});
  }

  // Prefetches the tiles of rhs as far ahead as the decision says, a line for each row of a tile. May point
  // past the end of rhs: a prefetch of memory that isn't there does nothing.
  void PrefetchRhs() {
    for (int row = 0; row < kTileRows; ++row)
      for (int j = 0; j < kernel_.tile.columns; ++j)
        builder_.Do(
            Prefetch{At(parameters_.rhs, kernel_.rhs.At(row * kernel_.tile.group() + kernel_.prefetch_k(),
                                                        Lane(j) + kernel_.prefetch_n()))});
  }

  EpilogueCode epilogue_;
};

}  // namespace

Procedure TileProductProcedure(const Microkernel& kernel) { return TileProduct(kernel).Build(); }

}  // namespace kirsch
