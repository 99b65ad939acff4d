// SPDX-License-Identifier: Apache-2.0
// Keeps threads that share the work of a kernel's calls, so that a call starts none. Internal to library/.
//
// A round is one Run: the caller adds 1 to `round_`, helpers wake, each calls the work once, and the last one
// to end wakes the caller. The caller holds `busy_` meanwhile.
#ifndef KIRSCH_LIBRARY_THREAD_POOL_H_
#define KIRSCH_LIBRARY_THREAD_POOL_H_

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace kirsch {

// A pool of helpers, waiting for rounds.
class ThreadPool {
 public:
  // `threads`: at least 1, the one that calls Run among them. Throws std::system_error if the system has no
  // more threads.
  explicit ThreadPool(size_t threads);
  // Waits for the helpers to end. No Run may be under way.
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  size_t threads() const { return helpers_.size() + 1; }

  // Calls work(0), ..., work(threads() - 1), the first one on this thread, and returns when all are done.
  // While the helpers work for another thread, and in a process that was forked from theirs, this thread does
  // all. Thread-safe.
  void Run(const std::function<void(size_t thread)>& work);

 private:
  // What helper `thread` does until the pool is destroyed.
  void Help(size_t thread);
  // Ends the helpers: a round without work.
  void Stop();

  const pid_t process_;  // whose helpers they are: a forked process has none
  // Held by the Run whose round it is.
  std::mutex busy_;
  const std::function<void(size_t)>* work_ = nullptr;  // null when a round begins: the helpers end
  std::atomic<uint32_t> round_ = 0, working_ = 0;
  std::vector<std::thread> helpers_;
};

}  // namespace kirsch

#endif  // KIRSCH_LIBRARY_THREAD_POOL_H_
