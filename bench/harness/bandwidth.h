// SPDX-License-Identifier: Apache-2.0
// Measures how fast main memory can be read at most: streams of vector loads over a buffer that no cache
// holds.
//
// It is a contender like the others (see peak.h). The best of its methods is what a memory-bound kernel could
// reach.
#ifndef KIRSCH_BENCH_HARNESS_BANDWIDTH_H_
#define KIRSCH_BENCH_HARNESS_BANDWIDTH_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "bench/machine/machine.h"
#include "bench/workload/contender.h"

namespace kirsch {

// One way to read: by one thread or by all, in so many forward streams a thread, with software prefetch or
// without. Which one is the fastest depends on the CPU, so all are tried.
struct BandwidthMethod {
  int threads;
  int streams;
  bool prefetch;
};

// Returns the contender's methods for a run of `threads`, in its order. Methods of one thread are always
// among them.
std::vector<BandwidthMethod> BandwidthMethods(int threads);

// Returns the bytes to read from: four times the largest cache, 64 MiB at least and 512 MiB at most. A
// virtual machine may show a cache that it shares with many others.
size_t BandwidthBufferBytes(const std::vector<CacheInfo>& caches);

// Returns the bytes that one Run() by the method reads. The next Run() reads the part of the buffer that
// follows.
size_t BandwidthBytesPerRun(const BandwidthMethod& method, size_t buffer_bytes);

// The buffer is allocated in the worker's process, when the contender is loaded.
std::unique_ptr<Contender> MakeBandwidthContender(int threads, size_t buffer_bytes);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_HARNESS_BANDWIDTH_H_
