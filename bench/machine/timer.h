// SPDX-License-Identifier: Apache-2.0
// Taking one sample of a call's time that can be trusted. Runs in the contender's own process, on pinned
// threads.
#ifndef KIRSCH_BENCH_MACHINE_TIMER_H_
#define KIRSCH_BENCH_MACHINE_TIMER_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"

namespace kirsch {

// CLOCK_MONOTONIC_RAW: not slewed by time synchronisation.
double NowSeconds();

struct Sample {
  double seconds = 0;                // of one call
  double total_seconds = 0;          // of all calls of the sample
  double cpu_seconds = 0;            // the calling thread's own, over all calls
  int64_t involuntary_switches = 0;  // of all threads of the process
};

// Something else ran in our place for long enough to matter. One thread: it was switched out and lost over
// half a per cent of its time. Several: more than one switch per 10 ms (a thread that waits at a barrier
// costs nothing).
bool Preempted(const Sample& sample, int threads);

// How many calls make a sample of at least `min_seconds`, found by doubling.
int64_t CalibrateCalls(absl::FunctionRef<void()> call, double min_seconds);

// `calls` calls, one after the other.
Sample TimeWarm(absl::FunctionRef<void()> call, int64_t calls);

// Each call timed on its own, `memory` evicted from every cache before it; only the calls'
// time counts. As many calls as make `min_seconds`, 64 at most.
Sample TimeCold(absl::FunctionRef<void()> call, absl::Span<const absl::Span<const char>> memory,
                double min_seconds);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_MACHINE_TIMER_H_
