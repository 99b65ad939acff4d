// SPDX-License-Identifier: Apache-2.0
// Turns Ctrl-C into a flag that searches look at, so that they end with their best program instead of dying.
#ifndef KIRSCH_TOOLS_INTERRUPT_H_
#define KIRSCH_TOOLS_INTERRUPT_H_

#include <atomic>
#include <csignal>

namespace kirsch {

// While one lives, the first SIGINT or SIGTERM sets `interrupted`; a second one ends the process. Guards
// nest: a guard that begins while another lives shares its flag, so no signal is lost between the two.
//
//   guard A begins           clears the flag, installs handlers
//     guard B begins, ends   changes nothing
//     SIGINT                 the flag is set, and the handler removed
//     SIGINT                 (another one would end the process)
//   guard A ends             installs the handlers that were there before
//
// Guards that heed signals must all be on one thread. A guard that heeds none does nothing, on any thread.
class InterruptGuard {
 public:
  explicit InterruptGuard(bool heeds = true) : heeds_(heeds) {
    if (!heeds_ || living_++ > 0) return;
    // Only the outermost guard installs handlers, and clears what an earlier one left.
    interrupted_ = false;
    struct sigaction action = {};
    action.sa_handler = [](int) { interrupted_ = true; };
    // The handler is for one signal: the second one meets the system's own, which ends the process.
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigaction(SIGINT, &action, &before_interrupt_);
    sigaction(SIGTERM, &action, &before_terminate_);
  }
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  ~InterruptGuard() {
    if (!heeds_ || --living_ > 0) return;
    sigaction(SIGINT, &before_interrupt_, nullptr);
    sigaction(SIGTERM, &before_terminate_, nullptr);
  }

  const std::atomic<bool>& interrupted() const { return interrupted_; }
  // For SearchOptions::cancel.
  const std::atomic<bool>* flag() const { return heeds_ ? &interrupted_ : nullptr; }

 private:
  static inline std::atomic<bool> interrupted_ = false;
  static inline int living_ = 0;  // guards that heed signals
  const bool heeds_;
  struct sigaction before_interrupt_ = {}, before_terminate_ = {};
};

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_INTERRUPT_H_
