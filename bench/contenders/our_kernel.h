// SPDX-License-Identifier: Apache-2.0
// Our own kernels as a contender.
#ifndef KIRSCH_BENCH_CONTENDERS_OUR_KERNEL_H_
#define KIRSCH_BENCH_CONTENDERS_OUR_KERNEL_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "bench/machine/memory.h"
#include "bench/workload/contender.h"
#include "codegen/kernel.h"

namespace kirsch {

// The contender's methods: for kernels that take every operand as it is, and for those that take one packed.
inline constexpr size_t kOursPlain = 0, kOursPacked = 1;

// Scratch memory of each thread, then what they share.
using OurScratch = std::vector<AlignedMemory>;

// One kernel per item of the request, whose tensors are the workload's operands (one that nothing runs: there
// is none). They outlive the contender, which goes by `name`. Contenders that take turns share `scratch`, as
// calls of an engine do.
std::unique_ptr<Contender> MakeOurContender(const std::vector<Kernel>& kernels, int threads,
                                            const std::string& name, std::shared_ptr<OurScratch> scratch);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_CONTENDERS_OUR_KERNEL_H_
