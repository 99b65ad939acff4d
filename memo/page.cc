#include "memo/page.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <tuple>

#include "memo/varint.h"
#include "spec/check.h"

namespace kirsch {
namespace {

using Box = Page::Box;

// Decisions as bytes, to be ordered by and to be stored.
std::string Bytes(const Decision& decision) {
  std::string bytes;
  for (const uint64_t field :
       {static_cast<uint64_t>(decision.kind), uint64_t{decision.dim}, uint64_t{decision.operand},
        static_cast<uint64_t>(decision.level), uint64_t{decision.size}, uint64_t{decision.parts},
        static_cast<uint64_t>(decision.layout.kind), static_cast<uint64_t>(decision.layout.order),
        uint64_t{decision.layout.panel}, uint64_t{decision.layout.ld}})
    AppendVarint(field, &bytes);
  return bytes;
}

Decision ReadDecision(VarintReader* reader) {
  constexpr uint64_t kMax32 = std::numeric_limits<uint32_t>::max();
  Decision decision;
  decision.kind = static_cast<RewriteKind>(reader->AtMost(static_cast<uint64_t>(RewriteKind::kMicrokernel)));
  decision.dim = static_cast<uint8_t>(reader->AtMost(kMaxDims - 1));
  decision.operand = static_cast<uint8_t>(reader->AtMost(kMaxOperands - 1));
  decision.level = static_cast<Level>(reader->AtMost(kNumLevels - 1));
  decision.size = static_cast<uint32_t>(reader->AtMost(kMax32));
  decision.parts = static_cast<uint32_t>(reader->AtMost(kMax32));
  decision.layout.kind = static_cast<LayoutKind>(reader->AtMost(3));
  decision.layout.order = static_cast<Order>(reader->AtMost(1));
  decision.layout.panel = static_cast<uint16_t>(reader->AtMost(std::numeric_limits<uint16_t>::max()));
  decision.layout.ld = static_cast<uint32_t>(reader->AtMost(kMax32));
  return decision;
}

bool Contains(const Box& box, const CoordinateList& point, size_t coordinates) {
  for (size_t i = 0; i < coordinates; ++i)
    if (point[i] < box.low[i] || point[i] > box.high[i]) return false;
  return true;
}

// Orders boxes so that those which differ in coordinate `along` only stand next to each other, ascending.
struct LessAlong {
  size_t along;
  bool operator()(const Box& a, const Box& b) const {
    if (a.decision != b.decision) return a.decision < b.decision;
    for (size_t i = 0; i < a.low.size(); ++i) {
      if (i == along) continue;
      if (a.low[i] != b.low[i]) return a.low[i] < b.low[i];
      if (a.high[i] != b.high[i]) return a.high[i] < b.high[i];
    }
    return a.low[along] < b.low[along];
  }
};

bool Joins(const Box& a, const Box& b, size_t along) {
  if (a.decision != b.decision || a.high[along] + 1 != b.low[along]) return false;
  for (size_t i = 0; i < a.low.size(); ++i)
    if (i != along && (a.low[i] != b.low[i] || a.high[i] != b.high[i])) return false;
  return true;
}

void MergeAlong(size_t along, std::vector<Box>* boxes) {
  std::sort(boxes->begin(), boxes->end(), LessAlong{along});
  size_t last = 0;
  for (size_t i = 1; i < boxes->size(); ++i) {
    if (Joins((*boxes)[last], (*boxes)[i], along))
      (*boxes)[last].high[along] = (*boxes)[i].high[along];
    else
      (*boxes)[++last] = (*boxes)[i];
  }
  if (!boxes->empty()) boxes->resize(last + 1);
}

}  // namespace

int64_t Page::Box::volume(int coordinates) const {
  int64_t volume = 1;
  for (size_t i = 0; i < static_cast<size_t>(coordinates); ++i) volume *= int64_t{high[i]} - low[i] + 1;
  return volume;
}

absl::StatusOr<Page> Page::Of(std::vector<PagePoint> points) {
  Page page;
  if (points.empty()) return page;
  page.coordinates_ = static_cast<int>(points[0].point.size());
  std::vector<std::string> decisions;
  for (const PagePoint& point : points) decisions.push_back(Bytes(point.decision));
  std::vector<std::string> distinct = decisions;
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  for (const std::string& bytes : distinct) {
    VarintReader reader(bytes);
    page.decisions_.push_back(ReadDecision(&reader));
  }
  for (size_t i = 0; i < points.size(); ++i) {
    Box box;
    std::copy(points[i].point.begin(), points[i].point.end(), box.low.begin());
    box.high = box.low;
    box.decision = static_cast<uint32_t>(std::lower_bound(distinct.begin(), distinct.end(), decisions[i]) -
                                         distinct.begin());
    page.boxes_.push_back(box);
  }
  const auto by_point = [](const Box& a, const Box& b) {
    return std::tie(a.low, a.decision) < std::tie(b.low, b.decision);
  };
  std::sort(page.boxes_.begin(), page.boxes_.end(), by_point);
  page.boxes_.erase(
      std::unique(page.boxes_.begin(), page.boxes_.end(),
                  [](const Box& a, const Box& b) { return a.low == b.low && a.decision == b.decision; }),
      page.boxes_.end());
  for (size_t i = 1; i < page.boxes_.size(); ++i)
    if (page.boxes_[i].low == page.boxes_[i - 1].low)
      return absl::AlreadyExistsError("two decisions for one spec");
  for (size_t along = static_cast<size_t>(page.coordinates_); along-- > 0;) MergeAlong(along, &page.boxes_);
  std::sort(page.boxes_.begin(), page.boxes_.end(), by_point);
  return page;
}

std::optional<PagePoint> Page::Find(const CoordinateList& point) const {
  if (static_cast<int>(point.size()) != coordinates_) return std::nullopt;
  const size_t limit = point.size() - 1;
  std::optional<PagePoint> found;
  for (const Box& box : boxes_) {
    if (box.low[0] > point[0]) break;
    if (box.high[limit] < point[limit] || !Contains(box, point, limit)) continue;
    const uint32_t available = std::max(box.low[limit], point[limit]);
    if (found && found->point[limit] <= available) continue;
    found = PagePoint{point, decisions_[box.decision]};
    found->point[limit] = available;
  }
  return found;
}

std::string Page::Encode() const {
  std::string bytes;
  AppendVarint(static_cast<uint64_t>(coordinates_), &bytes);
  AppendVarint(decisions_.size(), &bytes);
  for (const Decision& decision : decisions_) bytes += Bytes(decision);
  AppendVarint(boxes_.size(), &bytes);
  for (const Box& box : boxes_) AppendVarint(box.decision, &bytes);
  for (size_t i = 0; i < static_cast<size_t>(coordinates_); ++i) {
    int64_t before = 0;
    for (const Box& box : boxes_) {
      AppendSigned(int64_t{box.low[i]} - before, &bytes);
      before = box.low[i];
    }
    for (const Box& box : boxes_) AppendVarint(box.high[i] - box.low[i], &bytes);
  }
  return bytes;
}

absl::StatusOr<Page> Page::Decode(std::string_view bytes) {
  constexpr uint64_t kMax32 = std::numeric_limits<uint32_t>::max();
  VarintReader reader(bytes);
  Page page;
  page.coordinates_ = static_cast<int>(reader.AtMost(kMaxCoordinates));
  const uint64_t decisions = reader.AtMost(reader.remaining());
  for (uint64_t i = 0; i < decisions && reader.ok(); ++i) page.decisions_.push_back(ReadDecision(&reader));
  page.boxes_.resize(reader.AtMost(decisions == 0 ? 0 : reader.remaining()));
  for (Box& box : page.boxes_) box.decision = static_cast<uint32_t>(reader.AtMost(decisions - 1));
  for (size_t i = 0; i < static_cast<size_t>(page.coordinates_); ++i) {
    int64_t before = 0;
    for (Box& box : page.boxes_) {
      const int64_t step = reader.NextSigned();
      if (step < -before || step > static_cast<int64_t>(kMax32) - before)
        return absl::DataLossError("a coordinate is out of range");
      before += step;
      box.low[i] = static_cast<uint32_t>(before);
    }
    for (Box& box : page.boxes_)
      box.high[i] = box.low[i] + static_cast<uint32_t>(reader.AtMost(kMax32 - box.low[i]));
  }
  for (size_t i = 1; i < page.boxes_.size(); ++i)
    if (page.boxes_[i].low <= page.boxes_[i - 1].low)
      return absl::DataLossError("its boxes are out of order");
  if (!reader.ok() || reader.remaining() > 0) return absl::DataLossError("not the bytes of a page");
  return page;
}

std::vector<PagePoint> Page::Points() const {
  std::vector<PagePoint> points;
  for (const Box& box : boxes_) {
    CoordinateList point(box.low.begin(), box.low.begin() + coordinates_);
    while (true) {
      points.push_back({point, decisions_[box.decision]});
      size_t i = point.size();
      while (i > 0 && point[i - 1] == box.high[i - 1]) --i;
      if (i == 0) break;
      ++point[i - 1];
      std::copy(box.low.begin() + static_cast<ptrdiff_t>(i), box.low.begin() + coordinates_,
                point.begin() + static_cast<ptrdiff_t>(i));
    }
  }
  std::sort(points.begin(), points.end(),
            [](const PagePoint& a, const PagePoint& b) { return a.point < b.point; });
  return points;
}

}  // namespace kirsch
