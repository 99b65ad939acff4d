// SPDX-License-Identifier: Apache-2.0
// Defines a contender: one that computes what is asked for, and is timed. It is a kernel of ours, a peer, or
// the measured peak.
//
// A contender lives in a worker process of its own (contenders/worker.h). Everything below happens there,
// nothing in the benchmark's parent process. The calls come in this order: Load once, then for each problem
// Prepare and many Runs.
#ifndef KIRSCH_BENCH_WORKLOAD_CONTENDER_H_
#define KIRSCH_BENCH_WORKLOAD_CONTENDER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "bench/workload/workload.h"

namespace kirsch {

// Settings of a process, "VAR=VALUE" each.
using Environment = std::vector<std::string>;

// A contender says this of itself when it has been loaded.
struct ContenderInfo {
  std::string name;                       // "openblas 0.3.21"
  std::string core;                       // the kernels it takes: "SkylakeX"; empty when it does not say
  std::vector<std::string> methods;       // ways to ask it: {"cblas_sgemm", "cblas_sgemv"}
  std::vector<std::string> alternatives;  // settings worth trying, each in a process of its own
};

// The interface. A process calls it from one thread.
class Contender {
 public:
  virtual ~Contender() = default;

  // Called once, before anything else. NotFound: it is not on this machine.
  virtual absl::StatusOr<ContenderInfo> Load() = 0;

  // Prepares to run `workload` by one of the methods; whatever a user does once belongs here and is not
  // timed. The workload is placed, and outlives the use. `item` is its number in the request. Unimplemented:
  // the method does not take this problem, which is no failure.
  virtual absl::Status Prepare(const Workload& workload, size_t item, size_t method) = 0;

  // Returns memory that every run reads beside the operands: packed operands. It is evicted before cold runs,
  // too.
  virtual std::vector<absl::Span<const char>> Own() const { return {}; }

  // Computes the result once. This is what is timed.
  virtual void Run() = 0;
};

}  // namespace kirsch

#endif  // KIRSCH_BENCH_WORKLOAD_CONTENDER_H_
