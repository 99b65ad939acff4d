// SPDX-License-Identifier: Apache-2.0
// One that computes what is asked for: a kernel of ours, a peer, or the measured peak. Lives in a worker
// process of its own (see worker.h): everything below happens there, nothing in the benchmark's parent
// process.
#ifndef KIRSCH_BENCH_WORKLOAD_CONTENDER_H_
#define KIRSCH_BENCH_WORKLOAD_CONTENDER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "bench/workload/workload.h"

namespace kirsch {

// "VAR=VALUE" settings of a process.
using Environment = std::vector<std::string>;

struct ContenderInfo {
  std::string name;                       // "openblas 0.3.21"
  std::string core;                       // the kernels it takes: "SkylakeX"; empty when it does not say
  std::vector<std::string> methods;       // ways to ask it: {"cblas_sgemm", "cblas_sgemv"}
  std::vector<std::string> alternatives;  // settings worth trying, each in a process of its own
};

class Contender {
 public:
  virtual ~Contender() = default;

  // Called once, first. NotFound: it is not on this machine.
  virtual absl::StatusOr<ContenderInfo> Load() = 0;

  // Makes ready to run `workload` (which is placed, and outlives the use) by one of the methods.
  // Unimplemented: the method does not take this one. `item` is its number in the request.
  virtual absl::Status Prepare(const Workload& workload, size_t item, size_t method) = 0;

  // Memory beside the operands that every run reads: packed operands. Cold runs find it cold, too.
  virtual std::vector<absl::Span<const char>> Own() const { return {}; }

  // What is timed.
  virtual void Run() = 0;
};

}  // namespace kirsch

#endif  // KIRSCH_BENCH_WORKLOAD_CONTENDER_H_
