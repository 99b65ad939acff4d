// What the machine can do at most: independent chains of vector FMAs on registers, and the core's clock. A
// contender like the others, so that it is timed by the same code, on the same threads, in the same rounds.
#ifndef KIRSCH_BENCH_PEAK_H_
#define KIRSCH_BENCH_PEAK_H_

#include <array>
#include <memory>

#include "bench/contender.h"

namespace kirsch {

struct PeakMethod {
  const char* name;
  int vector_bytes;  // 0: the clock
  double work;       // of one Run() and thread: floating-point operations, or cycles for the clock
};

inline constexpr double kPeakIterations = 1 << 17;  // of a loop, per Run(): long beside a fork and join
inline constexpr int kFmaChains = 12;  // 2 ports * 5 cycles of latency on the slowest CPU, and two more
inline constexpr double kMultiplyLatency = 3;  // cycles of a 32-bit imul, on every x86 CPU with AVX2

inline constexpr std::array<PeakMethod, 3> kPeakMethods = {{
    {"fma 256-bit", 32, kPeakIterations* kFmaChains * 2 * 8},
    {"fma 512-bit", 64, kPeakIterations* kFmaChains * 2 * 16},
    {"clock", 0, kPeakIterations* kMultiplyLatency},
}};

// Prepare() of a method that the CPU lacks is Unimplemented.
std::unique_ptr<Contender> MakePeakContender(int threads);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_PEAK_H_
