// SPDX-License-Identifier: Apache-2.0
#include "library/thread_pool.h"

#include <unistd.h>

#include <utility>

namespace kirsch {

ThreadPool::ThreadPool(size_t threads) : process_(getpid()) {
  // Helpers are numbered from 1 on; the thread that calls Run is number 0.
  helpers_.reserve(threads - 1);
  try {
    for (size_t i = 1; i < threads; ++i) helpers_.emplace_back([this, i] { Help(i); });
    // The helpers that have been started are waiting: they must end before their objects do.
  } catch (...) {
    Stop();
    throw;
  }
}

ThreadPool::~ThreadPool() {
  // Only the process that started the helpers can join them.
  if (getpid() == process_) {
    Stop();
    return;
  }
  // A fork has none of the helpers, so there is nothing to wait for. Their objects must not be destroyed, so
  // they are leaked.
  new std::vector<std::thread>(std::move(helpers_));
}

void ThreadPool::Stop() {
  work_ = nullptr;
  round_.fetch_add(1);
  round_.notify_all();
  for (std::thread& helper : helpers_) helper.join();
}

// A round of a pool of three threads:
//
//     caller     work_ = w, working_ = 2, round_ + 1   w(0)   waits for working_ == 0
//     helper 1   waits for round_                      w(1)   working_ - 1
//     helper 2   waits for round_                      w(2)   working_ - 1, was the last: wakes the caller
void ThreadPool::Run(const std::function<void(size_t)>& work) {
  std::unique_lock<std::mutex> mine(busy_, std::defer_lock);
  // No helper is free, so this thread does all of it.
  if (helpers_.empty() || getpid() != process_ || !mine.try_lock()) {
    for (size_t thread = 0; thread < threads(); ++thread) work(thread);
    return;
  }
  work_ = &work;
  // The order counts: helpers read `work_` and count down `working_` as soon as they see the new round.
  working_.store(static_cast<uint32_t>(helpers_.size()));
  round_.fetch_add(1);
  round_.notify_all();
  work(0);
  // `work` must stay until the last helper is done with it.
  for (uint32_t left = working_.load(); left != 0; left = working_.load()) working_.wait(left);
}

void ThreadPool::Help(size_t thread) {
  // `seen` is the last round that this helper knows. A round cannot be missed, as the next one begins only
  // when all helpers are done with this one.
  for (uint32_t seen = 0;; ++seen) {
    round_.wait(seen);
    if (work_ == nullptr) return;
    (*work_)(thread);
    if (working_.fetch_sub(1) == 1) working_.notify_one();
  }
}

}  // namespace kirsch
