// SPDX-License-Identifier: Apache-2.0
// The cache that operands are taken to be in when a kernel starts.
#ifndef KIRSCH_SEARCH_SOLVER_PLACEMENT_H_
#define KIRSCH_SEARCH_SOLVER_PLACEMENT_H_

#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "memo/memo.h"
#include "search/solver/residency.h"
#include "spec/spec.h"
#include "spec/target.h"

namespace kirsch {

struct SearchResult;

// Vectors that an epilogue takes are read over and over: they are taken to be in L1, whatever the residency.
bool IsVectorOfEpilogue(const Spec& root, int operand);

// All operands in the fastest cache that holds them, and beside them the copies that this problem needs or
// asks for.
Spec PlaceOperands(const Spec& root, Residency residency, const Target& target);

// The same, and then every other place with room for copies that the problem may make but need not. What is
// in a cache may as well be read from the next one, if that leaves room for a copy: so a program of a
// narrower question (a fixed order of sums, products of lhs as it is) has its place among those of a wider
// one. At least one; places of roots with a constant operand are one, as a copy takes the operand's place.
std::vector<Spec> Placements(const Spec& root, Residency residency, const Target& target);

// What `solve(placement, cutoff)` finds at the cheapest of these places, the first of equals, with all their
// work; none is tried behind a search that was stopped. The first error is returned if all have one, as a
// schedule is for one place. StopReason::kCutoff: no place has a program below the cutoff.
absl::StatusOr<SearchResult> AtCheapest(
    absl::Span<const Spec> placements, Cost cutoff,
    absl::FunctionRef<absl::StatusOr<SearchResult>(const Spec& placed_root, Cost cutoff)> solve);

// Is there room beside the operands, where they are placed, for the copy of rhs that no program can do
// without?
bool HasRoom(const Spec& placed_root, const Target& target);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_SOLVER_PLACEMENT_H_
