// SPDX-License-Identifier: Apache-2.0
// Describes the machine a number was measured on, and chooses the CPUs that threads are pinned to.
#ifndef KIRSCH_BENCH_MACHINE_MACHINE_H_
#define KIRSCH_BENCH_MACHINE_MACHINE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace kirsch {

// A data or unified cache, as Linux describes it.
struct CacheInfo {
  int level = 0;
  std::string type;  // "Data", "Unified"
  int64_t bytes = 0;
  int ways = 0;
  std::string shared_by;  // CPU numbers, as Linux lists them: "0-1"
};

// The measured rate of one instruction at one vector width.
struct Peak {
  std::string instruction;  // "fma", "vpdpbusd"
  int vector_bytes = 0;
  double gflops = 0;  // multiplications and additions, of all threads; 0: the CPU lacks it
};

// The card of a machine, which each report carries.
struct Machine {
  std::string cpu;                // the model's name
  int cores = 0;                  // physical cores this process may use
  std::vector<CacheInfo> caches;  // data and unified ones of the first core used
  std::string kernel;             // "Linux 6.1.0"
  std::string compiler;           // the one that built this program and the peer plug-ins
  std::string hugepages;          // the system's policy for transparent huge pages
  std::vector<int> pinned;        // the CPUs the threads ran on
  // The rest is measured in the run, with its number of threads (harness/machine_limits.h).
  double ghz = 0;
  std::vector<Peak> peaks;
  double read_gbytes = 0;      // per second, from main memory
  double read_gbytes_one = 0;  // by one thread

  // Returns the instruction at its best vector width; 0 GFLOP/s if it was not measured.
  Peak BestPeak(const std::string& instruction) const;
};

// Returns CPUs for `threads` pinned threads, out of those this process may use. Each physical core gets one
// thread before any gets a second. Otherwise the last CPUs come first, as interrupts usually arrive at the
// first one. The same CPUs each time. InvalidArgument when there are too few.
//
//   CPUs 0-3, of which 0, 1 and 2, 3 share a core: 3, 1, 2, 0
absl::StatusOr<std::vector<int>> ChooseCpus(int threads);

// Returns the card without what is measured. A fact that Linux does not tell stays empty. `pinned` is not
// empty.
Machine DescribeMachine(const std::vector<int>& pinned);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_MACHINE_MACHINE_H_
