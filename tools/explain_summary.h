// The five lines that an explanation begins with: time, share of the peak, what bounds it, where the cycles
// go, and the runner-up.
#ifndef KIRSCH_TOOLS_EXPLAIN_SUMMARY_H_
#define KIRSCH_TOOLS_EXPLAIN_SUMMARY_H_

#include <string>

#include "tools/explained.h"

namespace kirsch {

std::string SummaryText(const ExplainedSpec& spec);
std::string SummaryText(const ExplainedGraph& graph);

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_EXPLAIN_SUMMARY_H_
