// SPDX-License-Identifier: Apache-2.0
// Finds programs for a range of sizes, of one dim or of several. A few programs serve all members of a
// family, each nearly as well as the member's own program would. So a kernel for many sizes needs little code
// and a short search.
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

// A group of members that one program serves. They are members of a box of sizes; other regions may have some
// members of the same box.
struct SpecRegion {
  std::vector<size_t> members;  // ascending
  Impl program;                 // for all of them: see impl.h
  size_t representative = 0;    // whose decisions these are
};

// What is known of one member: the program that its region gives it, and how far that may be from the
// optimum.
struct SizeMember {
  Impl program;  // with the decisions of its region
  Cost cost = kInfiniteCost;
  std::optional<Cost> best;  // of its own program, where that was solved
  Cost bound = 0;            // no program of its own costs less; 0 where nothing is known
};

// The result: each member is in exactly one region.
struct SizeFamily {
  std::vector<SpecRegion> regions;  // of all members, by their first one
  std::vector<SizeMember> members;
};

// The program that the search finds for a member, if it costs less than the cutoff.
struct SolvedSize {
  Impl program;
  Cost cost = kInfiniteCost;
  Cost bound = 0;  // no program costs less
};
using SolveSize = std::function<absl::StatusOr<SolvedSize>(size_t member, Cost cutoff)>;

// Returns the least size along a dim that the program for `size` has to serve. This is `size` itself, unless
// sizes below it are members that are not among the roots (samples of a large family).
using LeastServed = std::function<uint32_t(size_t dim, uint32_t size)>;

// Finds the regions of a family. `placed_roots` are specs of one batch that differ in their sizes along
// `dims`: M, N or K, or N and M, or M and K. They have all combinations of some ascending sizes; that of the
// last dim varies fastest.
//
// Some members are solved: the corners, and those between them that RegionFinder asks for. A member is
// left out if it is proven that its own program is hardly better than what another's decisions make of it.
//
// Regions are then chosen one after the other, so that they are few: each time the one that has the most
// members. In each region, one member's decisions serve all. They cost a member at most kMostLoss more than
// its own program, or than the bound, or, where nothing is proven, than the best program known. Register
// tiles that these decisions would have are left out as far as that limit allows, to save code.
//
// A member that stands for sizes below it (`least`) gets the cheapest rule, if none keeps the limit.
//
// If roots of one dim differ in more than the size, for example in where operands are placed, no region has
// both. InvalidArgument: between roots there are sizes that no program serves. Deterministic.
absl::StatusOr<SizeFamily> FindSpecRegions(
    absl::Span<const Spec> placed_roots, const std::vector<size_t>& dims, const CostModel& model,
    const SolveSize& solve, const LeastServed& least = [](size_t, uint32_t size) { return size; });

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_FAMILIES_SPEC_REGIONS_H_
