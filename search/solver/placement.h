// SPDX-License-Identifier: Apache-2.0
// Chooses the cache that each operand is taken to be in when a kernel starts. Costs depend on it, so the
// search needs a choice before it begins. The rule: the fastest cache that holds all operands that are not in
// RAM.
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

// True for an operand of the epilogue that is smaller than the output, such as a bias. It is read again for
// each tile of the output, so it is taken to be in L1, whatever the residency.
bool IsVectorOfEpilogue(const Spec& root, int operand);

// Places all operands in the fastest cache that holds them, and beside them the copies that this problem
// needs or asks for. Operands that the residency has in RAM stay there.
Spec PlaceOperands(const Spec& root, Residency residency, const Target& target);

// The place of PlaceOperands, and then every other place that has room for copies the problem may make but
// need not: in a rounded type, in another order of sums, of an rhs that fills L1. Operands in a cache may as
// well be read from the next slower one, if that leaves room for a copy that pays.
//
// So a wider question never costs more than a narrower one. A program in a fixed order of sums is one of all
// orders, and its place is among theirs. The same goes for products of lhs without rounding.
//
// There is at least one place. A copy takes the place of a constant operand, so of these only what a copy has
// beyond that needs room.
std::vector<Spec> Placements(const Spec& root, Residency residency, const Target& target);

// Calls `solve(placement, cutoff)` for each place and returns the cheapest result, the first of equals. Its
// counts and seconds are those of all calls. After a search that was stopped, no further place is tried.
//
// An error is returned only if every place has one, since a schedule may be legal at one place alone. Then it
// is the first place's error. StopReason::kCutoff: no place has a program below the cutoff.
absl::StatusOr<SearchResult> AtCheapest(
    absl::Span<const Spec> placements, Cost cutoff,
    absl::FunctionRef<absl::StatusOr<SearchResult>(const Spec& placed_root, Cost cutoff)> solve);

// True if there is room beside the operands, where they are placed, for the copy of rhs that no program can
// do without. If there is none, the root has no program at all.
bool HasRoom(const Spec& placed_root, const Target& target);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_SOLVER_PLACEMENT_H_
