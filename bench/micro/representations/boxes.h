// SPDX-License-Identifier: Apache-2.0
// What the representations by boxes share: all but how a box is found.
#ifndef KIRSCH_BENCH_MICRO_REPRESENTATIONS_BOXES_H_
#define KIRSCH_BENCH_MICRO_REPRESENTATIONS_BOXES_H_

#include "bench/micro/representations/representation.h"

namespace kirsch {

class Boxes : public Representation {
 public:
  explicit Boxes(const std::vector<Entry>& entries);
  void Insert(const Entry& entry) override;  // merges all points anew, as a page does
  std::string Serialize() const override;

 protected:
  virtual void Index() = 0;  // called when boxes() has changed; to be called by constructors
  const std::vector<Box>& boxes() const { return boxes_; }

  // Takes box `i`, which contains the point (its lines aside), if it is nearer than what was found.
  void Consider(const Box& box, const Point& point, std::optional<Found>* found) const;

 private:
  std::vector<Box> boxes_;
};

}  // namespace kirsch

#endif  // KIRSCH_BENCH_MICRO_REPRESENTATIONS_BOXES_H_
