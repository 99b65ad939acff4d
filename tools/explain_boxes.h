// The boxes of a program's icicle, and what its cycles go to.
#ifndef KIRSCH_TOOLS_EXPLAIN_BOXES_H_
#define KIRSCH_TOOLS_EXPLAIN_BOXES_H_

#include <string>
#include <vector>

#include "page/chart.h"
#include "page/page.h"
#include "tools/explained.h"

namespace kirsch {

std::vector<IcicleBox> BoxesOf(const ExplainedSpec& spec);
std::vector<IcicleBox> BoxesOf(const ExplainedGraph& graph);

// What cycles go to: the colours of boxes, and the series of bars.
const std::vector<std::string>& CycleKinds();

// The program's cycles by kind.
std::vector<double> CyclesByKind(const std::vector<ExplainedNode>& nodes);
std::vector<double> CyclesByKind(const ExplainedGraph& graph);

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_EXPLAIN_BOXES_H_
