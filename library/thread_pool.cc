// SPDX-License-Identifier: Apache-2.0
#include "library/thread_pool.h"

#include <unistd.h>

#include <new>
#include <utility>

namespace kirsch {

ThreadPool::ThreadPool(size_t threads) : process_(getpid()) {
  helpers_.reserve(threads - 1);
  try {
    for (size_t i = 1; i < threads; ++i) helpers_.emplace_back([this, i] { Help(i); });
  } catch (...) {
    Stop();
    throw;
  }
}

ThreadPool::~ThreadPool() {
  if (getpid() == process_) {
    Stop();
    return;
  }
  // A fork has none of the helpers, so there is nothing to wait for, and their objects must not be destroyed.
  new std::vector<std::thread>(std::move(helpers_));
}

void ThreadPool::Stop() {
  work_ = nullptr;
  round_.fetch_add(1);
  round_.notify_all();
  for (std::thread& helper : helpers_) helper.join();
}

void ThreadPool::Run(const std::function<void(size_t)>& work) {
  std::unique_lock<std::mutex> mine(busy_, std::defer_lock);
  if (helpers_.empty() || getpid() != process_ || !mine.try_lock()) {
    for (size_t thread = 0; thread < threads(); ++thread) work(thread);
    return;
  }
  work_ = &work;
  working_.store(static_cast<uint32_t>(helpers_.size()));
  round_.fetch_add(1);
  round_.notify_all();
  work(0);
  for (uint32_t left = working_.load(); left != 0; left = working_.load()) working_.wait(left);
}

void ThreadPool::Help(size_t thread) {
  for (uint32_t seen = 0;; ++seen) {
    round_.wait(seen);
    if (work_ == nullptr) return;
    (*work_)(thread);
    if (working_.fetch_sub(1) == 1) working_.notify_one();
  }
}

}  // namespace kirsch
