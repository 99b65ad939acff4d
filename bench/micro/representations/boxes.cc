// SPDX-License-Identifier: Apache-2.0
#include "bench/micro/representations/boxes.h"

#include <algorithm>

#include "bench/micro/representations/columns.h"
#include "memo/box_index.h"

namespace kirsch {
namespace {

// A point is a box whose corners are the same.
Box BoxOf(const Entry& entry) {
  Box box;
  std::copy(entry.point.begin(), entry.point.end(), box.low.begin());
  box.high = box.low;
  box.decision = entry.decision;
  return box;
}

// Adds all points of a box, counting through its coordinates as through digits, the first one fastest.
void AppendPoints(const Box& box, std::vector<Box>* points) {
  Box point = box;
  point.high = point.low;
  while (true) {
    points->push_back(point);
    size_t i = 0;
    for (; i < kPointSize && point.low[i] == box.high[i]; ++i) point.low[i] = point.high[i] = box.low[i];
    if (i == kPointSize) return;
    point.high[i] = ++point.low[i];
  }
}

// Looks at every box.
class ScannedBoxes : public Boxes {
 public:
  explicit ScannedBoxes(const std::vector<Entry>& entries) : Boxes(entries) {}
  std::optional<Found> Find(const Point& point) const override {
    std::optional<Found> found;
    for (const Box& box : boxes())
      if (box.Contains(point, kLast)) Consider(box, point, &found);
    return found;
  }

 private:
  void Index() override {}
};

// Asks the index for the boxes that may contain the point, and looks at these.
class IndexedBoxes : public Boxes {
 public:
  explicit IndexedBoxes(const std::vector<Entry>& entries) : Boxes(entries) { IndexedBoxes::Index(); }
  std::optional<Found> Find(const Point& point) const override {
    std::optional<Found> found;
    index_.ForEachCandidate(point, [&](size_t i) {
      if (boxes()[i].Contains(point, kLast)) Consider(boxes()[i], point, &found);
    });
    return found;
  }

 private:
  void Index() override { index_ = BoxIndex(boxes(), kLast); }
  BoxIndex index_;
};

}  // namespace

Boxes::Boxes(const std::vector<Entry>& entries) {
  std::vector<Box> points;
  for (const Entry& entry : entries) points.push_back(BoxOf(entry));
  boxes_ = MergeBoxes(std::move(points), kPointSize);
  boxes_.shrink_to_fit();
}

void Boxes::Insert(const Entry& entry) {
  // The new point goes to all points of the boxes.
  std::vector<Box> points = {BoxOf(entry)};
  for (const Box& box : boxes_) AppendPoints(box, &points);
  // The boxes depend on the points alone, not on the order in which they came.
  boxes_ = MergeBoxes(std::move(points), kPointSize);
  Index();
}

std::string Boxes::Serialize() const {
  std::string bytes;
  // Column by column: decisions, and of each coordinate the lower ends and the lengths.
  AppendNumbers(boxes_, [](const Box& box) { return box.decision; }, &bytes);
  for (size_t i = 0; i < kPointSize; ++i) {
    AppendDifferences(boxes_, [&](const Box& box) { return box.low[i]; }, &bytes);
    AppendNumbers(boxes_, [&](const Box& box) { return box.high[i] - box.low[i]; }, &bytes);
  }
  return bytes;
}

void Boxes::Consider(const Box& box, const Point& point, std::optional<Found>* found) const {
  // The box has only entries that need more lines than there are if it ends below the point.
  if (box.high[kLast] < point[kLast]) return;
  const uint32_t available = std::max(box.low[kLast], point[kLast]);
  if (!*found || available < (*found)->available) *found = Found{available, box.decision};
}

std::unique_ptr<Representation> MakeScannedBoxes(const std::vector<Entry>& entries) {
  return std::make_unique<ScannedBoxes>(entries);
}

std::unique_ptr<Representation> MakeIndexedBoxes(const std::vector<Entry>& entries) {
  return std::make_unique<IndexedBoxes>(entries);
}

}  // namespace kirsch
