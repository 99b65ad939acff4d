// SPDX-License-Identifier: Apache-2.0
// Finds the least cycles per point of the iteration space, over all register tiles within given limits. Lower
// bounds of arithmetic rest on it: no program of the spec multiplies faster. Thread-safe.
//
//   2 multiply-adds per cycle, vectors of 16 f32: a tile of 6 rows and 2 vectors has 192 points a step. They
//   take 12 / 2 = 6 cycles if nothing else is slower: 1/32 of a cycle for each point.
#ifndef KIRSCH_COST_BEST_TRIPS_H_
#define KIRSCH_COST_BEST_TRIPS_H_

#include <array>
#include <cstdint>
#include <memory>

#include "absl/base/call_once.h"
#include "spec/dtype.h"
#include "spec/instruction.h"
#include "spec/microkernel.h"
#include "spec/target.h"

namespace kirsch {

// Tables of the least cycles, one for each arithmetic and pair of widened types, filled when first asked for.
class BestTrips {
 public:
  // `target` must outlive the tables.
  explicit BestTrips(const Target& target);

  // Return the cycles per output element and step of the reduction, of tiles of at most so many rows and
  // columns. For outer products the columns are those of a padded row, whole vectors of the narrowest unit.
  // For dot products they are elements.
  double Outer(Arithmetic arithmetic, const WidenedTypes& widened, int64_t rows,
               int64_t padded_columns) const;
  double Dot(Arithmetic arithmetic, const WidenedTypes& widened, int64_t rows, int64_t columns) const;

 private:
  // Enough for any register tile: 31 of the widest vectors, each of up to 4 narrow ones; or tile of tiles.
  static constexpr int kRows = 48, kVectors = 128;
  // Least cycles by rows and by vectors of the narrowest unit (or elements). An entry holds for all smaller
  // tiles, too.
  struct Table {
    std::array<std::array<double, kVectors + 1>, kRows + 1> outer, dot;
  };
  struct LazyTable {
    absl::once_flag once;
    std::unique_ptr<Table> table;
  };
  // Fills a table from the costs of all register tiles that fit.
  void Fill(Arithmetic arithmetic, const WidenedTypes& widened, Table* table) const;
  static void TakeOuter(double cycles, int rows, int columns, int narrow, Table* table);
  void FillTiles(Arithmetic arithmetic, Table* table) const;
  const Table& TableOf(Arithmetic arithmetic, const WidenedTypes& widened) const;

  static constexpr size_t kWidened = kDtypes.size() + 1;
  const Target& target_;
  const int narrow_bytes_;
  // By arithmetic, lhs and rhs; index 0 of a type: it is not widened.
  mutable std::array<LazyTable, kNumArithmetics * kWidened * kWidened> tables_;
};

}  // namespace kirsch

#endif  // KIRSCH_COST_BEST_TRIPS_H_
