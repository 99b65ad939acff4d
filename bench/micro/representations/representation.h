// SPDX-License-Identifier: Apache-2.0
// Ways to keep a page of the table (memo/page.h), behind one interface, to be measured against each other.
#ifndef KIRSCH_BENCH_MICRO_REPRESENTATIONS_REPRESENTATION_H_
#define KIRSCH_BENCH_MICRO_REPRESENTATIONS_REPRESENTATION_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "memo/box.h"

namespace kirsch {

inline constexpr size_t kPointSize = 8;  // of matmul: four sizes, three contiguities, the lines available
inline constexpr size_t kLast = kPointSize - 1;
using Point = std::array<uint32_t, kPointSize>;

struct Entry {
  Point point;
  uint32_t decision;  // a number

  friend auto operator<=>(const Entry&, const Entry&) = default;
};

// As Page::Find: of the entries that differ from the point in `available` at most, the one with the fewest
// lines that are enough.
struct Found {
  uint32_t available;
  uint32_t decision;

  friend bool operator==(const Found&, const Found&) = default;
};

class Representation {
 public:
  virtual ~Representation() = default;
  virtual std::optional<Found> Find(const Point& point) const = 0;
  virtual void Insert(const Entry& entry) = 0;  // whose point is new
  virtual std::string Serialize() const = 0;
};

// `entries` are ascending, no point twice.
using MakeRepresentation = std::unique_ptr<Representation>(const std::vector<Entry>& entries);

// An array over the ranges of the coordinates, and over those numbers of lines that occur: eight bytes a
// cell, for a decision and its cost. Null if it had more than kMaxCells.
MakeRepresentation MakeDense;
double DenseBytes(const std::vector<Entry>& entries);
inline constexpr double kMaxCells = 1 << 22;

// Sorted runs along one coordinate.
std::unique_ptr<Representation> MakeRuns(const std::vector<Entry>& entries, size_t along);

// Boost.ICL: a map from intervals of the first coordinate to maps from intervals of the second one ...
MakeRepresentation MakeNestedIntervals;

// The boxes of MergeBoxes: found by looking at each; by an R-tree; by memo/box_index.h, as pages do.
MakeRepresentation MakeScannedBoxes, MakeBoxTree, MakeIndexedBoxes;

// A hash table by point, `available` aside.
MakeRepresentation MakeHash;

}  // namespace kirsch

#endif  // KIRSCH_BENCH_MICRO_REPRESENTATIONS_REPRESENTATION_H_
