// SPDX-License-Identifier: Apache-2.0
#include "bench/micro/family.h"

#include <cstdlib>

#include "memo/hash_memo.h"
#include "search/solver/limits.h"
#include "search/solver/search.h"
#include "search/table/recall.h"
#include "spec/check.h"
#include "spec/language/family.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

// The memo is cleared beyond this: it would otherwise grow with every member.
constexpr int64_t kMaxMemoBytes = int64_t{1} << 30;

}  // namespace

uint32_t FamilyBound() {
  const char* const bound = std::getenv("KIRSCH_FAMILY");
  return bound == nullptr ? 256 : static_cast<uint32_t>(std::strtoul(bound, nullptr, 10));
}

std::map<PageKey, std::vector<PagePoint>> SolveFamily(uint32_t bound, const CostModel& model) {
  std::map<PageKey, std::map<CoordinateList, Decision>> points_of;
  HashMemo memo;
  const absl::StatusOr<SpecFamily> family =
      ParseFamily(Cat("matmul f32 1..", bound, "x1..", bound, "x1..", bound));
  KIRSCH_CHECK(family.ok());
  // One member after the other; they share a memo.
  for (int64_t i = 0; i < family->count(FamilySizes::kUsual); ++i) {
    const Spec root =
        PlaceOperands(family->member(i, FamilySizes::kUsual).spec, Residency::kWarm, model.target());
    (void)Search(root, model, memo, {});
    // The lines that the operands leave in each cache are part of the question.
    const Lines available = AvailableAtPlacement(root, model.target());
    // A program has many entries, one for each spec in it; members share many of them.
    for (const TableEntry& entry : ProgramEntries(root, available, model, memo)) {
      const Coordinates coordinates = CoordinatesOf(entry.spec, entry.available);
      points_of[PageKey::Of(coordinates)][coordinates.point] = entry.decision;
    }
    if (memo.counts().bytes > kMaxMemoBytes) memo.Clear();
  }
  // Maps are in order already, so points come out ascending.
  std::map<PageKey, std::vector<PagePoint>> pages;
  for (const auto& [key, points] : points_of)
    for (const auto& [point, decision] : points) pages[key].push_back({point, decision});
  return pages;
}

}  // namespace kirsch
