// SPDX-License-Identifier: Apache-2.0
// Copies the constants that a plan's nests read as they lie. A kernel gets its constants from one packed
// buffer only. So its parameters don't depend on which of them the search decided to pack. Internal to
// search/.
#ifndef KIRSCH_SEARCH_GRAPH_CONSTANT_COPIES_H_
#define KIRSCH_SEARCH_GRAPH_CONSTANT_COPIES_H_

#include "spec/program/plan.h"
#include "spec/target.h"

namespace kirsch {

// Adds to the plan's prepacks a plain copy of each constant that nests read as it lies, and a buffer for it.
// Afterwards only the prepacks read constant parameters.
void CopyConstants(const Target& target, Plan* plan);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_GRAPH_CONSTANT_COPIES_H_
