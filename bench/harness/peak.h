// SPDX-License-Identifier: Apache-2.0
// Measures what the machine's arithmetic can do at most: independent chains of one instruction on registers,
// for each instruction that a kernel may be made of. A chain of dependent instructions gives the core's
// clock.
//
// It is a contender like the others, so it is timed by the same code, on the same threads, in the same
// rounds. Twelve chains are enough: two ports, each with a latency of six cycles on the slowest CPU.
#ifndef KIRSCH_BENCH_HARNESS_PEAK_H_
#define KIRSCH_BENCH_HARNESS_PEAK_H_

#include <memory>
#include <span>

#include "bench/workload/contender.h"

namespace kirsch {

// One instruction at one vector width.
struct PeakMethod {
  const char* instruction;             // "vdpbf16ps"; "clock"
  int vector_bytes;                    // 0: the clock
  double work;                         // of one Run() and thread: operations, or cycles for the clock
  bool (*present)();                   // whether this CPU has it
  bool (*computes)(const Problem& p);  // whether a product of these types can be made of it
  void (*loop)();
};

// The methods of the contender, in its order.
std::span<const PeakMethod> PeakMethods();

// Makes the contender. Its Prepare() is Unimplemented for an instruction that the CPU lacks.
std::unique_ptr<Contender> MakePeakContender(int threads);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_HARNESS_PEAK_H_
