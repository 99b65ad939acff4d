// SPDX-License-Identifier: Apache-2.0
// The boxes of a program's icicle; their colours are the kinds of synthesis/explain/cycle_kinds.h.
#ifndef KIRSCH_TOOLS_EXPLAIN_BOXES_H_
#define KIRSCH_TOOLS_EXPLAIN_BOXES_H_

#include <string>
#include <vector>

#include "page/chart.h"
#include "page/page.h"
#include "synthesis/explain/explained.h"

namespace kirsch {

std::vector<IcicleBox> BoxesOf(const Explanation& program);
std::vector<IcicleBox> BoxesOf(const ExplainedPlan& explained);

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_EXPLAIN_BOXES_H_
