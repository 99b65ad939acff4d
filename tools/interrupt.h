// Ctrl-C as a flag.
#ifndef KIRSCH_TOOLS_INTERRUPT_H_
#define KIRSCH_TOOLS_INTERRUPT_H_

#include <atomic>
#include <csignal>

namespace kirsch {

// While one lives, the first SIGINT (or SIGTERM) sets `interrupted`; a second one ends the process as ever.
// One at a time.
class InterruptGuard {
 public:
  InterruptGuard() {
    interrupted_ = false;
    struct sigaction action = {};
    action.sa_handler = [](int) { interrupted_ = true; };
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigaction(SIGINT, &action, &before_interrupt_);
    sigaction(SIGTERM, &action, &before_terminate_);
  }
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  ~InterruptGuard() {
    sigaction(SIGINT, &before_interrupt_, nullptr);
    sigaction(SIGTERM, &before_terminate_, nullptr);
  }

  const std::atomic<bool>& interrupted() const { return interrupted_; }

 private:
  static inline std::atomic<bool> interrupted_ = false;
  struct sigaction before_interrupt_ = {}, before_terminate_ = {};
};

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_INTERRUPT_H_
