// A bar plot of a report.
#ifndef KIRSCH_BENCH_RESULTS_PLOT_H_
#define KIRSCH_BENCH_RESULTS_PLOT_H_

#include <string>

#include "bench/results/report.h"

namespace kirsch {

// An SVG document: GFLOP/s, one group of bars per spec, one colour per contender (ours first), a line at the
// measured peak. Wrong results have no bar.
std::string PlotSvg(const BenchReport& report);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_RESULTS_PLOT_H_
