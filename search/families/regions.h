// SPDX-License-Identifier: Apache-2.0
// Where in a family of sizes the search decides the same.
#ifndef KIRSCH_SEARCH_FAMILIES_REGIONS_H_
#define KIRSCH_SEARCH_FAMILIES_REGIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "spec/impl.h"
#include "spec/language/family.h"

namespace kirsch {

// What was decided, as a line of text: the decisions from the root down to the register tile. The way goes to
// the child that does most of the work; of equals to the first, so to whole tiles and not to the remainder.
// What makes no difference to that work is left out:
//   - trip counts and remaining sizes;
//   - tiles right around smaller tiles along the same dim: they choose what remainders there are;
//   - the order of moves in a row that are no code: they mean the same in any order;
//   - the size of a parallel tile that shares its dim out evenly: "parallel m even 2".
// "transposed; " comes first if the problem is solved as its transpose, for dims and operands are those of
// the transpose then. `impl` is complete: every leaf is a microkernel.
std::string DecisionSpine(const Impl& impl, bool swapped);

// Sizes for which the decision is the same.
struct Region {
  std::vector<SizeRange> box;    // of each size that varies, around all of them
  std::vector<int64_t> members;  // their indices, ascending: of the box, which other regions may have some of
  std::string decision;

  int64_t last() const { return members.back(); }  // of a whole box, the member with the largest sizes
};

// Divides the members of these sizes into boxes of equal `decisions` (one per member, in their order). Boxes
// are disjoint and cover the family. One varying size: the fewest intervals. Several: greedily, each box
// starting at the first member without one, grown along the last size first, as far as it goes.
std::vector<Region> FindRegions(absl::Span<const VaryingSize> sizes, absl::Span<const std::string> decisions);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_FAMILIES_REGIONS_H_
