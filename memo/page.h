// SPDX-License-Identifier: Apache-2.0
// Holds the solutions of one part of a plane as boxes: neighbouring points with the same decision are one
// box. The contents depend on the set of solutions alone, never on the order in which they came. So equal
// tables have equal pages.
#ifndef KIRSCH_MEMO_PAGE_H_
#define KIRSCH_MEMO_PAGE_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "memo/box_index.h"
#include "memo/coordinates.h"
#include "spec/decision.h"

namespace kirsch {

// The first decision of the optimal program for the spec at a point. The point's last coordinate is the
// number of lines that are available.
struct PagePoint {
  CoordinateList point;
  Decision decision;

  friend bool operator==(const PagePoint&, const PagePoint&) = default;
};

// A page is a value that does not change; adding points means to make another page of all points.
class Page {
 public:
  Page() = default;

  // Makes a page of these points, which all have the same number of coordinates, at least two. AlreadyExists
  // if a point has two different decisions.
  static absl::StatusOr<Page> Of(std::vector<PagePoint> points);

  // Finds the solution for a spec at the fewest lines that are no fewer than `available`, which is the last
  // coordinate of `point`. The last coordinate of the returned point says how many lines these are.
  std::optional<PagePoint> Find(const CoordinateList& point) const;

  // All solutions, ascending by point.
  std::vector<PagePoint> Points() const;

  // The bytes of a page as FORMAT.md has them, and back. DataLoss if the bytes are no page. Decode believes
  // nothing: any bytes may come from a damaged file.
  std::string Encode() const;
  static absl::StatusOr<Page> Decode(std::string_view bytes);

  using Box = kirsch::Box;  // its decision: an index into decisions()
  const std::vector<Box>& boxes() const { return boxes_; }
  const std::vector<Decision>& decisions() const { return decisions_; }
  int coordinates() const { return coordinates_; }

 private:
  void BuildIndex();

  int coordinates_ = 0;
  std::vector<Decision> decisions_;  // each once, ascending by their fields
  std::vector<Box> boxes_;           // disjoint, in the order of MergeBoxes
  BoxIndex index_;                   // by all coordinates but the last
};

}  // namespace kirsch

#endif  // KIRSCH_MEMO_PAGE_H_
