// SPDX-License-Identifier: Apache-2.0
// A page: the solutions that one part of a plane holds, as boxes. Neighbouring points with the same decision
// are one box; what a page says depends on the set of solutions alone, never on the order they came in.
#ifndef KIRSCH_MEMO_PAGE_H_
#define KIRSCH_MEMO_PAGE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "memo/box_index.h"
#include "memo/coordinates.h"
#include "spec/decision.h"

namespace kirsch {

// The first decision of the optimal program for the spec at a point, with as many lines available as the
// point's last coordinate says.
struct PagePoint {
  CoordinateList point;
  Decision decision;

  friend bool operator==(const PagePoint&, const PagePoint&) = default;
};

class Page {
 public:
  Page() = default;

  // All points have the same number of coordinates, two at least. AlreadyExists if one of them comes with two
  // decisions.
  static absl::StatusOr<Page> Of(std::vector<PagePoint> points);

  // Of the solutions at `point`, its last coordinate aside, the one for the fewest lines that are no fewer
  // than `available`: the point's last coordinate then says how many.
  std::optional<PagePoint> Find(const CoordinateList& point) const;

  // Every solution, ascending by point.
  std::vector<PagePoint> Points() const;

  // The bytes of FORMAT.md, and back. DataLoss if they are not such bytes.
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
