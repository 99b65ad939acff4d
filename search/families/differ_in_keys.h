// SPDX-License-Identifier: Apache-2.0
// Recognises families of graphs that are attentions against a cache: only the number of keys varies.
#ifndef KIRSCH_SEARCH_FAMILIES_DIFFER_IN_KEYS_H_
#define KIRSCH_SEARCH_FAMILIES_DIFFER_IN_KEYS_H_

#include "absl/types/span.h"
#include "spec/graph/graph.h"

namespace kirsch {

// True if the members differ in nothing but the number of keys, and if what they read lies alike from the
// first key on. So a plan for one may be for all. The members must come by ascending sizes; with fewer than
// three it is false.
//
// Keys are the dim that the matmul behind a softmax sums over.
bool DifferInKeys(absl::Span<const Graph> members);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_FAMILIES_DIFFER_IN_KEYS_H_
