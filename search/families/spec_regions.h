// SPDX-License-Identifier: Apache-2.0
// Programs for a range of sizes, of one dim or of several: few that serve all members of a family nearly as
// well as each one's own would.
#ifndef KIRSCH_SEARCH_FAMILIES_SPEC_REGIONS_H_
#define KIRSCH_SEARCH_FAMILIES_SPEC_REGIONS_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "cost/cost_model.h"
#include "search/families/rule_costs.h"
#include "spec/impl.h"
#include "spec/spec.h"

namespace kirsch {

// Members of a box, which other regions may have some of.
struct SpecRegion {
  std::vector<size_t> members;  // ascending
  Impl program;                 // for all of them: see impl.h
  size_t representative = 0;    // whose decisions these are
};

struct SizeMember {
  Impl program;  // with the decisions of its region
  Cost cost = kInfiniteCost;
  std::optional<Cost> best;  // of its own program, where that was solved
  Cost bound = 0;            // no program of its own costs less; 0 where nothing is known
};

struct SizeFamily {
  std::vector<SpecRegion> regions;  // of all members, by their first one
  std::vector<SizeMember> members;
};

// The program of member i, as the search finds it, if it costs less than the cutoff.
struct SolvedSize {
  Impl program;
  Cost cost = kInfiniteCost;
  Cost bound = 0;  // no program costs less
};
using SolveSize = std::function<absl::StatusOr<SolvedSize>(size_t member, Cost cutoff)>;

// The least size along a dim that what serves `size` is to serve: `size` itself, unless those below it are
// members that are not among the roots.
using LeastServed = std::function<uint32_t(size_t dim, uint32_t size)>;

// `placed_roots` are of one batch and differ in their sizes along `dims`: M, N or K, or N and M, or M and K.
// They have all combinations of some ascending sizes, that of the last dim varying fastest. Some are solved:
// the corners, and what RuleCosts::Refine asks for between them; but none of which it is proven that its own
// program is hardly better than what another's decisions make of it. Regions are then few: of those
// that one program serves, the most come first. In each, one member's decisions cost no more than kMostLoss
// above each member's own program, or the bound, or, where nothing is proven, the best program known. Of the
// register tiles that these decisions would have, those are left out that this allows. Where roots of one dim
// differ in more, as in where operands are placed, no region has both. InvalidArgument: there are sizes
// between roots that no program serves. Deterministic.
absl::StatusOr<SizeFamily> FindSpecRegions(
    absl::Span<const Spec> placed_roots, const std::vector<size_t>& dims, const CostModel& model,
    const SolveSize& solve, const LeastServed& least = [](size_t, uint32_t size) { return size; });

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_FAMILIES_SPEC_REGIONS_H_
