// SPDX-License-Identifier: Apache-2.0
#include "spec/target/clock.h"

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace kirsch {
namespace {

constexpr int64_t kMultiplyLatency = 3;  // cycles of a 32-bit imul, on every x86 CPU with AVX2
constexpr int kRuns = 20;

}  // namespace

// Each multiplication needs the result of the one before, so the loop takes its latency and nothing less. It
// is no addition, as newer CPUs fold chains of additions away. `volatile` keeps the compiler from doing so.
void RunClockLoop() {
  constexpr auto kIterations = static_cast<int64_t>(kClockCycles) / kMultiplyLatency;
  uint32_t value = 3;
  for (int64_t i = 0; i < kIterations; ++i) asm volatile("imul %0, %0" : "+r"(value)::"cc");
}

double MeasureGhz() {
  using Clock = std::chrono::steady_clock;
  double ghz = 0;
  for (int run = 0; run < kRuns; ++run) {
    const auto start = Clock::now();
    RunClockLoop();
    // Cycles by nanoseconds are GHz.
    ghz =
        std::max(ghz, kClockCycles / std::chrono::duration<double, std::nano>(Clock::now() - start).count());
  }
  return ghz;
}

}  // namespace kirsch
