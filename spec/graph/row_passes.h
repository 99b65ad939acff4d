// SPDX-License-Identifier: Apache-2.0
// Divides a row program into passes along the row, as its schedule has it. A value that depends on a
// reduction can be computed only after the whole row has been read, so it belongs to a later pass.
//
// Example, softmax of a row x: pass 0 finds m = max(x); pass 1 adds up s = sum(exp(x - m)); pass 2 stores
// exp(x - m) / s. With RowSchedule::online, pass 0 finds both m and s.
//
// All functions are pure, and so thread-safe.
#ifndef KIRSCH_SPEC_GRAPH_ROW_PASSES_H_
#define KIRSCH_SPEC_GRAPH_ROW_PASSES_H_

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "spec/graph/row_program.h"
#include "spec/graph/row_schedule.h"

namespace kirsch {

// The values (by number) of a maximum and a sum of exponentials below it: m = maximum(a), s = sum(exp(a -
// m)). One pass can find both.
struct OnlineSum {
  int a, maximum, difference, exp, sum;
};

// The first such sum of a program; nothing if it has none.
std::optional<OnlineSum> FindOnlineSum(const RowProgram& program);

// The values that an operation really reads. A sum of a product may be one multiply-add: then the product's
// factors are read instead of the product. Differences and sums of a row may absorb a product as well. In s32
// no product is absorbed. Nor is a product with another use, since it must be rounded, alike for all its
// uses.
//
// Example: v3 = add(v2, v0), where v2 = mul(v0, v1) has no other use: values are {v0, v1, v0}, product is v2.
struct RowOperands {
  // The absorbed product's factors come first, then the other operand, if there is one.
  std::array<int, 3> values;
  int count = 0;
  int product = -1;  // a sum a + b of two products: the first of them
};
RowOperands OperandsOf(const RowProgram& program, int value);

// The values that code computes, in order: all but products that are part of a multiply-add.
std::vector<int> ComputedValues(const RowProgram& program);

// True if the value is a product that a sum in f32 reads and something else reads, too. Code must round it
// before the sum, and must not contract both into one multiply-add.
bool IsSharedProduct(const RowProgram& program, int value);

// True if the value is the sum of a row (or of a column, RowProgram::reduces_rows).
inline bool IsSum(const RowProgram& program, int value) {
  return program.values[static_cast<size_t>(value)].op == Operation::kSum;
}

// One pass along the row. All lists hold numbers of values, in an order in which they can be computed.
struct RowPass {
  std::vector<int> read;        // kept before
  std::vector<int> computed;    // for each element
  std::vector<int> kept;        // for later passes
  std::vector<int> reductions;  // finished at the end; but for the online ones
  std::vector<int> results;     // numbers of results
  bool online = false;          // the online maximum and sum
};

struct RowPasses {
  // For each value: true if there is one for the whole row, and not one for each element.
  std::vector<bool> per_row;  // for each value: it is one for the row
  std::vector<RowPass> passes;
  // For each pass, and one more entry for the end: the values, one for the row, that are computed before this
  // pass. Reductions are not among them; RowPass::reductions has these.
  std::vector<std::vector<int>> row_values;
  std::vector<std::vector<int>> row_results;  // and the numbers of results stored before it
  std::optional<OnlineSum> online;            // if the schedule has it so
};

// Finds the passes that `schedule` needs. Does not read `schedule.unroll`.
RowPasses FindPasses(const RowProgram& program, const RowSchedule& schedule);

// True if the program can be run with this schedule. Only floats with an element for each column may be
// kept. A value that is kept in a result's place must not be read in a later pass than the one that stores
// the result. Each result has room for one value.
bool IsSound(const RowProgram& program, const RowSchedule& schedule);

// True if result `result` may use the same memory as input `input`. False if a later pass reads the input
// after something has been stored there, or if elements may be computed twice (a streamed result).
bool MayBeInPlace(const RowProgram& program, const RowSchedule& schedule, int result, int input);

// Sizes in elements (of RealOf the program) of the scratch row that a schedule needs. Each kept value begins
// on a cache line.
int64_t ScratchElements(const RowSchedule& schedule, int64_t columns);
// Where `value` begins in the scratch row.
int64_t ScratchOffset(const RowSchedule& schedule, int value, int64_t columns);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_GRAPH_ROW_PASSES_H_
