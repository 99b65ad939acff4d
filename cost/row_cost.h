// SPDX-License-Identifier: Apache-2.0
// What a row program costs as a schedule has it.
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

// Where operands are placed, one level for each: results are written back to theirs.
struct RowLevels {
  std::vector<Level> inputs, results;
  // Of each input: do its rows not follow each other? Empty: all do.
  std::vector<bool> apart = {};
};

// Cycles of one vector in one pass, operands in L1, by bottleneck. A vector takes the largest.
struct RowVectorCycles {
  double arithmetic = 0;
  double division = 0;  // and square roots
  double load = 0;
  double store = 0;
  double latency = 0;  // of what is accumulated
  double front_end = 0;
  double total() const;
  std::string_view bottleneck() const;
};
RowVectorCycles VectorCyclesOf(const RowProgram& program, const RowSchedule& schedule, const RowPasses& plan,
                               size_t pass, const Target& target);

// All of it: `rows` rows of `columns` elements. The schedule is sound, and its vectors are a unit's of the
// target.
double RowCycles(const RowProgram& program, const RowSchedule& schedule, int64_t rows, int64_t columns,
                 const RowLevels& levels, const Target& target);

// What that moves.
Traffic RowTraffic(const RowProgram& program, const RowSchedule& schedule, int64_t rows, int64_t columns,
                   const RowLevels& levels, const Target& target);

}  // namespace kirsch

#endif  // KIRSCH_COST_ROW_COST_H_
