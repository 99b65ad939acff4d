// SPDX-License-Identifier: Apache-2.0
#include "memo/page.h"

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <utility>

#include "memo/varint.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

// The fields of a decision, in the order of FORMAT.md. Decisions are compared and stored by them.
std::array<uint32_t, 12> Fields(const Decision& decision) {
  const Layout& layout = decision.layout;
  return {static_cast<uint32_t>(decision.kind),
          decision.dim,
          decision.operand,
          static_cast<uint32_t>(decision.level),
          decision.size,
          decision.parts,
          static_cast<uint32_t>(layout.kind),
          static_cast<uint32_t>(layout.order),
          layout.panel,
          layout.group,
          layout.ld,
          static_cast<uint32_t>(decision.dtype)};
}

// Reads the fields in the same order, each with the most that it may be.
Decision ReadDecision(VarintReader* reader) {
  constexpr uint64_t kMax32 = std::numeric_limits<uint32_t>::max();
  Decision decision;
  decision.kind = static_cast<RewriteKind>(reader->AtMost(kRewriteKinds - 1));
  decision.dim = static_cast<uint8_t>(reader->AtMost(kMaxDims - 1));
  decision.operand = static_cast<uint8_t>(reader->AtMost(kMaxOperands - 1));
  decision.level = static_cast<Level>(reader->AtMost(kNumLevels - 1));
  decision.size = static_cast<uint32_t>(reader->AtMost(kMax32));
  decision.parts = static_cast<uint32_t>(reader->AtMost(kMax32));
  decision.layout.kind = static_cast<LayoutKind>(reader->AtMost(kNumLayoutKinds - 1));
  decision.layout.order = static_cast<Order>(reader->AtMost(1));
  decision.layout.panel = static_cast<uint8_t>(reader->AtMost(std::numeric_limits<uint8_t>::max()));
  decision.layout.group = static_cast<uint8_t>(reader->AtMost(std::numeric_limits<uint8_t>::max()));
  decision.layout.ld = static_cast<uint32_t>(reader->AtMost(kMax32));
  decision.dtype = static_cast<Dtype>(reader->AtMost(kDtypes.size() - 1));
  return decision;
}

// The order in which a page lists decisions. It compares numbers, in the order of the fields.
struct LessByFields {
  bool operator()(const Decision& a, const Decision& b) const { return Fields(a) < Fields(b); }
};

// Far more than any page ought to hold. A damaged file could claim huge boxes, whose points would fill the
// memory; such a page is refused.
constexpr uint64_t kMaxPoints = uint64_t{1} << 20;

// Stops counting as soon as the sum is too large, so it cannot overflow.
bool HoldsMoreThan(uint64_t most, const std::vector<Box>& boxes, int coordinates) {
  uint64_t points = 0;
  for (const Box& box : boxes) {
    uint64_t volume = 1;
    for (size_t i = 0; i < static_cast<size_t>(coordinates) && volume <= most; ++i)
      volume *= uint64_t{box.high[i]} - box.low[i] + 1;
    points += volume;
    if (points > most) return true;
  }
  return false;
}

}  // namespace

absl::StatusOr<Page> Page::Of(std::vector<PagePoint> points) {
  Page page;
  if (points.empty()) return page;
  // Sorting brings equal points together, so contradictions are found.
  std::ranges::sort(points, {}, &PagePoint::point);
  page.coordinates_ = static_cast<int>(points[0].point.size());
  // Each decision once, ascending, so that equal sets of points have equal bytes.
  std::set<Decision, LessByFields> decisions;
  for (const PagePoint& point : points) decisions.insert(point.decision);
  page.decisions_.assign(decisions.begin(), decisions.end());
  std::vector<Box> boxes;
  for (size_t i = 0; i < points.size(); ++i) {
    if (i > 0 && points[i].point == points[i - 1].point) {
      if (points[i].decision == points[i - 1].decision) continue;
      return absl::AlreadyExistsError("two decisions for one spec");
    }
    Box box;
    std::ranges::copy(points[i].point, box.low.begin());
    box.high = box.low;
    box.decision =
        static_cast<uint32_t>(std::ranges::lower_bound(page.decisions_, points[i].decision, LessByFields()) -
                              page.decisions_.begin());
    boxes.push_back(box);
  }
  page.boxes_ = MergeBoxes(std::move(boxes), page.coordinates_);
  page.BuildIndex();
  return page;
}

// The number of lines is left out: Find wants the nearest box above, not only the one that holds the point.
void Page::BuildIndex() {
  if (!boxes_.empty()) index_ = BoxIndex(boxes_, static_cast<size_t>(coordinates_) - 1);
}

std::optional<PagePoint> Page::Find(const CoordinateList& point) const {
  if (boxes_.empty() || static_cast<int>(point.size()) != coordinates_) return std::nullopt;
  // Among the boxes of this spec that reach `available` or more, the one that begins lowest wins.
  const size_t last = point.size() - 1;
  const Box* found = nullptr;
  uint32_t available = 0;
  index_.ForEachCandidate(point, [&](size_t i) {
    const Box& box = boxes_[i];
    if (box.high[last] < point[last] || !box.Contains(point, last)) return;
    const uint32_t nearest = std::max(box.low[last], point[last]);
    if (found != nullptr && available <= nearest) return;
    found = &box;
    available = nearest;
  });
  if (found == nullptr) return std::nullopt;
  PagePoint solution{point, decisions_[found->decision]};
  solution.point[last] = available;
  return solution;
}

// Column by column, as FORMAT.md has it: all numbers of one coordinate stand together. Low corners are
// differences to the box before.
std::string Page::Encode() const {
  std::string bytes;
  AppendVarint(static_cast<uint64_t>(coordinates_), &bytes);
  AppendVarint(decisions_.size(), &bytes);
  for (const Decision& decision : decisions_)
    for (const uint32_t field : Fields(decision)) AppendVarint(field, &bytes);
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

// Reads what Encode writes. Sizes of lists are checked against the bytes that are left before memory is
// taken.
absl::StatusOr<Page> Page::Decode(std::string_view bytes) {
  constexpr uint64_t kMax32 = std::numeric_limits<uint32_t>::max();
  VarintReader reader(bytes);
  Page page;
  page.coordinates_ = static_cast<int>(reader.AtMost(kMaxCoordinates));
  const uint64_t decisions = reader.AtMost(reader.remaining());
  for (uint64_t i = 0; i < decisions && reader.ok(); ++i) page.decisions_.push_back(ReadDecision(&reader));
  const auto columns = static_cast<uint64_t>(1 + 2 * page.coordinates_);
  page.boxes_.resize(reader.AtMost(reader.remaining() / columns));
  if (!page.boxes_.empty() && (page.coordinates_ == 0 || decisions == 0))
    return absl::DataLossError("boxes without coordinates or decisions");
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
  // The bytes are read; what follows checks that they are the one form of a page.
  if (!reader.ok() || reader.remaining() > 0) return absl::DataLossError("not the bytes of a page");
  for (size_t i = 1; i < page.boxes_.size(); ++i)
    if (!LowCornerLess(page.boxes_[i - 1], page.boxes_[i]))
      return absl::DataLossError("its boxes are out of order");
  if (HoldsMoreThan(kMaxPoints, page.boxes_, page.coordinates_))
    return absl::DataLossError(Cat("more than ", kMaxPoints, " points"));
  page.BuildIndex();
  return page;
}

// Counts through each box, the last coordinate fastest.
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
  std::ranges::sort(points, {}, &PagePoint::point);
  return points;
}

}  // namespace kirsch
