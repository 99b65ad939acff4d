// The five lines that an explanation begins with: time, share of the peak, what bounds it, where the cycles
// go, and the runner-up.
#ifndef KIRSCH_SYNTHESIS_EXPLAIN_EXPLAIN_SUMMARY_H_
#define KIRSCH_SYNTHESIS_EXPLAIN_EXPLAIN_SUMMARY_H_

#include <string>

#include "synthesis/explain/explained.h"

namespace kirsch {

std::string SummaryText(const ExplainedSpec& spec);
std::string SummaryText(const ExplainedGraph& graph);

}  // namespace kirsch

#endif  // KIRSCH_SYNTHESIS_EXPLAIN_EXPLAIN_SUMMARY_H_
