// SPDX-License-Identifier: Apache-2.0
// The schedules of a row program that are worth a look.
#ifndef KIRSCH_REWRITES_GRAPH_ROW_SCHEDULES_H_
#define KIRSCH_REWRITES_GRAPH_ROW_SCHEDULES_H_

#include <cstdint>
#include <vector>

#include "spec/graph/row_program.h"
#include "spec/graph/row_schedule.h"
#include "spec/target.h"

namespace kirsch {

// A few dozen at most, all of them sound; the same in the same order every time. Rows have `columns`
// elements.
std::vector<RowSchedule> EnumerateRowSchedules(const RowProgram& program, int64_t columns,
                                               const Target& target);

// May result `result` take the place of input `input` in one of them?
bool MayReplace(const RowProgram& program, int result, int input);

// Is there code for the program that goes along rows whose number of elements is known when it runs?
bool ColumnsMayVary(const RowProgram& program, const Target& target);

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_GRAPH_ROW_SCHEDULES_H_
