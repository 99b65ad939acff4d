// Loops of matmuls and convolutions, or calls of cblas_sgemm that do the same.
#ifndef KIRSCH_BENCH_LOOPS_CONTRACTION_LOOPS_H_
#define KIRSCH_BENCH_LOOPS_CONTRACTION_LOOPS_H_

#include "bench/loops/loops_writer.h"

namespace kirsch {

// `node` is a contraction.
void ComputeContraction(LoopsWriter& writer, int node);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_LOOPS_CONTRACTION_LOOPS_H_
