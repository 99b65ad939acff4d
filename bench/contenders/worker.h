// SPDX-License-Identifier: Apache-2.0
// A contender's own process. Environment variables, thread pools, crashes and loaded libraries stay in it. It
// is forked before anything is loaded (so a JIT-compiled kernel in the parent's memory comes along), works
// only when it is asked to, and is stopped (SIGSTOP) at all other times: idle threads that spin must not
// disturb the next one.
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

struct WorkerOptions {
  absl::Span<const Workload> workloads;  // placed; what Prepare's items are the numbers of
  std::vector<int> cpus;                 // one per thread
  Environment environment;               // on top of the settings of threads and pinning
  bool cold = false;
  // Of each workload further sets of weights (Rotated), which calls take in turn; empty: there are none.
  absl::Span<const std::vector<Workload>> rotated = {};
};

struct MeasureOptions {
  int samples = 3;
  double min_seconds = 2e-3;  // of one sample
};

// Not thread-safe. Errors: Aborted when the process died or hung (it is gone then); others are the
// contender's own.
class Worker {
 public:
  using Factory = std::function<std::unique_ptr<Contender>()>;

  Worker() = default;
  Worker(Worker&& other) noexcept;
  Worker& operator=(Worker&& other) noexcept;
  ~Worker();

  // Forks; the contender is made in the new process. The parent must have no OpenMP runtime loaded. Internal
  // on failure.
  static absl::StatusOr<Worker> Start(const Factory& factory, const WorkerOptions& options);

  bool alive() const { return pid_ > 0; }

  absl::StatusOr<ContenderInfo> Load();
  absl::Status Prepare(size_t item, size_t method);

  // One call; its seconds.
  absl::StatusOr<double> RunOnce();

  // Warms up, then takes samples. A preempted sample is taken again, up to once more for each asked for; all
  // are returned, the preempted ones too.
  absl::StatusOr<std::vector<Sample>> Measure(const MeasureOptions& options);

 private:
  absl::StatusOr<nlohmann::json> Ask(const nlohmann::json& request);
  absl::Status Bury(bool hung);
  void Kill();

  pid_t pid_ = -1;
  int socket_ = -1;
};

// Bytes of a request, and of an answer.
inline constexpr size_t kMaxMessage = 1 << 16;

// What runs in a worker's process: a loop that answers one request at a time.
//
// Takes over the process just forked: pins it, sets its environment, makes the contender, and obeys the
// requests that come through `socket` until the other end closes. Dies with its parent.
[[noreturn]] void WorkerProcess(int socket, pid_t parent, const Worker::Factory& factory,
                                const WorkerOptions& options);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_CONTENDERS_WORKER_H_
