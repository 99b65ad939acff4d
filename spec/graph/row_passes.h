// SPDX-License-Identifier: Apache-2.0
// The passes along the row that a row program takes, as its schedule has it. Thread-safe: pure functions.
#ifndef KIRSCH_SPEC_GRAPH_ROW_PASSES_H_
#define KIRSCH_SPEC_GRAPH_ROW_PASSES_H_

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "spec/graph/row_program.h"
#include "spec/graph/row_schedule.h"

namespace kirsch {

// The values of maximum(a), a - maximum, exp and sum.
struct OnlineSum {
  int a, maximum, difference, exp, sum;
};

// The first such sum of a program.
std::optional<OnlineSum> FindOnlineSum(const RowProgram& program);

// What a value is computed from: the values that it reads, and, if it is a sum of a product, the product,
// whose factors are read instead. A difference or the sum of a row may have one as well. In s32 none does,
// and no product that is used anywhere else: that one is rounded for all its uses alike.
struct RowOperands {
  std::array<int, 3> values;
  int count = 0;
  int product = -1;  // a sum a + b of two products: the first of them
};
RowOperands OperandsOf(const RowProgram& program, int value);

// Is the value a product of f32 that a sum reads and something else, too? It has to be rounded.
bool IsSharedProduct(const RowProgram& program, int value);

// Is the value the sum of a row or a column?
inline bool IsSum(const RowProgram& program, int value) {
  return program.values[static_cast<size_t>(value)].op == Operation::kSum;
}

// All lists are of numbers of values, in an order in which they can be computed.
struct RowPass {
  std::vector<int> read;        // kept before
  std::vector<int> computed;    // for each element
  std::vector<int> kept;        // for later passes
  std::vector<int> reductions;  // finished at the end; but for the online ones
  std::vector<int> results;     // numbers of results
  bool online = false;          // the online maximum and sum
};

struct RowPasses {
  std::vector<bool> per_row;  // for each value: it is one for the row
  std::vector<RowPass> passes;
  // For each pass, and for the end: the values that are one for the row, computed before it, but for
  // reductions.
  std::vector<std::vector<int>> row_values;
  std::vector<std::vector<int>> row_results;  // and the numbers of results stored before it
  std::optional<OnlineSum> online;            // if the schedule has it so
};

// `schedule.unroll` isn't looked at.
RowPasses FindPasses(const RowProgram& program, const RowSchedule& schedule);

// Can the program be run so? Only f32 values of the elements are kept, and what is kept in the place of a
// result, one value in each, is read no later than the result is stored.
bool IsSound(const RowProgram& program, const RowSchedule& schedule);

// May result `result` take the place of input `input`? Not if the input is read in a later pass than
// something is stored there, or elements may be computed twice.
bool MayBeInPlace(const RowProgram& program, const RowSchedule& schedule, int result, int input);

// Elements of f32 in the scratch row that a schedule takes; each kept value begins on a line.
int64_t ScratchElements(const RowSchedule& schedule, int64_t columns);
int64_t ScratchOffset(const RowSchedule& schedule, int value, int64_t columns);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_GRAPH_ROW_PASSES_H_
