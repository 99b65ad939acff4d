// SPDX-License-Identifier: Apache-2.0
// A team of pinned threads with a cheap fork and join: OpenMP's, in a plug-in (see contenders/peers/team.cc
// for why).
#ifndef KIRSCH_BENCH_MACHINE_TEAM_H_
#define KIRSCH_BENCH_MACHINE_TEAM_H_

#include <cstddef>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

namespace kirsch {

class Team {
 public:
  // Makes ready a team of `threads`. NotFound when the plug-in is (only asked for when threads > 1).
  absl::Status Load(int threads);

  int threads() const { return threads_; }

  // Runs task(thread) for thread = 0 .. threads-1 at the same time; returns when all are done.
  void Run(absl::FunctionRef<void(size_t)> task) const;

  // Runs task(thread, phase) for all threads at the same time, phase after phase: all wait for each other in
  // between.
  void RunPhases(size_t phases, absl::FunctionRef<void(size_t, size_t)> task) const;

 private:
  using RunFn = void(int threads, size_t phases, void (*task)(void*, size_t, size_t), void* argument);

  int threads_ = 1;
  RunFn* run_ = nullptr;
};

}  // namespace kirsch

#endif  // KIRSCH_BENCH_MACHINE_TEAM_H_
