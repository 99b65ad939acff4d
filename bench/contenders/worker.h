// SPDX-License-Identifier: Apache-2.0
// Runs a contender in a process of its own, so that environment variables, thread pools, crashes and loaded
// libraries stay in it.
//
// The process is forked before anything is loaded; a JIT-compiled kernel in the parent's memory comes along.
// It works only when it is asked to, and is stopped (SIGSTOP) at all other times: idle threads that spin must
// not disturb the next one.
//
//   parent:  SIGCONT, request  -->                                 --> answer, SIGSTOP
//   worker:                        load, prepare, run or measure
#ifndef KIRSCH_BENCH_CONTENDERS_WORKER_H_
#define KIRSCH_BENCH_CONTENDERS_WORKER_H_

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bench/machine/timer.h"
#include "bench/workload/contender.h"
#include "nlohmann/json_fwd.hpp"

namespace kirsch {

// All that a process needs to know from the start.
struct WorkerOptions {
  absl::Span<const Workload> workloads;  // placed; Prepare's items are their numbers
  std::vector<int> cpus;                 // one per thread
  Environment environment;               // on top of the settings of threads and pinning
  bool cold = false;                     // operands are evicted before every call
  // Further sets of weights of each workload (Rotated), which calls take in turn. Empty: there are none.
  absl::Span<const std::vector<Workload>> rotated = {};
};

// How many samples, and how long each.
struct MeasureOptions {
  int samples = 3;
  double min_seconds = 2e-3;  // of one sample
};

// A handle on the process; it ends the process when it is destroyed. Not thread-safe. Errors: Aborted when
// the process died or hung, which it does not survive; others are the contender's own.
class Worker {
 public:
  using Factory = std::function<std::unique_ptr<Contender>()>;

  Worker() = default;
  Worker(Worker&& other) noexcept;
  Worker& operator=(Worker&& other) noexcept;
  ~Worker();

  // Forks. The contender is made in the new process. The parent must have no OpenMP runtime loaded. Internal
  // on failure.
  static absl::StatusOr<Worker> Start(const Factory& factory, const WorkerOptions& options);

  // False before Start and after a death.
  bool alive() const { return pid_ > 0; }

  // As in Contender; Load comes first, and Prepare before RunOnce and Measure.
  absl::StatusOr<ContenderInfo> Load();
  absl::Status Prepare(size_t item, size_t method);

  // Makes one call, and returns its seconds.
  absl::StatusOr<double> RunOnce();

  // Warms up, then takes samples. For a preempted sample another one is taken, twice as many as asked for at
  // most. All are returned, the preempted ones too.
  absl::StatusOr<std::vector<Sample>> Measure(const MeasureOptions& options);

 private:
  // Sends a request and waits for the answer.
  absl::StatusOr<nlohmann::json> Ask(const nlohmann::json& request);
  // Reaps a process that has ended, or that hangs, and says how it died.
  absl::Status Bury(bool hung);
  void Kill();

  pid_t pid_ = -1;
  int socket_ = -1;
};

// Bytes of a request, and of an answer, at most.
inline constexpr size_t kMaxMessage = 1 << 16;

// Does what a worker's process does, and never returns. It pins the process just forked, sets its
// environment, and makes the contender. Then it answers one request at a time that comes through `socket`,
// until the other end closes. It dies with its parent.
[[noreturn]] void WorkerProcess(int socket, pid_t parent, const Worker::Factory& factory,
                                const WorkerOptions& options);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_CONTENDERS_WORKER_H_
