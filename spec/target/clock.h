// SPDX-License-Identifier: Apache-2.0
// The clock of the core that we run on, which no file tells where there is a hypervisor, or heat.
#ifndef KIRSCH_SPEC_TARGET_CLOCK_H_
#define KIRSCH_SPEC_TARGET_CLOCK_H_

namespace kirsch {

// Takes kClockCycles cycles on every CPU with AVX2.
void RunClockLoop();
inline constexpr double kClockCycles = 3.0 * (1 << 17);

// The highest clock in some twenty runs of the loop: whatever disturbs one only lowers it. Takes some 2 ms.
double MeasureGhz();

}  // namespace kirsch

#endif  // KIRSCH_SPEC_TARGET_CLOCK_H_
