// SPDX-License-Identifier: Apache-2.0
// Makes the contents that the benchmarks of the memo and of the table measure: the programs of a whole family
// of matmuls, as points by page.
#ifndef KIRSCH_BENCH_MICRO_FAMILY_H_
#define KIRSCH_BENCH_MICRO_FAMILY_H_

#include <cstdint>
#include <map>
#include <vector>

#include "cost/cost_model.h"
#include "memo/table_file.h"

namespace kirsch {

// Returns the largest size of the family: KIRSCH_FAMILY of the environment, or else 256. (2048 takes minutes
// to solve.)
uint32_t FamilyBound();

// Solves every usual size (spec/usual_sizes.h) up to `bound` for each of m, k and n: matmuls of f32, one
// thread, operands warm. Points are distinct and ascending.
std::map<PageKey, std::vector<PagePoint>> SolveFamily(uint32_t bound, const CostModel& model);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_MICRO_FAMILY_H_
