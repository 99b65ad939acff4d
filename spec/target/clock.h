// SPDX-License-Identifier: Apache-2.0
// Measures the clock of the core that the program runs on.
//
// No file tells it where there is a hypervisor, and heat lowers it below what the CPU's name promises.
// Predictions are cycles, so a report that compares them with seconds needs the clock.
#ifndef KIRSCH_SPEC_TARGET_CLOCK_H_
#define KIRSCH_SPEC_TARGET_CLOCK_H_

namespace kirsch {

// Takes kClockCycles cycles on every CPU with AVX2: a chain of multiplications, whose latency is the same on
// all.
void RunClockLoop();
inline constexpr double kClockCycles = 3.0 * (1 << 17);

// Returns the highest clock, in GHz, of some twenty runs of the loop. Interrupts and other threads only make
// a run look slower, so the highest one is nearest to the truth. Takes some 2 ms.
double MeasureGhz();

}  // namespace kirsch

#endif  // KIRSCH_SPEC_TARGET_CLOCK_H_
