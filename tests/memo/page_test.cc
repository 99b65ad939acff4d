// SPDX-License-Identifier: Apache-2.0
// Pages against a plain map of all points.
#include "memo/page.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "memo/varint.h"

namespace kirsch {
namespace {

using Points = std::map<CoordinateList, Decision>;

Decision DecisionNumber(uint32_t i) {
  Decision decision;
  decision.kind = static_cast<RewriteKind>(1 + i % 5);
  decision.dim = static_cast<uint8_t>(i % kMaxDims);
  decision.operand = static_cast<uint8_t>(i % kMaxOperands);
  decision.level = static_cast<Level>(i % kNumLevels);
  decision.size = i * 1'000'003;
  decision.parts = i;
  decision.layout.kind = static_cast<LayoutKind>(i % 4);
  decision.layout.order = static_cast<Order>(i % 2);
  decision.layout.panel = static_cast<uint8_t>(i * 57);
  decision.layout.ld = i % 2 == 0 ? 0 : std::numeric_limits<uint32_t>::max();
  return decision;
}

// A set of points such that some form boxes: decisions follow a coarse grid, with exceptions.
Points RandomPoints(std::mt19937_64* random) {
  const size_t coordinates = 2 + (*random)() % 4;
  const uint32_t base = (*random)() % 2 == 0 ? 0 : static_cast<uint32_t>((*random)() % 4'000'000'000u);
  const size_t count = (*random)() % 120;
  const uint32_t grid = 1 + static_cast<uint32_t>((*random)() % 4);
  Points points;
  for (size_t i = 0; i < count; ++i) {
    CoordinateList point;
    uint32_t decision = 0;
    for (size_t j = 0; j < coordinates; ++j) {
      const auto offset = static_cast<uint32_t>((*random)() % 6);
      point.push_back(base + offset);
      decision = decision * 3 + offset / grid;
    }
    if ((*random)() % 10 == 0) decision = static_cast<uint32_t>((*random)() % 9);
    points[point] = DecisionNumber(decision);
  }
  return points;
}

std::vector<PagePoint> ListOf(const Points& points) {
  std::vector<PagePoint> list;
  for (const auto& [point, decision] : points) list.push_back({point, decision});
  return list;
}

std::optional<PagePoint> FindIn(const Points& points, const CoordinateList& asked) {
  const auto found = points.lower_bound(asked);
  if (found == points.end() || !std::equal(asked.begin(), asked.end() - 1, found->first.begin()))
    return std::nullopt;
  return PagePoint{found->first, found->second};
}

// Calls use(points, page) for many random sets of points.
template <typename Use>
void ForRandomPages(int count, Use use) {
  std::mt19937_64 random(3);
  for (int i = 0; i < count && !::testing::Test::HasFailure(); ++i) {
    const Points points = RandomPoints(&random);
    std::vector<PagePoint> list = ListOf(points);
    std::shuffle(list.begin(), list.end(), random);
    if (!list.empty() && i % 2 == 0) list.push_back(list.front());
    const absl::StatusOr<Page> page = Page::Of(std::move(list));
    ASSERT_TRUE(page.ok()) << page.status();
    use(points, *page, &random);
  }
}

TEST(PageTest, HoldsThePointsItIsOf) {
  ForRandomPages(1000, [](const Points& points, const Page& page, std::mt19937_64*) {
    EXPECT_EQ(page.Points(), ListOf(points));
  });
}

TEST(PageTest, DoesNotDependOnTheOrder) {
  ForRandomPages(1000, [](const Points& points, const Page& page, std::mt19937_64*) {
    EXPECT_EQ(page.Encode(), Page::Of(ListOf(points))->Encode());
  });
}

TEST(PageTest, FindsTheFewestLinesThatSuffice) {
  ForRandomPages(1000, [](const Points& points, const Page& page, std::mt19937_64* random) {
    for (const auto& [point, decision] : points) {
      CoordinateList asked = point;
      for (int i = 0; i < 4; ++i) {
        EXPECT_EQ(page.Find(asked), FindIn(points, asked));
        uint32_t& coordinate = asked[(*random)() % asked.size()];
        coordinate += static_cast<uint32_t>((*random)() % 5) - (coordinate < 2 ? 0 : 2);
      }
    }
  });
}

TEST(PageTest, BoxesAreDisjointAndCoverThePoints) {
  size_t boxes = 0, all = 0;
  ForRandomPages(1000, [&](const Points& points, const Page& page, std::mt19937_64*) {
    int64_t volume = 0;
    for (const Page::Box& box : page.boxes()) volume += box.volume(page.coordinates());
    EXPECT_EQ(volume, static_cast<int64_t>(points.size())) << "points twice";
    boxes += page.boxes().size();
    all += points.size();
  });
  EXPECT_LT(boxes, all * 9 / 10) << "neighbours are not one box";
}

TEST(PageTest, ABoxOfNeighboursIsOneBox) {
  std::vector<PagePoint> points;
  for (uint32_t i = 0; i < 4; ++i)
    for (uint32_t j = 5; j < 9; ++j)
      for (uint32_t k = 0; k < 3; ++k) points.push_back({{i, j, k}, DecisionNumber(1)});
  const absl::StatusOr<Page> page = Page::Of(points);
  ASSERT_TRUE(page.ok());
  ASSERT_EQ(page->boxes().size(), 1u);
  EXPECT_EQ(page->boxes()[0].volume(3), 48);
}

TEST(PageTest, TwoDecisionsForOnePointAreRefused) {
  const auto page =
      Page::Of({{{1, 2}, DecisionNumber(1)}, {{1, 3}, DecisionNumber(1)}, {{1, 2}, DecisionNumber(2)}});
  EXPECT_EQ(page.status().code(), absl::StatusCode::kAlreadyExists);
}

bool SameBoxes(const Page& a, const Page& b) {
  return std::equal(a.boxes().begin(), a.boxes().end(), b.boxes().begin(), b.boxes().end(),
                    [](const Page::Box& x, const Page::Box& y) {
                      return x.low == y.low && x.high == y.high && x.decision == y.decision;
                    });
}

TEST(PageTest, DecodesWhatItEncodes) {
  ForRandomPages(1000, [](const Points&, const Page& page, std::mt19937_64*) {
    const absl::StatusOr<Page> again = Page::Decode(page.Encode());
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(again->coordinates(), page.coordinates());
    EXPECT_EQ(again->decisions(), page.decisions());
    EXPECT_TRUE(SameBoxes(*again, page));
    EXPECT_EQ(again->Encode(), page.Encode());
  });
}

// Whatever the bytes, the page can be used, or there is none.
bool DecodesSafely(const std::string& bytes) {
  const std::vector<char> exact(bytes.begin(), bytes.end());  // the sanitizer sees a byte too many
  const absl::StatusOr<Page> page = Page::Decode({exact.data(), exact.size()});
  if (!page.ok()) {
    EXPECT_EQ(page.status().code(), absl::StatusCode::kDataLoss);
    return false;
  }
  const auto coordinates = static_cast<size_t>(page->coordinates());
  for (const Page::Box& box : page->boxes()) {
    EXPECT_LT(box.decision, page->decisions().size());
    for (size_t i = 0; i < coordinates; ++i) EXPECT_LE(box.low[i], box.high[i]);
    CoordinateList corner;
    for (size_t i = 0; i < coordinates; ++i) corner.push_back(box.high[i]);
    if (coordinates > 0) page->Find(corner);
  }
  EXPECT_TRUE(SameBoxes(*page, *Page::Decode(page->Encode())));
  return true;
}

std::string Mutated(std::string bytes, std::mt19937_64* random) {
  for (uint64_t i = 0; i <= (*random)() % 3 && !bytes.empty(); ++i) {
    const size_t at = (*random)() % bytes.size();
    switch ((*random)() % 4) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << (*random)() % 8));
        break;
      case 1:
        bytes[at] = static_cast<char>((*random)());
        break;
      case 2:
        bytes.resize(at);
        break;
      default:
        bytes.insert(at, 1, static_cast<char>((*random)()));
        break;
    }
  }
  return bytes;
}

TEST(PageTest, AnyBytesAreSafeToDecode) {
  int decoded = 0, refused = 0;
  ForRandomPages(500, [&](const Points&, const Page& page, std::mt19937_64* random) {
    for (int i = 0; i < 40; ++i) ++(DecodesSafely(Mutated(page.Encode(), random)) ? decoded : refused);
  });
  EXPECT_GT(decoded, 1000);
  EXPECT_GT(refused, 1000);
  std::mt19937_64 random(5);
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes(random() % 40, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random() % (i % 2 == 0 ? 256 : 4));
    DecodesSafely(bytes);
  }
}

TEST(PageTest, NumbersThatMakeNoSenseAreRefused) {
  const auto bytes = [](std::vector<uint64_t> numbers) {
    std::string text;
    for (uint64_t number : numbers) AppendVarint(number, &text);
    return text;
  };
  constexpr uint64_t kFar = std::numeric_limits<uint64_t>::max() - 1;  // as a signed number, the largest
  const std::vector<uint64_t> tile = {1, 2, 0, 0, 14, 0, 0, 0, 0, 1, 0, 0};
  const auto page = [&](std::vector<uint64_t> boxes) {
    std::vector<uint64_t> numbers = {1, 1};
    numbers.insert(numbers.end(), tile.begin(), tile.end());
    numbers.insert(numbers.end(), boxes.begin(), boxes.end());
    return bytes(numbers);
  };
  EXPECT_TRUE(DecodesSafely(page({2, 0, 0, 4, 2, 0, 0}))) << "boxes at 2 and 3";
  EXPECT_FALSE(DecodesSafely(bytes({1, 0, 1, 5, 0, 0}))) << "a box without decisions";
  EXPECT_FALSE(DecodesSafely(page({1, 1, 0, 0}))) << "no such decision";
  EXPECT_FALSE(DecodesSafely(page({2, 0, 0, 4, kFar, 0, 0}))) << "a coordinate out of range";
  EXPECT_FALSE(DecodesSafely(page({2, 0, 0, 4, (uint64_t{1} << 34) + 2, 0, 0})))
      << "a coordinate out of range";
  EXPECT_FALSE(DecodesSafely(page({2, 0, 0, 4, 1, 0, 0}))) << "boxes in descending order";
  EXPECT_FALSE(DecodesSafely(page({2, 0, 0, 4, 0, 0, 0}))) << "boxes at the same place";
  EXPECT_FALSE(DecodesSafely(page({2, 0, 0, 4, 2, 0, 0, 0}))) << "bytes after the end";
  EXPECT_TRUE(DecodesSafely(page({1, 0, 0, (1 << 20) - 1}))) << "as many points as a page may hold";
  EXPECT_FALSE(DecodesSafely(page({1, 0, 0, 1 << 20}))) << "one more";
}

}  // namespace
}  // namespace kirsch
