// SPDX-License-Identifier: Apache-2.0
// Threads that share the work of a kernel's calls. Internal to library/.
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

class ThreadPool {
 public:
  // `threads`: at least 1, the one that calls Run among them. Throws std::system_error if there are no more.
  explicit ThreadPool(size_t threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  size_t threads() const { return helpers_.size() + 1; }

  // Calls work(0), ..., work(threads() - 1), the first one on this thread, and returns when all are done.
  // While the helpers work for another thread, and in a process that was forked from theirs, this thread does
  // all. Thread-safe.
  void Run(const std::function<void(size_t thread)>& work);

 private:
  void Help(size_t thread);
  void Stop();

  const pid_t process_;
  std::mutex busy_;
  const std::function<void(size_t)>* work_ = nullptr;  // null when a round begins: the helpers end
  std::atomic<uint32_t> round_ = 0, working_ = 0;
  std::vector<std::thread> helpers_;
};

}  // namespace kirsch

#endif  // KIRSCH_LIBRARY_THREAD_POOL_H_
