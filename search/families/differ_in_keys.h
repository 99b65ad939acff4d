// SPDX-License-Identifier: Apache-2.0
// Which families of graphs are attentions against a cache: what varies is a number of keys.
#ifndef KIRSCH_SEARCH_FAMILIES_DIFFER_IN_KEYS_H_
#define KIRSCH_SEARCH_FAMILIES_DIFFER_IN_KEYS_H_

#include "absl/types/span.h"
#include "spec/graph/graph.h"

namespace kirsch {

// Do the members, of ascending sizes, differ in nothing but the number of keys: what is summed over by the
// matmul behind a softmax? And do what they read lie alike, from the first key on? So a plan for one may be
// for all. Three members at least.
bool DifferInKeys(absl::Span<const Graph> members);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_FAMILIES_DIFFER_IN_KEYS_H_
