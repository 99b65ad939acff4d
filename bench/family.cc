#include "bench/family.h"

#include <cstdlib>

#include "memo/hash_memo.h"
#include "search/limits.h"
#include "search/recall.h"
#include "search/search.h"
#include "spec/cat.h"
#include "spec/check.h"
#include "spec/parser.h"

namespace kirsch {
namespace {

constexpr int64_t kMaxMemoBytes = int64_t{1} << 30;

std::vector<uint32_t> SizesUpTo(uint32_t bound) {
  std::vector<uint32_t> sizes;
  for (uint32_t i = 0; i == 0 || SizeAt(i) > SizeAt(i - 1); ++i)  // the usual sizes ascend; then 15 follows
    if (SizeAt(i) <= bound) sizes.push_back(SizeAt(i));
  return sizes;
}

}  // namespace

uint32_t FamilyBound() {
  const char* const bound = std::getenv("KIRSCH_FAMILY");
  return bound == nullptr ? 256 : static_cast<uint32_t>(std::strtoul(bound, nullptr, 10));
}

std::map<PageKey, std::vector<PagePoint>> SolveFamily(uint32_t bound, const CostModel& model) {
  std::map<PageKey, std::map<CoordinateList, Decision>> family;
  HashMemo memo;
  const auto add = [&](uint32_t m, uint32_t k, uint32_t n) {
    const absl::StatusOr<ParsedSpec> parsed = ParseSpec(Cat("matmul f32 ", m, "x", k, "x", n));
    KIRSCH_CHECK(parsed.ok());
    const Spec root = PlaceOperands(parsed->spec, Residency::kWarm, model.target());
    (void)Search(root, model, memo, {});
    const Lines available = AvailableAtHome(root, model.target());
    for (const TableEntry& entry : ProgramEntries(root, available, model, memo)) {
      const Coordinates coordinates = CoordinatesOf(entry.spec, entry.available);
      family[PageKey::Of(coordinates)][coordinates.point] = entry.decision;
    }
  };
  const std::vector<uint32_t> sizes = SizesUpTo(bound);
  for (uint32_t m : sizes)
    for (uint32_t k : sizes) {
      for (uint32_t n : sizes) add(m, k, n);
      if (memo.counts().bytes > kMaxMemoBytes) memo = HashMemo();
    }
  std::map<PageKey, std::vector<PagePoint>> pages;
  for (const auto& [key, points] : family)
    for (const auto& [point, decision] : points) pages[key].push_back({point, decision});
  return pages;
}

}  // namespace kirsch
