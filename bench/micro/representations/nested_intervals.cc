// SPDX-License-Identifier: Apache-2.0
#include <boost/icl/interval_map.hpp>

#include "bench/micro/representations/representation.h"
#include "memo/varint.h"

namespace kirsch {
namespace {

namespace icl = boost::icl;

// Level<i> maps intervals of coordinate i. The last level maps to decisions plus 1, as ICL drops values that
// are 0.
template <typename Value>
using IntervalMap = icl::interval_map<uint32_t, Value, icl::partial_absorber, std::less, icl::inplace_plus,
                                      icl::inter_section, icl::right_open_interval<uint32_t>>;
template <size_t i>
struct Nested {
  using Map = IntervalMap<typename Nested<i + 1>::Map>;
};
template <>
struct Nested<kLast> {
  using Map = IntervalMap<uint32_t>;
};
template <size_t i>
using Level = typename Nested<i>::Map;

// The interval of one value.
icl::right_open_interval<uint32_t> Only(uint32_t value) { return {value, value + 1}; }

// A map of one entry. Adding it to another adds up where both have intervals: maps to maps, down to the last
// level, where a new point meets nothing.
template <size_t i>
Level<i> MapOf(const Entry& entry) {
  Level<i> map;
  if constexpr (i == kLast) {
    map.add({Only(entry.point[i]), entry.decision + 1});
  } else {
    map.add({Only(entry.point[i]), MapOf<i + 1>(entry)});
  }
  return map;
}

template <size_t i>
std::optional<Found> FindIn(const Level<i>& map, const Point& point) {
  if constexpr (i == kLast) {
    // The interval that has so many lines, or else the next one above.
    const auto at = map.lower_bound(Only(point[i]));
    if (at == map.end()) return std::nullopt;
    return Found{std::max(at->first.lower(), point[i]), at->second - 1};
  } else {
    const auto at = map.find(point[i]);
    return at == map.end() ? std::nullopt : FindIn<i + 1>(at->second, point);
  }
}

template <size_t i>
void Append(const Level<i>& map, std::string* bytes) {
  // Intervals are disjoint and ascending, so gaps and lengths are enough.
  AppendVarint(icl::interval_count(map), bytes);
  uint32_t before = 0;
  for (const auto& [interval, value] : map) {
    AppendVarint(interval.lower() - before, bytes);
    AppendVarint(interval.upper() - interval.lower() - 1, bytes);
    before = interval.upper();
    if constexpr (i == kLast) {
      AppendVarint(value, bytes);
    } else {
      Append<i + 1>(value, bytes);
    }
  }
}

// Keeps a page as one map. ICL joins neighbouring intervals with equal values, on every level.
class NestedIntervals : public Representation {
 public:
  explicit NestedIntervals(const std::vector<Entry>& entries) {
    for (const Entry& entry : entries) NestedIntervals::Insert(entry);
  }
  std::optional<Found> Find(const Point& point) const override { return FindIn<0>(map_, point); }
  void Insert(const Entry& entry) override { map_ += MapOf<0>(entry); }
  std::string Serialize() const override {
    std::string bytes;
    Append<0>(map_, &bytes);
    return bytes;
  }

 private:
  Level<0> map_;
};

}  // namespace

std::unique_ptr<Representation> MakeNestedIntervals(const std::vector<Entry>& entries) {
  return std::make_unique<NestedIntervals>(entries);
}

}  // namespace kirsch
