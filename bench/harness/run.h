// SPDX-License-Identifier: Apache-2.0
// Runs the benchmark: every entry computed by our kernels and by the peers, one after the other.
//
// RunBench knows nothing of the search: callers pass functions that make kernels. Its steps are
//
//   operands in one arena -> kernels compiled -> a process for each contender -> for each entry: screening,
//   rounds -> report
#ifndef KIRSCH_BENCH_HARNESS_RUN_H_
#define KIRSCH_BENCH_HARNESS_RUN_H_

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/results/report.h"
#include "bench/workload/entries.h"
#include "codegen/kernel.h"
#include "spec/target/host.h"

namespace kirsch {

// Makes the kernel of an entry for the request's threads, with the workload's operands as its tensors. An
// error says why there is none: NotFound if this machine lacks what makes any.
using KernelMaker = std::function<absl::StatusOr<Kernel>(const BenchEntry& entry)>;

// Special value of `sets` below, and the most that it stands for.
inline constexpr int kBeyondCaches = 0, kMostSets = 256;

// Says what is measured, against whom, and how.
struct BenchRequest {
  std::vector<BenchEntry> entries;      // all matmuls, or all graphs (see MakeAlike)
  std::vector<std::string> peers = {};  // names as in --against
  KernelMaker ours = {};
  // Makers of the peers that are kernels of ours made in another way: kPartsPeer, and those that
  // IsHeaderPeer.
  std::map<std::string, KernelMaker> made = {};
  std::vector<std::string> features = ReadHost().features;  // of the CPU, which peers' kernels may need
  std::string peers_isa = {};  // that `features` are limited to, for the report; empty: they are not
  int threads = 1;
  bool cold = false;               // operands evicted before every call, those that entries say
  std::string cold_operands = {};  // as they are called, for the report; empty: all
  // Sets of weights (workload.h) that calls take in turn. 1: there is one. kBeyondCaches: so many that the
  // last cache does not hold them, kMostSets at most.
  int sets = 1;
  double tolerance = 1;  // results of graphs may be so many times further off than what is usual
  std::function<void(std::string_view)> progress = {};  // told what is being done, one line each
};

// Returns a report with what is known before anything is measured: the machine, and how it will be measured.
// InvalidArgument if there are too few CPUs.
absl::StatusOr<BenchReport> StartReport(const BenchRequest& request);

// Measures every entry. A peer that is missing or fails, and a kernel of ours that can't be made, are part of
// the report. Forks: the caller's process must not have an OpenMP runtime loaded. Call from one thread at a
// time. Errors:
//
//   - a library that is named by its path and can't be loaded;
//   - the first reason, if no kernel of ours can be made;
//   - Cancelled and Internal, at once;
//   - InvalidArgument for a request that makes no sense;
//   - ResourceExhausted when the operands do not fit in memory.
absl::StatusOr<BenchReport> RunBench(const BenchRequest& request);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_HARNESS_RUN_H_
