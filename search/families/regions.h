// SPDX-License-Identifier: Apache-2.0
// Finds where in a family of sizes the search decides the same, and describes decisions as text.
#ifndef KIRSCH_SEARCH_FAMILIES_REGIONS_H_
#define KIRSCH_SEARCH_FAMILIES_REGIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "spec/impl.h"
#include "spec/language/family.h"

namespace kirsch {

// Writes what was decided as a line of text: the decisions from the root down to the register tile. The path
// goes to the child that does most of the work; of equal children to the first, so to whole tiles and not to
// the remainder. Whatever makes no difference to that work is left out:
//   - trip counts and remaining sizes;
//   - tiles right around smaller tiles along the same dim: they choose what remainders there are;
//   - the order of moves in a row that are no code: they mean the same in any order;
//   - the size of a parallel tile that shares its dim out evenly: "parallel m even 2".
// "transposed; " comes first if the problem is solved as its transpose: dims and operands are those of the
// transpose then. `impl` must be complete: every leaf is a microkernel.
std::string DecisionSpine(const Impl& impl, bool swapped);

// A set of sizes for which the decision is the same.
struct Region {
  std::vector<SizeRange> box;    // of each size that varies, around all of them
  std::vector<int64_t> members;  // their indices, ascending: of the box, which other regions may have some of
  std::string decision;

  int64_t last() const { return members.back(); }  // of a whole box, the member with the largest sizes
};

// Divides the members of these sizes into boxes of equal `decisions` (one for each member, in their order).
// Boxes are disjoint and cover the family. If one size varies, they are the fewest intervals. If several
// vary, boxes are chosen greedily: each begins at the first member that has none yet, and grows along the
// last size first, as far as it goes.
//
// Example: decisions a a b b b a of one size give three regions: a [1..2], b [3..5], a [6..6].
std::vector<Region> FindRegions(absl::Span<const VaryingSize> sizes, absl::Span<const std::string> decisions);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_FAMILIES_REGIONS_H_
