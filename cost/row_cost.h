// SPDX-License-Identifier: Apache-2.0
// Prices a row program as a schedule runs it: pass by pass along a row, each pass vector by vector.
//
//   softmax of a row of 1024 f32, vectors of 16: a pass for the maximum, one for the sum of exp, one to store
//     each pass: 64 vectors * the slowest bottleneck of a vector, + its ends, + lines that are waited for
#ifndef KIRSCH_COST_ROW_COST_H_
#define KIRSCH_COST_ROW_COST_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "spec/graph/row_passes.h"
#include "spec/graph/row_program.h"
#include "spec/graph/row_schedule.h"
#include "spec/level.h"
#include "spec/target.h"
#include "spec/traffic.h"

namespace kirsch {

// The levels that operands are placed in, one for each. Results are written back to theirs.
struct RowLevels {
  std::vector<Level> inputs, results;
  // Of each input: do its rows not follow each other? Empty: all do.
  std::vector<bool> apart = {};
  // Where a result takes the place of an input: elements from one row of it to the next. 0: none does.
  int64_t in_place_stride = 0;
};

// Cycles of one vector in one pass, operands in L1, by bottleneck. A vector takes the largest.
struct RowVectorCycles {
  double arithmetic = 0;
  double division = 0;  // and square roots
  double load = 0;
  double store = 0;
  double latency = 0;  // of what is accumulated
  double window = 0;   // of chains of instructions, of which the CPU looks at so many at a time
  double front_end = 0;
  double total() const;
  std::string_view bottleneck() const;
};
// `pass`: its number in `plan`, which is FindPasses of the program and the schedule.
RowVectorCycles VectorCyclesOf(const RowProgram& program, const RowSchedule& schedule, const RowPasses& plan,
                               size_t pass, const Target& target);

// Returns the cycles of all of it: `rows` rows of `columns` elements. The schedule is sound, and its vectors
// are those of a unit of the target.
double RowCycles(const RowProgram& program, const RowSchedule& schedule, int64_t rows, int64_t columns,
                 const RowLevels& levels, const Target& target);

// Returns the bytes that the same run moves between levels.
Traffic RowTraffic(const RowProgram& program, const RowSchedule& schedule, int64_t rows, int64_t columns,
                   const RowLevels& levels, const Target& target);

}  // namespace kirsch

#endif  // KIRSCH_COST_ROW_COST_H_
