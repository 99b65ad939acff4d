// SPDX-License-Identifier: Apache-2.0
// Catching a fault of untrusted code.
#ifndef KIRSCH_CODEGEN_VERIFY_VERIFY_FAULT_H_
#define KIRSCH_CODEGEN_VERIFY_VERIFY_FAULT_H_

#include <functional>
#include <optional>

namespace kirsch {

struct Fault {
  int signal = 0;
  const void* address = nullptr;  // that was accessed (SIGSEGV, SIGBUS) or executed
  bool write = false;
};

// Runs `body` on this thread; returns the fault (SIGSEGV, SIGBUS, SIGILL, SIGFPE) that ended it, if one did.
// The body must own nothing at the time. Calls from several threads wait for each other.
std::optional<Fault> CatchFault(const std::function<void()>& body);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_VERIFY_VERIFY_FAULT_H_
