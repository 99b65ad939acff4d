// SPDX-License-Identifier: Apache-2.0
#include <boost/geometry.hpp>
#include <boost/geometry/index/rtree.hpp>
#include <iterator>

#include "bench/micro/representations/boxes.h"

namespace kirsch {
namespace {

namespace bg = boost::geometry;
using Corner = bg::model::point<double, kPointSize, bg::cs::cartesian>;
using Range = bg::model::box<Corner>;

// Boost's points have their coordinates as template arguments, so they are set one by one.
template <typename Coordinates, size_t... i>
Corner CornerOf(const Coordinates& coordinates, std::index_sequence<i...>) {
  Corner corner;
  (bg::set<i>(corner, coordinates[i]), ...);
  return corner;
}

template <typename Coordinates>
Corner CornerOf(const Coordinates& coordinates) {
  return CornerOf(coordinates, std::make_index_sequence<kPointSize>());
}

// Finds boxes by an R-tree of Boost.Geometry.
class BoxTree : public Boxes {
 public:
  explicit BoxTree(const std::vector<Entry>& entries) : Boxes(entries) { BoxTree::Index(); }

  std::optional<Found> Find(const Point& point) const override {
    // The answer may have any number of lines from the point's on, so the query is a line along the last
    // coordinate.
    Point most = point;
    most[kLast] = ~uint32_t{0};
    std::optional<Found> found;
    const Range range(CornerOf(point), CornerOf(most));
    // All boxes that the line meets; the nearest one wins.
    for (auto at = tree_.qbegin(bg::index::intersects(range)); at != tree_.qend(); ++at)
      Consider(boxes()[at->second], point, &found);
    return found;
  }

 private:
  using Value = std::pair<Range, uint32_t>;

  void Index() override {
    std::vector<Value> values;
    for (const Box& box : boxes())
      values.push_back({Range(CornerOf(box.low), CornerOf(box.high)), static_cast<uint32_t>(values.size())});
    tree_ = Tree(values);  // all at once, which packs the tree
  }

  using Tree = bg::index::rtree<Value, bg::index::quadratic<16>>;
  Tree tree_;
};

}  // namespace

std::unique_ptr<Representation> MakeBoxTree(const std::vector<Entry>& entries) {
  return std::make_unique<BoxTree>(entries);
}

}  // namespace kirsch
