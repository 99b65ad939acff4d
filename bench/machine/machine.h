// SPDX-License-Identifier: Apache-2.0
// The machine a number was measured on.
#ifndef KIRSCH_BENCH_MACHINE_MACHINE_H_
#define KIRSCH_BENCH_MACHINE_MACHINE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace kirsch {

struct CacheInfo {
  int level = 0;
  std::string type;  // "Data", "Unified"
  int64_t bytes = 0;
  int ways = 0;
  std::string shared_by;  // CPU numbers, as Linux lists them: "0-1"
};

struct Peak {
  std::string instruction;  // "fma", "vpdpbusd"
  int vector_bytes = 0;
  double gflops = 0;  // multiplications and additions, of all threads; 0: the CPU lacks it
};

struct Machine {
  std::string cpu;                // the model's name
  int cores = 0;                  // physical cores this process may use
  std::vector<CacheInfo> caches;  // data and unified ones of the first core used
  std::string kernel;             // "Linux 6.1.0"
  std::string compiler;           // the one that built this program and the peer plug-ins
  std::string hugepages;          // the system's policy for transparent huge pages
  std::vector<int> pinned;        // the CPUs the threads ran on
  // Measured, at the number of threads of the run:
  double ghz = 0;
  std::vector<Peak> peaks;
  double read_gbytes = 0;      // per second, from main memory
  double read_gbytes_one = 0;  // by one thread

  // The instruction at its best vector width; nothing measured: 0 GFLOP/s.
  Peak BestPeak(const std::string& instruction) const;
};

// CPUs for `threads` pinned threads: of those this process may use, one of each physical core before the
// second of any, and the first core (where interrupts usually arrive) last. InvalidArgument when there are
// too few.
absl::StatusOr<std::vector<int>> ChooseCpus(int threads);

// All but what is measured. A fact that Linux does not tell stays empty.
Machine DescribeMachine(const std::vector<int>& pinned);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_MACHINE_MACHINE_H_
