// SPDX-License-Identifier: Apache-2.0
// Makes the boxes of an icicle from an explained program or plan. An icicle shows where the cycles go: a box
// is as wide as the share of the time that it takes, and stands below the box that it is a part of. Colours
// are the kinds of synthesis/explain/cycle_kinds.h.
//
//   |          move lhs L2            |
//   |          tile n 16              |
//   | pack rhs L1 ...                 |
//   | tile m 6                    |       its own cycles, the packing, are what no box below covers
#ifndef KIRSCH_TOOLS_EXPLAIN_BOXES_H_
#define KIRSCH_TOOLS_EXPLAIN_BOXES_H_

#include <vector>

#include "page/chart.h"
#include "page/page.h"
#include "synthesis/explain/explained.h"

namespace kirsch {

// Of a program: a box for each node. Of a plan: a box for the whole, then for its loop nests, their stages,
// and the programs of contractions.
std::vector<IcicleBox> BoxesOf(const Explanation& program);
std::vector<IcicleBox> BoxesOf(const ExplainedPlan& explained);

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_EXPLAIN_BOXES_H_
