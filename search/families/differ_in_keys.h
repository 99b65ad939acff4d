// SPDX-License-Identifier: Apache-2.0
// Recognises families of graphs in which only the number of keys varies, as in attentions against a cache.
#ifndef KIRSCH_SEARCH_FAMILIES_DIFFER_IN_KEYS_H_
#define KIRSCH_SEARCH_FAMILIES_DIFFER_IN_KEYS_H_

#include "absl/types/span.h"
#include "spec/graph/graph.h"

namespace kirsch {

// True if the members differ in nothing but the number of keys, and if what they read lies alike from the
// first key on. So a plan for one may be for all. The members must come by ascending sizes; with fewer than
// three it is false.
//
// Keys are the dim that a matmul sums over whose lhs is computed, as by a softmax.
bool DifferInKeys(absl::Span<const Graph> members);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_FAMILIES_DIFFER_IN_KEYS_H_
