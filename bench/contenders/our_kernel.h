// SPDX-License-Identifier: Apache-2.0
// Our own kernels as a contender.
#ifndef KIRSCH_BENCH_CONTENDERS_OUR_KERNEL_H_
#define KIRSCH_BENCH_CONTENDERS_OUR_KERNEL_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "bench/workload/contender.h"
#include "codegen/kernel.h"

namespace kirsch {

// The contender's methods: for kernels that take every operand as it is, and for those that take one packed.
inline constexpr size_t kOursPlain = 0, kOursPacked = 1;

// One kernel per item of the request, whose tensors are the workload's operands (one that nothing runs: there
// is none). They outlive the contender, which goes by `name`.
std::unique_ptr<Contender> MakeOurContender(const std::vector<Kernel>& kernels, int threads,
                                            const std::string& name);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_CONTENDERS_OUR_KERNEL_H_
