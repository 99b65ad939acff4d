// Any library with the C interface of BLAS (32-bit integers), found at run time, as a contender.
#ifndef KIRSCH_BENCH_CONTENDERS_CBLAS_H_
#define KIRSCH_BENCH_CONTENDERS_CBLAS_H_

#include <memory>
#include <string>
#include <vector>

#include "bench/workload/contender.h"

namespace kirsch {

// The first of `libraries` that loads.
std::unique_ptr<Contender> MakeCblasContender(std::vector<std::string> libraries);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_CONTENDERS_CBLAS_H_
