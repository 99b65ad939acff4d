// Our own kernels as a contender.
#ifndef KIRSCH_BENCH_OUR_KERNEL_H_
#define KIRSCH_BENCH_OUR_KERNEL_H_

#include <memory>
#include <vector>

#include "bench/contender.h"

namespace kirsch {

// One kernel per item of the request; null: not runnable here.
struct OurKernel {
  KernelFn kernel = nullptr;
  size_t scratch_bytes = 0;  // per thread
  // Where it takes an operand packed, at no charge:
  PackFn pack = nullptr;
  int packed_operand = 0;  // 0: lhs, 1: rhs
  size_t packed_bytes = 0;
};

std::unique_ptr<Contender> MakeOurContender(std::vector<OurKernel> kernels, int threads);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_OUR_KERNEL_H_
