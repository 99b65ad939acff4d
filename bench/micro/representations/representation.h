// SPDX-License-Identifier: Apache-2.0
// Defines an interface for ways to keep a page of the table (memo/page.h), so that they can be measured
// against each other.
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
// A question of the page's plane.
using Point = std::array<uint32_t, kPointSize>;

// A point with its decision.
struct Entry {
  Point point;
  uint32_t decision;  // a number

  friend auto operator<=>(const Entry&, const Entry&) = default;
};

// The answer to a question, as Page::Find has it. Entries count that differ from the point in the lines
// available, at most. Of those with enough lines it is the one with the fewest.
struct Found {
  uint32_t available;
  uint32_t decision;

  friend bool operator==(const Found&, const Found&) = default;
};

// One page, kept in one of the ways.
class Representation {
 public:
  virtual ~Representation() = default;
  // Nothing: no entry of the page is an answer.
  virtual std::optional<Found> Find(const Point& point) const = 0;
  virtual void Insert(const Entry& entry) = 0;  // whose point is new
  // The bytes that would go to disk, before compression. Nothing reads them back.
  virtual std::string Serialize() const = 0;
};

// Makes a page. `entries` are ascending, and no point is there twice.
using MakeRepresentation = std::unique_ptr<Representation>(const std::vector<Entry>& entries);

// An array over the ranges of the coordinates, and over those numbers of lines that occur. A cell has eight
// bytes, for a decision and its cost. Null if there were more than kMaxCells cells.
MakeRepresentation MakeDense;
// The bytes of the array, whether it can be made or not.
double DenseBytes(const std::vector<Entry>& entries);
inline constexpr double kMaxCells = 1 << 22;

// Sorted runs of entries along one coordinate that have the same decision.
std::unique_ptr<Representation> MakeRuns(const std::vector<Entry>& entries, size_t along);

// A map from intervals of the first coordinate to maps from intervals of the second one, and so on
// (Boost.ICL).
MakeRepresentation MakeNestedIntervals;

// The boxes of MergeBoxes, found in three ways: by looking at each, by an R-tree, and by memo/box_index.h, as
// pages do.
MakeRepresentation MakeScannedBoxes, MakeBoxTree, MakeIndexedBoxes;

// A hash table by point, without the lines. It is the oracle for all others.
MakeRepresentation MakeHash;

}  // namespace kirsch

#endif  // KIRSCH_BENCH_MICRO_REPRESENTATIONS_REPRESENTATION_H_
