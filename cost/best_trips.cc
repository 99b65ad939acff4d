// SPDX-License-Identifier: Apache-2.0
#include "cost/best_trips.h"

#include <algorithm>

#include "cost/cost.h"
#include "cost/microkernel_cost.h"
#include "spec/microkernel.h"

namespace kirsch {
namespace {

// A tile of outer products without masks. Of blocks in panels, it is one of those that need the least
// scaling.
RegisterTile TileOf(Arithmetic arithmetic, int lanes, int rows, int columns, WidenedTypes widened,
                    const Target& target) {
  if (IsInPanels(Info(arithmetic).rhs) && !widened.rhs) widened.rhs = Info(arithmetic).rhs;
  RegisterTile tile{LayoutKind::kVectors, arithmetic, lanes, rows, columns};
  SetWidening(widened, target, &tile);
  return tile;
}

// True if nothing is widened after all: the types are those that the arithmetic multiplies.
bool IsOfItsTypes(Arithmetic arithmetic, const WidenedTypes& widened) {
  const auto is_lane = [&](int operand, const std::optional<Dtype>& dtype) {
    return !dtype || LaneType(arithmetic, operand, *dtype) == *dtype;
  };
  return is_lane(MatmulDims::kLhs, widened.lhs) && is_lane(MatmulDims::kRhs, widened.rhs);
}

// Returns the cycles for each product of the tile; infinite if it does not fit the registers.
double CyclesPerPoint(const RegisterTile& tile, const VectorUnit& unit, const Target& target) {
  if (RegistersNeeded(tile, unit) > unit.registers) return kInfiniteCycles;
  return TripCyclesOf(tile, unit, target).total() / (tile.rows * tile.columns * tile.lanes * tile.group());
}

// Larger sizes have the entry of the largest tile.
size_t Limit(int64_t most, int64_t size) { return static_cast<size_t>(std::min(most, size)); }

}  // namespace

BestTrips::BestTrips(const Target& target) : target_(target), narrow_bytes_(target.vectors.back().bytes) {}

double BestTrips::Outer(Arithmetic arithmetic, const WidenedTypes& widened, int64_t rows,
                        int64_t padded_columns) const {
  return TableOf(arithmetic, widened)
      .outer[Limit(kRows, rows)]
            [Limit(kVectors, padded_columns * Bytes(Info(arithmetic).accumulator()) / narrow_bytes_)];
}

double BestTrips::Dot(Arithmetic arithmetic, const WidenedTypes& widened, int64_t rows,
                      int64_t columns) const {
  return TableOf(arithmetic, widened).dot[Limit(kRows, rows)][Limit(kVectors, columns)];
}

// Returns the table, which the first thread that asks fills while others wait.
const BestTrips::Table& BestTrips::TableOf(Arithmetic arithmetic, const WidenedTypes& widened) const {
  const auto index = [](std::optional<Dtype> dtype) { return dtype ? static_cast<size_t>(*dtype) + 1 : 0; };
  LazyTable& lazy = tables_[(static_cast<size_t>(arithmetic) * kWidened + index(widened.lhs)) * kWidened +
                            index(widened.rhs)];
  absl::call_once(lazy.once, [&] {
    lazy.table = std::make_unique<Table>();
    Fill(arithmetic, widened, lazy.table.get());
  });
  return *lazy.table;
}

// Enters a tile of `columns` vectors, each of `narrow` of the narrowest unit. The last one may be used in
// part only; the tile costs the same, so each point of it costs more.
//
//   vectors of 64 bytes, the narrowest of 16: a tile of 2 is for 5 to 8 of those; for 6, a point costs 8/6
void BestTrips::TakeOuter(double cycles, int rows, int columns, int narrow, Table* table) {
  for (int used = (columns - 1) * narrow + 1; used <= std::min(kVectors, columns * narrow); ++used) {
    double& outer = table->outer[static_cast<size_t>(rows)][static_cast<size_t>(used)];
    outer = std::min(outer, cycles * columns * narrow / used);
  }
}

// Enters the tiles of a matrix unit, none of whose operands are widened. Rows of rhs are whole vectors.
void BestTrips::FillTiles(Arithmetic arithmetic, Table* table) const {
  const TileEncoding& encoding = Info(arithmetic).tiles;
  if (!target_.matrix || encoding.feature.empty() || !target_.HasFeature(encoding.feature)) return;
  const VectorUnit& unit = target_.vectors.front();
  const int lanes = unit.lanes(Info(arithmetic).accumulator()), narrow = unit.bytes / narrow_bytes_;
  for (int rows = 1; rows <= kRows; ++rows)
    for (int columns = 1; columns <= target_.matrix->registers; ++columns) {
      const RegisterTile tile{LayoutKind::kTiles, arithmetic, lanes, rows, columns};
      if (TileRegistersNeeded(tile) > target_.matrix->registers) continue;
      const double cycles =
          TripCyclesOf(tile, unit, target_).total() / (tile.rows * tile.columns * tile.lanes * tile.step());
      TakeOuter(cycles, rows, columns, narrow, table);
    }
}

// Dot products are tiles of their own where something is widened. Otherwise an outer product of as many
// vectors stands for them, which never takes longer: costs rest on it (CostModel::ComputeBound).
void BestTrips::Fill(Arithmetic arithmetic, const WidenedTypes& widened, Table* table) const {
  for (auto* form : {&table->outer, &table->dot})
    for (auto& row : *form) row.fill(kInfiniteCycles);
  for (const VectorUnit& unit : target_.vectors) {
    const int lanes = unit.lanes(Info(arithmetic).accumulator()), narrow = unit.bytes / narrow_bytes_;
    for (int rows = 1; rows <= kRows; ++rows)
      for (int columns = 1; columns <= kVectors; ++columns) {
        RegisterTile tile = TileOf(arithmetic, lanes, rows, columns, widened, target_);
        const double cycles = CyclesPerPoint(tile, unit, target_);
        TakeOuter(cycles, rows, columns, narrow, table);
        if (widened.lhs || widened.rhs) tile.form = LayoutKind::kPartialSums;
        double& dot = table->dot[static_cast<size_t>(rows)][static_cast<size_t>(columns)];
        dot = std::min(dot, CyclesPerPoint(tile, unit, target_));
      }
  }
  if (IsOfItsTypes(arithmetic, widened)) FillTiles(arithmetic, table);
  // A limit allows smaller tiles, too: each entry becomes the least of those with no more rows and columns.
  for (auto* form : {&table->outer, &table->dot})
    for (size_t r = 1; r <= kRows; ++r)
      for (size_t v = 1; v <= kVectors; ++v) {
        double& best = (*form)[r][v];
        best = std::min({best, (*form)[r - 1][v], (*form)[r][v - 1]});
      }
}

}  // namespace kirsch
