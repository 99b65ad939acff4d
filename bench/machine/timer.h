// SPDX-License-Identifier: Apache-2.0
// Takes a sample of a call's time that can be trusted. It runs in the contender's own process, on pinned
// threads.
//
// A sample is several calls. It has what Linux says of disturbances beside the time, so that callers can drop
// it.
#ifndef KIRSCH_BENCH_MACHINE_TIMER_H_
#define KIRSCH_BENCH_MACHINE_TIMER_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"

namespace kirsch {

// Returns CLOCK_MONOTONIC_RAW, which time synchronisation does not slow down or speed up.
double NowSeconds();

// The measurements of some calls, one after the other.
struct Sample {
  double seconds = 0;                // of one call
  double total_seconds = 0;          // of all calls of the sample
  double cpu_seconds = 0;            // the calling thread's own, over all calls
  int64_t involuntary_switches = 0;  // of all threads of the process
};

// True if something else ran in our place for long enough to matter. With one thread: it was switched out,
// and lost over half a per cent of its time. With several: more than one switch per 10 ms, as a thread that
// waits at a barrier costs nothing.
bool Preempted(const Sample& sample, int threads);

// Returns how many calls make a sample of at least `min_seconds`. It tries ever more calls, and thereby warms
// up.
int64_t CalibrateCalls(absl::FunctionRef<void()> call, double min_seconds);

// Times `calls` calls together, one after the other. Operands are as warm as the calls leave them.
Sample TimeWarm(absl::FunctionRef<void()> call, int64_t calls);

// Times each call on its own, with `memory` evicted from every cache before it. Only the calls' time counts.
// It makes as many calls as take `min_seconds`, one at least and 64 at most.
Sample TimeCold(absl::FunctionRef<void()> call, absl::Span<const absl::Span<const char>> memory,
                double min_seconds);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_MACHINE_TIMER_H_
