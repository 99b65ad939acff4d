// A report for people to read.
#ifndef KIRSCH_BENCH_RESULTS_TABLE_H_
#define KIRSCH_BENCH_RESULTS_TABLE_H_

#include <string>

#include "bench/results/report.h"

namespace kirsch {

// One block per spec, its contenders fastest first, each with its ratio to the best peer; who is missing and
// why; the summary at the end. Ends with a newline.
std::string FormatTable(const BenchReport& report);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_RESULTS_TABLE_H_
