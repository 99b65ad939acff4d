// SPDX-License-Identifier: Apache-2.0
// Runs a program on real buffers straight from its meaning (program.h), without the code generator. So a
// difference between its results and those of the generated code is a fault of the code generator. It also
// finds reads of memory that was not written, or that another value has overwritten, and accesses outside of
// buffers. Thread-safe.
#ifndef KIRSCH_SPEC_MEANING_INTERPRETER_H_
#define KIRSCH_SPEC_MEANING_INTERPRETER_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "spec/meaning/interpreter_memory.h"
#include "spec/program/program.h"

namespace kirsch {

// `callers`: the caller's buffers, by their numbers in the program; nullptr for all other numbers. `threads`:
// how many share the work; they run one after the other in each phase. `sizes`: the values of
// Program::symbols, in their order. Returns Internal if the program uses memory wrongly; results are
// undefined then. `observe`, if it is given, is told each access as it happens. A kernel reads and writes the
// elements that its code does, but may read them in another order.
absl::Status Interpret(const Program& program, const std::vector<void*>& callers, int threads = 1,
                       const std::vector<int64_t>& sizes = {}, const AccessObserver& observe = {});

}  // namespace kirsch

#endif  // KIRSCH_SPEC_MEANING_INTERPRETER_H_
