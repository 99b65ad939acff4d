// Where the buffers of a plan lie.
#ifndef KIRSCH_SEARCH_MEMORY_PLAN_H_
#define KIRSCH_SEARCH_MEMORY_PLAN_H_

#include <vector>

#include "spec/plan.h"

namespace kirsch {

// Gives each of `buffers` a place in plan->buffers, in whole lines: two overlap only if no stage of the
// plan's groups comes between the first and the last use of both; of those that several phases use, and so
// all threads share, if no phase does. Largest first, each as low as there is room.
void PlanMemory(std::vector<Buffer> buffers, Plan* plan);

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_MEMORY_PLAN_H_
