// SPDX-License-Identifier: Apache-2.0
// Numbers the members of a family that has all combinations of the values of some sizes. The members of a
// region are in a box of such a grid.
#ifndef KIRSCH_SEARCH_FAMILIES_SIZE_GRID_H_
#define KIRSCH_SEARCH_FAMILIES_SIZE_GRID_H_

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

namespace kirsch {

// A value. Members are numbered from 0, and the last size varies fastest. Example: of sizes with 3 and 4
// values, the member with places 1 and 2 has the number 1 * 4 + 2 = 6.
class SizeGrid {
 public:
  using Place = std::vector<size_t>;  // of each size, which of its values

  // `counts`: of each size's values.
  explicit SizeGrid(std::vector<size_t> counts) : counts_(std::move(counts)), stride_(counts_.size()) {
    for (size_t dim = counts_.size(); dim-- > 0;) {
      stride_[dim] = members_;
      members_ *= counts_[dim];
    }
  }

  size_t dims() const { return counts_.size(); }
  size_t count(size_t dim) const { return counts_[dim]; }
  size_t members() const { return members_; }

  // The number of the member at a place, and the place of a number.
  size_t Index(const Place& place) const {
    size_t index = 0;
    for (size_t dim = 0; dim < dims(); ++dim) index += place[dim] * stride_[dim];
    return index;
  }
  Place At(size_t index) const {
    Place place(dims());
    for (size_t dim = 0; dim < dims(); ++dim) place[dim] = index / stride_[dim] % counts_[dim];
    return place;
  }

  // True if the second member's place is no less than the first one's, in each size.
  bool IsBetween(size_t low, size_t index) const {
    const Place a = At(low), b = At(index);
    return std::equal(a.begin(), a.end(), b.begin(), std::less_equal<>());
  }

  // True if `holds` is true for every member of the box, corners included. It is called in the order of the
  // members, up to the first for which it is false.
  template <typename Holds>
  bool Every(const Place& first, const Place& last, const Holds& holds) const {
    Place place = first;
    while (true) {
      if (!holds(Index(place))) return false;
      size_t dim = dims();
      while (dim > 0 && place[dim - 1] == last[dim - 1]) {
        --dim;
        place[dim] = first[dim];
      }
      if (dim == 0) return true;
      ++place[dim - 1];
    }
  }

  // The last corner of the largest box from `first` on that can be grown so: along one dim of `order` after
  // the other, as long as `holds` is true for all members. It must be true for `first`.
  template <typename Holds>
  Place Grow(const Place& first, const std::vector<size_t>& order, const Holds& holds) const {
    Place last = first;
    for (const size_t dim : order)
      while (last[dim] + 1 < counts_[dim]) {
        Place from = first, to = last;
        from[dim] = to[dim] = last[dim] + 1;
        if (!Every(from, to, holds)) break;
        ++last[dim];
      }
    return last;
  }

  struct Box {
    size_t first = 0, last = 0;  // its corners
    size_t wanted = 0;           // of its members
  };
  // Finds, of one or two sizes, the box with the most members that are `wanted`. All members of the box must
  // be ones that it `may_hold`; of several boxes it is the first.
  //
  // It goes row by row. A column's height counts the members up to this row that may be held without a gap.
  // An open run is a stretch of columns that are at least so high. It ends at the first lower column: then it
  // is a box that cannot be made wider.
  //
  //   row 0   . # .        heights in row 2: 1 3 2
  //   row 1   . # #        boxes that end there: columns 0..2, height 1; column 1, height 3;
  //   row 2   # # #        columns 1..2, height 2
  template <typename MayHold, typename Wanted>
  Box FullestBox(const MayHold& may_hold, const Wanted& wanted) const {
    struct Run {
      size_t begin, height;
    };
    const size_t columns = counts_.back(), rows = members_ / columns;
    // The wanted members above each row and left of each column. Differences of these tell how many a box
    // has.
    std::vector<std::vector<size_t>> before(rows + 1, std::vector<size_t>(columns + 1));
    for (size_t row = 0; row < rows; ++row)
      for (size_t column = 0; column < columns; ++column)
        before[row + 1][column + 1] = before[row][column + 1] + before[row + 1][column] -
                                      before[row][column] + (wanted(row * columns + column) ? 1 : 0);
    Box fullest;
    std::vector<size_t> heights(columns);
    for (size_t row = 0; row < rows; ++row) {
      std::vector<Run> open;  // of rising heights
      for (size_t column = 0; column <= columns; ++column) {
        size_t height = 0, begin = column;
        if (column < columns)
          height = heights[column] = may_hold(row * columns + column) ? heights[column] + 1 : 0;
        for (; !open.empty() && open.back().height >= height; open.pop_back()) {
          begin = open.back().begin;
          const size_t top = row + 1 - open.back().height;
          const size_t inside =
              before[row + 1][column] - before[top][column] - before[row + 1][begin] + before[top][begin];
          if (inside > fullest.wanted) fullest = {top * columns + begin, row * columns + column - 1, inside};
        }
        open.push_back({begin, height});
      }
    }
    return fullest;
  }

  // The corners of the smallest box around the members. There must be at least one.
  std::pair<size_t, size_t> Around(const std::vector<size_t>& members) const {
    Place low = At(members.front()), high = low;
    for (size_t member : members) {
      const Place place = At(member);
      for (size_t dim = 0; dim < dims(); ++dim) {
        low[dim] = std::min(low[dim], place[dim]);
        high[dim] = std::max(high[dim], place[dim]);
      }
    }
    return {Index(low), Index(high)};
  }

 private:
  std::vector<size_t> counts_, stride_;
  size_t members_ = 1;
};

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_FAMILIES_SIZE_GRID_H_
