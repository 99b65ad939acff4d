// SPDX-License-Identifier: Apache-2.0
// Times many kernels of one problem side by side, to tell which of our own programs is the fastest, and how
// far off a prediction was. (run.h compares ours with other libraries, each in a process of its own.)
//
// Kernels take turns, so that a drift of the clock hits all alike. Before and after each round the core is
// looked at. Rounds in which somebody else used the core are made again.
#ifndef KIRSCH_BENCH_HARNESS_TRIALS_H_
#define KIRSCH_BENCH_HARNESS_TRIALS_H_

#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/loops/compiled_loops.h"
#include "bench/workload/workload.h"
#include "codegen/kernel.h"

namespace kirsch {

// How kernels are timed.
struct TrialOptions {
  int rounds = 5;  // of all kernels, one after the other; up to thrice as many where some are disturbed
  double min_seconds = 1e-3;  // of a sample, of which a round takes one a kernel
  // The most FMAs of 32 bytes a cycle that the core is known to do. In a round in which it does clearly less,
  // somebody shares the physical core, which no clock and no counter tells. 0: not known, so the best round
  // counts.
  double peak = 0;
  int threads = 1;
  bool cold = false;                     // operands evicted before every call
  const CompiledLoops* loops = nullptr;  // what the result of a graph is compared with
  double tolerance = 1;                  // results of a graph may be so many times further off than usual
  std::function<bool()> stop = {};       // asked between samples; true ends the trials with what there is
};

// The measurements of one kernel. There are no samples if the trials were stopped before its turn.
struct Trial {
  std::vector<double> seconds;  // of one call, by sample; disturbed ones only if there are hardly others
  std::vector<double> cycles;   // the same by the clock that was measured in the same round
  bool correct = true;          // the first call's result; always true of a graph without `loops`
  bool disturbed = false;       // so many samples were disturbed that they had to be used

  double MedianSeconds() const;
  double MedianCycles() const;
  // Returns the first quartile: noise, which only ever slows down, has left these samples alone.
  double QuietCycles() const;
  double Spread() const;  // of the cycles: interquartile range over median
};

// The measurements of all kernels, with the state of the core.
struct Trials {
  std::vector<Trial> of;     // the kernels, in their order
  std::vector<double> ghz;   // the clock in each round
  std::vector<double> peak;  // FMAs of 32 bytes a cycle in each round
  double best_peak = 0;      // the most of them, where the clock could be told
};

// Times the kernels in rounds A B C ... A B C ... in a process of their own, pinned, on the same physical
// memory. `workload` says what they compute and is not yet placed.
//
// Errors are those of the process: Aborted if it died, as when a kernel crashes; ResourceExhausted without
// memory. Forks: the caller's process must not have an OpenMP runtime loaded. Call from one thread at a time.
absl::StatusOr<Trials> RunTrials(Workload workload, const std::vector<Kernel>& kernels,
                                 const TrialOptions& options);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_HARNESS_TRIALS_H_
