// SPDX-License-Identifier: Apache-2.0
// How fast main memory can be read at most: streams of vector loads over a buffer that no cache holds. A
// contender like the others (see peak.h).
#ifndef KIRSCH_BENCH_HARNESS_BANDWIDTH_H_
#define KIRSCH_BENCH_HARNESS_BANDWIDTH_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "bench/machine/machine.h"
#include "bench/workload/contender.h"

namespace kirsch {

// One way to read: as one thread or as all, in so many forward streams a thread, with software prefetch or
// not.
struct BandwidthMethod {
  int threads;
  int streams;
  bool prefetch;
};

// The methods of the contender for a run of `threads`, in its order.
std::vector<BandwidthMethod> BandwidthMethods(int threads);

// Bytes to read from: four times the last level of cache, at most 512 MiB (a virtual machine may show a cache
// that it shares with many others).
size_t BandwidthBufferBytes(const std::vector<CacheInfo>& caches);

// Bytes that one Run() by the method reads: some of the buffer, the next time those that follow.
size_t BandwidthBytesPerRun(const BandwidthMethod& method, size_t buffer_bytes);

std::unique_ptr<Contender> MakeBandwidthContender(int threads, size_t buffer_bytes);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_HARNESS_BANDWIDTH_H_
