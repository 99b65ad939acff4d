// SPDX-License-Identifier: Apache-2.0
// Catches a fault of code that is not trusted, so that verification can say what it did instead of ending.
#ifndef KIRSCH_CODEGEN_VERIFY_VERIFY_FAULT_H_
#define KIRSCH_CODEGEN_VERIFY_VERIFY_FAULT_H_

#include <functional>
#include <optional>

namespace kirsch {

// The access, or the instruction, that ended the code. `write` tells a store from a load.
struct Fault {
  int signal = 0;
  const void* address = nullptr;  // that was accessed (SIGSEGV, SIGBUS) or executed
  bool write = false;
};

// Runs `body` on this thread. Returns the fault (SIGSEGV, SIGBUS, SIGILL, SIGFPE) that ended it, or nothing.
// A fault leaves the body without running destructors, so it must own nothing at the time. Calls from several
// threads wait for each other, as signal handlers belong to the whole process.
std::optional<Fault> CatchFault(const std::function<void()>& body);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_VERIFY_VERIFY_FAULT_H_
