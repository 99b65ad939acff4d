// SPDX-License-Identifier: Apache-2.0
// The contents that the memo benchmarks measure: the programs of a whole family of matmuls, as points by
// page.
#ifndef KIRSCH_BENCH_MICRO_FAMILY_H_
#define KIRSCH_BENCH_MICRO_FAMILY_H_

#include <cstdint>
#include <map>
#include <vector>

#include "cost/cost_model.h"
#include "memo/table_file.h"

namespace kirsch {

// KIRSCH_FAMILY in the environment, or else 256. (2048 takes minutes to solve.)
uint32_t FamilyBound();

// Every usual size (spec/usual_sizes.h) up to `bound` for each of m, k, n: the programs of all these matmuls,
// f32, one thread, operands warm. Points are distinct and ascending.
std::map<PageKey, std::vector<PagePoint>> SolveFamily(uint32_t bound, const CostModel& model);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_MICRO_FAMILY_H_
