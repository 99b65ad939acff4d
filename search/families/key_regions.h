// SPDX-License-Identifier: Apache-2.0
// Families of attentions that differ in their number of keys.
#ifndef KIRSCH_SEARCH_FAMILIES_KEY_REGIONS_H_
#define KIRSCH_SEARCH_FAMILIES_KEY_REGIONS_H_

#include <optional>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "search/families/plan_regions.h"
#include "spec/graph/graph.h"

namespace kirsch {

// Do the members, of ascending sizes, differ in nothing but the number of keys: what is summed over by the
// matmul behind a softmax? And do what they read lie alike, from the first key on? So
// a plan for one may be for all. Three members at least.
bool DifferInKeys(absl::Span<const Graph> members);

// `members` differ in keys. Plans that are searched for are for any number of keys, or, without blocks of
// keys, for any up to the searched one. Of one thread. Nothing: there is no such plan.
absl::StatusOr<std::optional<PlanFamily>> FindKeyRegions(const PlanMembers& members);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_FAMILIES_KEY_REGIONS_H_
