// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "bench/micro/representations/representation.h"

namespace kirsch {
namespace {

// A list of answers for each point without its lines.
class Hash : public Representation {
 public:
  explicit Hash(const std::vector<Entry>& entries) {
    for (const Entry& entry : entries) Hash::Insert(entry);
  }

  std::optional<Found> Find(const Point& point) const override {
    const auto row = rows_.find(WithoutLines(point));
    if (row == rows_.end()) return std::nullopt;
    // The list has an answer for each number of lines, ascending.
    for (const Found& found : row->second)
      if (found.available >= point[kLast]) return found;
    return std::nullopt;
  }

  void Insert(const Entry& entry) override {
    // Lists stay ascending, so the first answer with enough lines is the one to return.
    auto& row = rows_[WithoutLines(entry.point)];
    const auto next = std::find_if(row.begin(), row.end(),
                                   [&](const Found& found) { return found.available >= entry.point[kLast]; });
    row.insert(next, {entry.point[kLast], entry.decision});
  }

  std::string Serialize() const override {
    std::vector<Entry> entries;
    for (const auto& [key, row] : rows_)
      for (const Found& found : row) {
        Entry entry{{}, found.decision};
        std::copy(key.begin(), key.end(), entry.point.begin());
        entry.point[kLast] = found.available;
        entries.push_back(entry);
      }
    // The order of a hash table is not defined; sorted entries compress better.
    std::sort(entries.begin(), entries.end());
    return {reinterpret_cast<const char*>(entries.data()), entries.size() * sizeof(Entry)};
  }

 private:
  using Key = std::array<uint32_t, kLast>;
  // Lines are the last coordinate, so the key is all before it.
  static Key WithoutLines(const Point& point) {
    Key key;
    std::copy(point.begin(), point.end() - 1, key.begin());
    return key;
  }

  absl::flat_hash_map<Key, absl::InlinedVector<Found, 1>> rows_;  // ascending by lines
};

}  // namespace

std::unique_ptr<Representation> MakeHash(const std::vector<Entry>& entries) {
  return std::make_unique<Hash>(entries);
}

}  // namespace kirsch
