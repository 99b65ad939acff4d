// A lock for critical sections of a few dozen instructions.
#ifndef KIRSCH_MEMO_SPIN_LOCK_H_
#define KIRSCH_MEMO_SPIN_LOCK_H_

#include <atomic>
#include <thread>

namespace kirsch {

// Lockable (for std::lock_guard). Gives the core away when it must wait: the owner may have lost its own.
class SpinLock {
 public:
  void lock() {
    while (taken_.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
  }
  void unlock() { taken_.clear(std::memory_order_release); }

 private:
  std::atomic_flag taken_;
};

}  // namespace kirsch

#endif  // KIRSCH_MEMO_SPIN_LOCK_H_
