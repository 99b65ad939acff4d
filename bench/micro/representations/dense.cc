// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "bench/micro/representations/representation.h"

namespace kirsch {
namespace {

// The extents of the array. Lines are numbered by those that occur, as their range is large.
struct Axes {
  Point low = {}, size = {};
  std::vector<uint32_t> lines;  // the values of the last coordinate, ascending

  explicit Axes(const std::vector<Entry>& entries) : low(entries[0].point) {
    Point high = low;
    for (const Entry& entry : entries) {
      for (size_t i = 0; i < kLast; ++i) {
        low[i] = std::min(low[i], entry.point[i]);
        high[i] = std::max(high[i], entry.point[i]);
      }
      lines.push_back(entry.point[kLast]);
    }
    for (size_t i = 0; i < kLast; ++i) size[i] = high[i] - low[i] + 1;
    std::sort(lines.begin(), lines.end());
    lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  }

  // A double, since the product overflows for large pages.
  double cells() const {
    double cells = static_cast<double>(lines.size());
    for (size_t i = 0; i < kLast; ++i) cells *= size[i];
    return cells;
  }
};

// An array of cells, the lines innermost.
class Dense : public Representation {
 public:
  explicit Dense(const std::vector<Entry>& entries) : axes_(entries) { Fill(entries); }

  std::optional<Found> Find(const Point& point) const override {
    const std::optional<size_t> row = Row(point);
    if (!row) return std::nullopt;
    // The next cell in the row that has a decision is the one with the fewest lines that are enough.
    for (size_t i = Line(point[kLast]); i < axes_.lines.size(); ++i)
      if (const Cell& cell = cells_[*row + i]; cell.decision != kNone)
        return Found{axes_.lines[i], cell.decision};
    return std::nullopt;
  }

  void Insert(const Entry& entry) override {
    const std::optional<size_t> row = Row(entry.point);
    const size_t line = Line(entry.point[kLast]);
    // Within the extents an insertion sets a cell; beyond them the array is made anew.
    if (row && line < axes_.lines.size() && axes_.lines[line] == entry.point[kLast]) {
      cells_[*row + line].decision = entry.decision;
      return;
    }
    std::vector<Entry> entries = Entries();
    entries.push_back(entry);
    axes_ = Axes(entries);
    Fill(entries);
  }

  std::string Serialize() const override {
    return {reinterpret_cast<const char*>(cells_.data()), cells_.size() * sizeof(Cell)};
  }

 private:
  static constexpr uint32_t kNone = ~uint32_t{0};
  struct Cell {
    uint32_t decision = kNone;
    uint32_t cost = 0;  // takes its room only; nothing reads it
  };

  // Clears all cells and sets those of the entries.
  void Fill(const std::vector<Entry>& entries) {
    cells_.assign(static_cast<size_t>(axes_.cells()), Cell());
    for (const Entry& entry : entries)
      cells_[*Row(entry.point) + Line(entry.point[kLast])].decision = entry.decision;
  }

  // The number of the first cell with these coordinates; nothing if the point is beyond the extents.
  std::optional<size_t> Row(const Point& point) const {
    size_t row = 0;
    for (size_t i = 0; i < kLast; ++i) {
      const uint32_t offset = point[i] - axes_.low[i];
      if (offset >= axes_.size[i]) return std::nullopt;
      row = row * axes_.size[i] + offset;
    }
    return row * axes_.lines.size();
  }

  // The number of the fewest lines that occur and are no fewer than `available`.
  size_t Line(uint32_t available) const {
    return static_cast<size_t>(std::lower_bound(axes_.lines.begin(), axes_.lines.end(), available) -
                               axes_.lines.begin());
  }

  // All entries, from the numbers of their cells.
  std::vector<Entry> Entries() const {
    std::vector<Entry> entries;
    for (size_t i = 0; i < cells_.size(); ++i) {
      if (cells_[i].decision == kNone) continue;
      Entry entry{axes_.low, cells_[i].decision};
      entry.point[kLast] = axes_.lines[i % axes_.lines.size()];
      size_t row = i / axes_.lines.size();
      for (size_t axis = kLast; axis-- > 0; row /= axes_.size[axis])
        entry.point[axis] += static_cast<uint32_t>(row % axes_.size[axis]);
      entries.push_back(entry);
    }
    return entries;
  }

  Axes axes_;
  std::vector<Cell> cells_;
};

}  // namespace

double DenseBytes(const std::vector<Entry>& entries) { return 8 * Axes(entries).cells(); }

std::unique_ptr<Representation> MakeDense(const std::vector<Entry>& entries) {
  if (Axes(entries).cells() > kMaxCells) return nullptr;
  return std::make_unique<Dense>(entries);
}

}  // namespace kirsch
