// SPDX-License-Identifier: Apache-2.0
// Least cycles per point of the iteration space, over the register tiles within given limits. Lower bounds of
// arithmetic rest on it. Thread-safe.
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

class BestTrips {
 public:
  // `target` must outlive the tables.
  explicit BestTrips(const Target& target);

  // Cycles per output element and step of the reduction, of tiles of at most so many rows and columns: of
  // outer products, elements of a padded row, which is whole vectors of the narrowest unit; of dot products,
  // elements.
  double Outer(Arithmetic arithmetic, const WidenedTypes& widened, int64_t rows,
               int64_t padded_columns) const;
  double Dot(Arithmetic arithmetic, const WidenedTypes& widened, int64_t rows, int64_t columns) const;

 private:
  // Enough for any register tile: 31 of the widest vectors, each of up to 4 narrow ones.
  // Or tile of tiles.
  static constexpr int kRows = 48, kVectors = 128;
  struct Table {
    std::array<std::array<double, kVectors + 1>, kRows + 1> outer, dot;
  };
  struct LazyTable {
    absl::once_flag once;
    std::unique_ptr<Table> table;
  };
  void Fill(Arithmetic arithmetic, const WidenedTypes& widened, Table* table) const;
  static void TakeOuter(double cycles, int rows, int columns, int narrow, Table* table);
  void FillTiles(Arithmetic arithmetic, Table* table) const;
  const Table& TableOf(Arithmetic arithmetic, const WidenedTypes& widened) const;

  static constexpr size_t kWidened = kDtypes.size() + 1;
  const Target& target_;
  const int narrow_bytes_;
  // By arithmetic, lhs and rhs; filled when first asked for.
  mutable std::array<LazyTable, kNumArithmetics * kWidened * kWidened> tables_;
};

}  // namespace kirsch

#endif  // KIRSCH_COST_BEST_TRIPS_H_
