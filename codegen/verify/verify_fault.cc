// SPDX-License-Identifier: Apache-2.0
#include "codegen/verify/verify_fault.h"

#include <setjmp.h>
#include <signal.h>
#include <ucontext.h>

#include <array>
#include <mutex>

#include "spec/check.h"

namespace kirsch {
namespace {

constexpr std::array<int, 4> kSignals = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};
constexpr greg_t kWriteAccess = 2;  // x86's page fault error code

// Set while this thread runs a body. These are plain data: a signal handler may touch nothing else.
thread_local sigjmp_buf* return_point = nullptr;
thread_local Fault caught;

// Notes the fault and goes back to Survives(), as the instruction would only fault again.
void OnFault(int signal, siginfo_t* info, void* context) {
  if (return_point == nullptr) {  // someone else's fault: let it happen again, unhandled
    ::signal(signal, SIG_DFL);
    return;
  }
  const ucontext_t* const user = static_cast<const ucontext_t*>(context);
  caught = {signal, info->si_addr, (user->uc_mcontext.gregs[REG_ERR] & kWriteAccess) != 0};
  siglongjmp(*return_point, 1);
}

// Installs the handlers for the time that it lives, then those that were there before.
class Handlers {
 public:
  Handlers() {
    struct sigaction action = {};
    action.sa_sigaction = OnFault;
    // SA_NODEFER: the handler doesn't return, so the signal must not stay blocked.
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    for (size_t i = 0; i < kSignals.size(); ++i)
      KIRSCH_CHECK(sigaction(kSignals[i], &action, &previous_[i]) == 0);
  }
  ~Handlers() {
    for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &previous_[i], nullptr);
  }

 private:
  std::array<struct sigaction, kSignals.size()> previous_;
};

// Runs the body; false if it faulted. It is in a frame of its own, where nothing changes between sigsetjmp
// and siglongjmp.
bool Survives(const std::function<void()>& body) {
  sigjmp_buf here;
  if (sigsetjmp(here, 1) != 0) {
    return_point = nullptr;
    return false;
  }
  return_point = &here;
  body();
  return_point = nullptr;
  return true;
}

}  // namespace

// Handlers are the process's, so one body runs at a time.
std::optional<Fault> CatchFault(const std::function<void()>& body) {
  static std::mutex one_at_a_time;
  const std::lock_guard<std::mutex> lock(one_at_a_time);
  const Handlers handlers;
  if (Survives(body)) return std::nullopt;
  return caught;
}

}  // namespace kirsch
