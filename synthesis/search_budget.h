// SPDX-License-Identifier: Apache-2.0
// Shares one time limit among searches that run one after another: those of a family's members, of a graph's
// stages, of all kernels of a library. Time that one search saves is there for the next.
#ifndef KIRSCH_SYNTHESIS_SEARCH_BUDGET_H_
#define KIRSCH_SYNTHESIS_SEARCH_BUDGET_H_

#include <algorithm>
#include <atomic>
#include <chrono>

namespace kirsch {

// The clock starts when this is made. Not thread-safe.
class SearchBudget {
 public:
  // Seconds from now on; 0: no limit.
  explicit SearchBudget(double seconds) : seconds_(seconds) {}

  // What is left for the next search, in seconds, as SolveArguments::time_budget takes it: 0 means no limit
  // there. So a budget that has run out is never 0 but kNoTime.
  double Left() const {
    if (ended_) return kNoTime;
    if (seconds_ == 0) return 0;
    const std::chrono::duration<double> used = std::chrono::steady_clock::now() - start_;
    return std::max(seconds_ - used.count(), kNoTime);
  }

  // Ends the budget early, as after Ctrl-C: every later search returns its first program.
  void End() { ended_ = true; }

  // True if no time is left. Ends the budget if `stop`, an observer's, is set; it may be null.
  bool IsOver(const std::atomic<bool>* stop) {
    if (stop != nullptr && stop->load(std::memory_order_relaxed)) End();
    return Left() == kNoTime;
  }

 private:
  static constexpr double kNoTime = 1e-9;  // seconds: the search returns its first program

  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  const double seconds_;
  bool ended_ = false;
};

}  // namespace kirsch

#endif  // KIRSCH_SYNTHESIS_SEARCH_BUDGET_H_
