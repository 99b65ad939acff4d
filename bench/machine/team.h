// SPDX-License-Identifier: Apache-2.0
// Runs a task in a team of pinned threads with a cheap fork and join. OpenMP does it, in a plug-in
// (contenders/peers/team.cc says why).
#ifndef KIRSCH_BENCH_MACHINE_TEAM_H_
#define KIRSCH_BENCH_MACHINE_TEAM_H_

#include <cstddef>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

namespace kirsch {

// A team of `threads`. With one thread it is the caller, and nothing is loaded.
class Team {
 public:
  // Prepares a team of `threads`. NotFound when the plug-in is missing, which is needed only for more than
  // one thread.
  absl::Status Load(int threads);

  int threads() const { return threads_; }

  // Runs task(thread) for thread = 0 .. threads-1 at the same time; returns when all are done.
  void Run(absl::FunctionRef<void(size_t)> task) const;

  // Runs task(thread, phase) for all threads at the same time, phase after phase. A phase begins when all
  // threads have finished the one before it.
  void RunPhases(size_t phases, absl::FunctionRef<void(size_t, size_t)> task) const;

 private:
  // The function of the plug-in, which has a C interface.
  using RunFn = void(int threads, size_t phases, void (*task)(void*, size_t, size_t), void* argument);

  int threads_ = 1;
  RunFn* run_ = nullptr;
};

}  // namespace kirsch

#endif  // KIRSCH_BENCH_MACHINE_TEAM_H_
