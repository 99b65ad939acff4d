// SPDX-License-Identifier: Apache-2.0
// Holds what the representations by boxes share: all but how a box is found.
#ifndef KIRSCH_BENCH_MICRO_REPRESENTATIONS_BOXES_H_
#define KIRSCH_BENCH_MICRO_REPRESENTATIONS_BOXES_H_

#include "bench/micro/representations/representation.h"

namespace kirsch {

// A page as disjoint boxes of points with the same decision (MergeBoxes).
class Boxes : public Representation {
 public:
  explicit Boxes(const std::vector<Entry>& entries);
  void Insert(const Entry& entry) override;  // merges all points anew, as a page does
  std::string Serialize() const override;

 protected:
  virtual void Index() = 0;  // called when boxes() has changed; constructors call it, too
  const std::vector<Box>& boxes() const { return boxes_; }

  // Takes `box`, which contains the point (its lines aside), if it is nearer than what was found: if it has
  // fewer lines that are enough.
  void Consider(const Box& box, const Point& point, std::optional<Found>* found) const;

 private:
  std::vector<Box> boxes_;
};

}  // namespace kirsch

#endif  // KIRSCH_BENCH_MICRO_REPRESENTATIONS_BOXES_H_
