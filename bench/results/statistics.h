// SPDX-License-Identifier: Apache-2.0
// The estimators of the benchmark: robust against the one-sided noise of a shared machine.
#ifndef KIRSCH_BENCH_RESULTS_STATISTICS_H_
#define KIRSCH_BENCH_RESULTS_STATISTICS_H_

#include <vector>

namespace kirsch {

// Linear interpolation between the two nearest order statistics; `fraction` in [0, 1], values not empty.
double Quantile(std::vector<double> values, double fraction);

double Median(const std::vector<double>& values);

// Interquartile range over the median.
double Spread(const std::vector<double>& values);

// Of positive values; 0 for none.
double GeometricMean(const std::vector<double>& values);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_RESULTS_STATISTICS_H_
