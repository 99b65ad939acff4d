// SPDX-License-Identifier: Apache-2.0
// Lists the schedules of a row program that are worth pricing: in how many vectors at once, which values are
// kept from pass to pass, what is prefetched or stored past the caches.
#ifndef KIRSCH_REWRITES_GRAPH_ROW_SCHEDULES_H_
#define KIRSCH_REWRITES_GRAPH_ROW_SCHEDULES_H_

#include <cstdint>
#include <vector>

#include "spec/graph/row_program.h"
#include "spec/graph/row_schedule.h"
#include "spec/target.h"

namespace kirsch {

// Returns a few dozen at most, all of them sound, the same in the same order every time. Rows have `columns`
// elements.
std::vector<RowSchedule> EnumerateRowSchedules(const RowProgram& program, int64_t columns,
                                               const Target& target);

// True if result `result` may take the memory of input `input` in one of the schedules. The search then
// prices both choices; a schedule that may not is left out later.
bool MayReplace(const RowProgram& program, int result, int input);

// True if there is code for the program with rows whose number of elements is known when it runs: each type
// needs masked access, and no input may choose rows of another.
bool ColumnsMayVary(const RowProgram& program, const Target& target);

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_GRAPH_ROW_SCHEDULES_H_
