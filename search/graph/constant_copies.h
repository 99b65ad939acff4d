// SPDX-License-Identifier: Apache-2.0
// Constants that a plan's nests read as they lie. Internal to search/.
#ifndef KIRSCH_SEARCH_GRAPH_CONSTANT_COPIES_H_
#define KIRSCH_SEARCH_GRAPH_CONSTANT_COPIES_H_

#include "spec/program/plan.h"
#include "spec/target.h"

namespace kirsch {

// The kernel gets constants as they were packed, and in no other way: adds, to what is done ahead, a plain
// copy of each that is read so, and its buffer.
void CopyConstants(const Target& target, Plan* plan);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_GRAPH_CONSTANT_COPIES_H_
