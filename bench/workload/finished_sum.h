// What the epilogue of a matmul makes of a sum.
#ifndef KIRSCH_BENCH_WORKLOAD_FINISHED_SUM_H_
#define KIRSCH_BENCH_WORKLOAD_FINISHED_SUM_H_

#include <cstddef>

#include "bench/workload/workload.h"
#include "spec/uncertain.h"

namespace kirsch {

// Of a placed workload with a spec: the element of the output that this sum becomes, and how far off it may
// be.
Uncertain FinishedSum(const Workload& workload, size_t batch, size_t row, size_t column, Uncertain sum);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_WORKLOAD_FINISHED_SUM_H_
