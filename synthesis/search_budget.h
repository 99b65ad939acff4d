// SPDX-License-Identifier: Apache-2.0
// Time for searches one after another.
#ifndef KIRSCH_SYNTHESIS_SEARCH_BUDGET_H_
#define KIRSCH_SYNTHESIS_SEARCH_BUDGET_H_

#include <algorithm>
#include <chrono>

namespace kirsch {

class SearchBudget {
 public:
  // Seconds from now on; 0: no limit.
  explicit SearchBudget(double seconds) : seconds_(seconds) {}

  // For the next search: what is left, as SolveArguments::time_budget.
  double Left() const {
    if (ended_) return kNoTime;
    if (seconds_ == 0) return 0;
    const std::chrono::duration<double> used = std::chrono::steady_clock::now() - start_;
    return std::max(seconds_ - used.count(), kNoTime);
  }

  // From now on, every search returns its first program.
  void End() { ended_ = true; }

 private:
  static constexpr double kNoTime = 1e-9;  // seconds: the search returns its first program

  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  const double seconds_;
  bool ended_ = false;
};

}  // namespace kirsch

#endif  // KIRSCH_SYNTHESIS_SEARCH_BUDGET_H_
