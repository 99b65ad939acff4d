// SPDX-License-Identifier: Apache-2.0
#include "memo/box.h"

#include <algorithm>

namespace kirsch {
namespace {

using CoordinateNumbers = std::vector<size_t>;

// Orders boxes so that those which differ only in coordinate `along` stand next to each other, ascending.
struct LessAlong {
  const CoordinateNumbers& others;
  size_t along;
  bool operator()(const Box& a, const Box& b) const {
    for (const size_t i : others) {
      if (a.low[i] != b.low[i]) return a.low[i] < b.low[i];
      if (a.high[i] != b.high[i]) return a.high[i] < b.high[i];
    }
    if (a.decision != b.decision) return a.decision < b.decision;
    return a.low[along] < b.low[along];
  }
};

// True if b continues a along this coordinate, and both are equal in everything else.
bool Joins(const Box& a, const Box& b, const CoordinateNumbers& others, size_t along) {
  if (a.decision != b.decision || int64_t{a.high[along]} + 1 != b.low[along]) return false;
  return std::ranges::all_of(others,
                             [&](size_t i) { return a.low[i] == b.low[i] && a.high[i] == b.high[i]; });
}

// One pass over the sorted boxes: each one extends the last box that is kept, or is kept itself.
void MergeAlong(size_t along, const CoordinateNumbers& others, std::vector<Box>* boxes) {
  std::ranges::sort(*boxes, LessAlong{others, along});
  size_t last = 0;
  for (size_t i = 1; i < boxes->size(); ++i) {
    if (Joins((*boxes)[last], (*boxes)[i], others, along))
      (*boxes)[last].high[along] = (*boxes)[i].high[along];
    else
      (*boxes)[++last] = (*boxes)[i];
  }
  boxes->resize(last + 1);
}

// True if the boxes' low corners differ in this coordinate. Before any merge, low and high corners are equal.
bool Varies(size_t coordinate, const std::vector<Box>& boxes) {
  return std::ranges::any_of(boxes,
                             [&](const Box& box) { return box.low[coordinate] != boxes[0].low[coordinate]; });
}

}  // namespace

std::vector<Box> MergeBoxes(std::vector<Box> points, int coordinates) {
  CoordinateNumbers varying;  // the others can neither join nor part boxes
  // Coordinates from the last to the first, as the header says. FORMAT.md prescribes this order, since
  // another order may give other boxes.
  for (auto i = static_cast<size_t>(coordinates); i-- > 0;)
    if (Varies(i, points)) varying.push_back(i);
  for (const size_t along : varying) {
    CoordinateNumbers others;
    std::ranges::copy_if(varying, std::back_inserter(others), [&](size_t i) { return i != along; });
    MergeAlong(along, others, &points);
  }
  std::ranges::sort(points, LowCornerLess);
  return points;
}

// Disjoint boxes have different low corners, so the order is total.
bool LowCornerLess(const Box& a, const Box& b) {
  return std::lexicographical_compare(a.low.rbegin(), a.low.rend(), b.low.rbegin(), b.low.rend());
}

}  // namespace kirsch
