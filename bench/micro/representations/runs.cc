// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "bench/micro/representations/columns.h"
#include "bench/micro/representations/representation.h"

namespace kirsch {
namespace {

// Entries that differ only in one coordinate, which has consecutive values, and that have the same decision.
struct Run {
  Point first;
  uint32_t last;  // of the coordinate it runs along
  uint32_t decision;
};

// A sorted list of runs along one coordinate; Find is a binary search.
class Runs : public Representation {
 public:
  Runs(const std::vector<Entry>& entries, size_t along) : along_(along) {
    // Each entry begins as a run of its own. Sorted by Key, entries of a run are neighbours, and are joined.
    for (const Entry& entry : entries) runs_.push_back({entry.point, entry.point[along], entry.decision});
    std::sort(runs_.begin(), runs_.end(),
              [&](const Run& a, const Run& b) { return Key(a.first) < Key(b.first); });
    size_t last = 0;
    for (size_t i = 1; i < runs_.size(); ++i)
      if (!Join(&runs_[last], runs_[i])) runs_[++last] = runs_[i];
    runs_.resize(last + 1);
    runs_.shrink_to_fit();
  }

  std::optional<Found> Find(const Point& point) const override {
    // The binary search finds the first run of the row that ends at the point or behind. Unless runs go along
    // the lines, several runs of the row have to be looked at.
    const bool along_lines = along_ == kLast;
    Point from = point;
    if (!along_lines) from[along_] = 0;
    auto run = std::lower_bound(runs_.begin(), runs_.end(), Key(from),
                                [&](const Run& a, const Point& key) { return EndKey(a) < key; });
    for (; run != runs_.end() && SameRow(run->first, point); ++run)
      if (along_lines || (run->first[along_] <= point[along_] && point[along_] <= run->last))
        return Found{std::max(run->first[kLast], point[kLast]), run->decision};
    return std::nullopt;
  }

  void Insert(const Entry& entry) override {
    Run run{entry.point, entry.point[along_], entry.decision};
    auto next = std::lower_bound(runs_.begin(), runs_.end(), Key(entry.point),
                                 [&](const Run& a, const Point& key) { return Key(a.first) < key; });
    // The new entry may join the run behind it, the run before it, or both.
    if (next != runs_.end() && Join(&run, *next)) {
      *next = run;
    } else {
      next = runs_.insert(next, run);
    }
    if (next != runs_.begin() && Join(&*(next - 1), *next)) runs_.erase(next);
  }

  std::string Serialize() const override {
    std::string bytes;
    // Column by column, as boxes are; a run has one length only.
    AppendNumbers(runs_, [](const Run& run) { return run.decision; }, &bytes);
    for (size_t i = 0; i < kPointSize; ++i)
      AppendDifferences(runs_, [&](const Run& run) { return run.first[i]; }, &bytes);
    AppendNumbers(runs_, [&](const Run& run) { return run.last - run.first[along_]; }, &bytes);
    return bytes;
  }

 private:
  // Returns what runs are ordered by: the row (all coordinates but the lines and the one that runs go along),
  // then the lines, then the coordinate that runs go along.
  Point Key(const Point& point) const {
    Point key = point;
    std::rotate(key.begin() + static_cast<ptrdiff_t>(along_),
                key.begin() + static_cast<ptrdiff_t>(along_) + 1, key.end());
    return key;
  }
  // The key of a run's last entry.
  Point EndKey(const Run& run) const {
    Point end = run.first;
    end[along_] = run.last;
    return Key(end);
  }

  // True if the points differ in nothing but the lines and the coordinate that runs go along.
  bool SameRow(const Point& a, const Point& b) const {
    for (size_t i = 0; i < kLast; ++i)
      if (i != along_ && a[i] != b[i]) return false;
    return true;
  }

  // Appends `next` to a run if it continues it. Returns whether it does.
  bool Join(Run* run, const Run& next) const {
    if (run->decision != next.decision || run->last + 1 != next.first[along_]) return false;
    if (!SameRow(run->first, next.first)) return false;
    if (along_ != kLast && run->first[kLast] != next.first[kLast]) return false;
    run->last = next.last;
    return true;
  }

  const size_t along_;
  std::vector<Run> runs_;
};

}  // namespace

std::unique_ptr<Representation> MakeRuns(const std::vector<Entry>& entries, size_t along) {
  return std::make_unique<Runs>(entries, along);
}

}  // namespace kirsch
