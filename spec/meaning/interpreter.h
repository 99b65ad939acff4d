// SPDX-License-Identifier: Apache-2.0
// The interpreter: runs a program on real buffers straight from its meaning (program.h), without the code
// generator. It finds out whether the program reads what has not been written, or what has been written over,
// and whether it leaves a buffer. Thread-safe.
#ifndef KIRSCH_SPEC_MEANING_INTERPRETER_H_
#define KIRSCH_SPEC_MEANING_INTERPRETER_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "spec/meaning/interpreter_memory.h"
#include "spec/program/program.h"

namespace kirsch {

// `callers`: the caller's buffers by their numbers in the program, null for the others. `threads`: so many
// share the work, one after the other in each phase. `sizes`: of the program's run-time sizes. An error says
// what is wrong with the program's use of memory; results are undefined then. `observe`, if it is any, is
// told every access as it happens: a kernel reads and writes the elements that its code does, but may read
// them in another order.
absl::Status Interpret(const Program& program, const std::vector<void*>& callers, int threads = 1,
                       const std::vector<int64_t>& sizes = {}, const AccessObserver& observe = {});

}  // namespace kirsch

#endif  // KIRSCH_SPEC_MEANING_INTERPRETER_H_
