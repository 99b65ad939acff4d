// SPDX-License-Identifier: Apache-2.0
// Makes a contender of our own kernels, so that they are timed by the same code as the peers.
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

// The contender's methods, by number: for kernels that take every operand as it is, and for those that take
// one packed.
inline constexpr size_t kOursPlain = 0, kOursPacked = 1;

// Scratch memory of each thread, and last the memory that threads share.
using OurScratch = std::vector<AlignedMemory>;

// Makes the contender, which goes by `name`. There is one kernel per item of the request, whose tensors are
// the workload's operands; an item without a kernel is declined. The kernels outlive the contender.
// Contenders that take turns with several sets of weights share `scratch`, as calls of an engine do.
std::unique_ptr<Contender> MakeOurContender(const std::vector<Kernel>& kernels, int threads,
                                            const std::string& name, std::shared_ptr<OurScratch> scratch);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_CONTENDERS_OUR_KERNEL_H_
