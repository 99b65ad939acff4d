// SPDX-License-Identifier: Apache-2.0
// The processes of a job as threads of one process.
#ifndef KIRSCH_TESTS_TESTING_THREAD_PROCESSES_H_
#define KIRSCH_TESTS_TESTING_THREAD_PROCESSES_H_

#include <barrier>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "search/table/process_group.h"

namespace kirsch::testing {

class ThreadProcesses {
 public:
  // Runs task(processes) on so many processes at once, and waits for them.
  static void Run(int size, const std::function<void(ProcessGroup&)>& task) {
    ThreadProcesses job(size);
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < size; ++rank)
      threads.emplace_back([&job, &task, rank] {
        Rank self(job, rank);
        task(self);
      });
  }

 private:
  class Rank : public ProcessGroup {
   public:
    Rank(ThreadProcesses& job, int rank) : job_(job), rank_(rank) {}
    int rank() const override { return rank_; }
    int size() const override { return static_cast<int>(job_.bytes_.size()); }

    std::vector<std::string> Gather(const std::string& bytes) override {
      std::vector<std::string> all = Exchange(bytes);
      if (rank_ != 0) all.clear();
      return all;
    }
    std::string Broadcast(std::string bytes) override { return Exchange(std::move(bytes))[0]; }

   private:
    std::vector<std::string> Exchange(std::string bytes) {
      job_.bytes_[static_cast<size_t>(rank_)] = std::move(bytes);
      job_.barrier_.arrive_and_wait();
      std::vector<std::string> all = job_.bytes_;
      job_.barrier_.arrive_and_wait();
      return all;
    }

    ThreadProcesses& job_;
    const int rank_;
  };

  explicit ThreadProcesses(int size) : bytes_(static_cast<size_t>(size)), barrier_(size) {}

  std::vector<std::string> bytes_;
  std::barrier<> barrier_;
};

}  // namespace kirsch::testing

#endif  // KIRSCH_TESTS_TESTING_THREAD_PROCESSES_H_
