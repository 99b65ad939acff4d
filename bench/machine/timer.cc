// SPDX-License-Identifier: Apache-2.0
#include "bench/machine/timer.h"

#include <cpuid.h>
#include <immintrin.h>
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <cmath>

namespace kirsch {
namespace {

constexpr size_t kLineBytes = 64;
// Calls of a cold sample, at most.
constexpr int kMaxColdCalls = 64;

double Seconds(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

int64_t InvoluntarySwitches() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_nivcsw;
}

// Measures a stretch of calls from its construction to End. Time is read last at the beginning and first at
// the end, so that reading the other counters does not count.
class Stretch {
 public:
  Stretch()
      : switches_(InvoluntarySwitches()), cpu_(Seconds(CLOCK_THREAD_CPUTIME_ID)), start_(NowSeconds()) {}

  Sample End() const {
    Sample sample;
    sample.total_seconds = NowSeconds() - start_;
    sample.cpu_seconds = Seconds(CLOCK_THREAD_CPUTIME_ID) - cpu_;
    sample.involuntary_switches = InvoluntarySwitches() - switches_;
    return sample;
  }

 private:
  int64_t switches_;
  double cpu_;
  double start_;
};

// Flushes of CLFLUSHOPT need not wait for each other.
bool HasClflushopt() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 && (ebx & bit_CLFLUSHOPT) != 0;
}

// The attribute lets this file be compiled for CPUs without the instruction; the caller asks first.
__attribute__((target("clflushopt"))) void FlushOptimised(const char* begin, const char* end) {
  for (const char* line = begin; line < end; line += kLineBytes) _mm_clflushopt(const_cast<char*>(line));
}

void FlushPlain(const char* begin, const char* end) {
  for (const char* line = begin; line < end; line += kLineBytes) _mm_clflush(line);
}

// Evicts the lines of `memory` from all caches.
void Flush(absl::Span<const char> memory) {
  // Asked once per process.
  static const bool optimised = HasClflushopt();
  const char* begin = memory.data();
  const char* end = begin + memory.size();
  optimised ? FlushOptimised(begin, end) : FlushPlain(begin, end);
  // The call that is timed must not begin before all flushes are done.
  _mm_mfence();
}

}  // namespace

double NowSeconds() { return Seconds(CLOCK_MONOTONIC_RAW); }

bool Preempted(const Sample& sample, int threads) {
  // Without a switch nothing ran in our place.
  if (sample.involuntary_switches == 0) return false;
  // The time of the calling thread tells nothing of the others, so switches are counted.
  if (threads > 1) return static_cast<double>(sample.involuntary_switches) > sample.total_seconds / 10e-3;
  return sample.total_seconds - sample.cpu_seconds > 0.005 * sample.total_seconds;
}

int64_t CalibrateCalls(absl::FunctionRef<void()> call, double min_seconds) {
  for (int64_t calls = 1;;) {
    const double seconds = TimeWarm(call, calls).total_seconds;
    if (seconds >= min_seconds) return calls;
    // Near enough to extrapolate: a tenth on top, so that samples seldom fall short.
    if (seconds > min_seconds / 8)
      return static_cast<int64_t>(std::ceil(1.1 * static_cast<double>(calls) * min_seconds / seconds));
    // Too short to extrapolate from.
    calls *= 4;
  }
}

Sample TimeWarm(absl::FunctionRef<void()> call, int64_t calls) {
  const Stretch stretch;
  for (int64_t i = 0; i < calls; ++i) call();
  Sample sample = stretch.End();
  sample.seconds = sample.total_seconds / static_cast<double>(calls);
  return sample;
}

Sample TimeCold(absl::FunctionRef<void()> call, absl::Span<const absl::Span<const char>> memory,
                double min_seconds) {
  Sample sum;
  int calls = 0;
  // At least one call, however long it takes.
  while (calls == 0 || (sum.total_seconds < min_seconds && calls < kMaxColdCalls)) {
    for (absl::Span<const char> part : memory) Flush(part);
    const Sample one = TimeWarm(call, 1);
    sum.total_seconds += one.total_seconds;
    sum.cpu_seconds += one.cpu_seconds;
    sum.involuntary_switches += one.involuntary_switches;
    ++calls;
  }
  sum.seconds = sum.total_seconds / calls;
  return sum;
}

}  // namespace kirsch
