// SPDX-License-Identifier: Apache-2.0
// Computes the estimators of the benchmark. They are robust against the noise of a shared machine, which only
// ever slows down.
#ifndef KIRSCH_BENCH_RESULTS_STATISTICS_H_
#define KIRSCH_BENCH_RESULTS_STATISTICS_H_

#include <vector>

namespace kirsch {

// Returns the value below which `fraction` of the values are, interpolated between the two nearest ones.
// `fraction` is in [0, 1]; values must not be empty, here and below. The quantile 0.25 of 1, 2, 4, 8 is 1.75.
double Quantile(std::vector<double> values, double fraction);

// The quantile 0.5: half of the samples may be disturbed without a large effect.
double Median(const std::vector<double>& values);

// Returns the interquartile range over the median: 0.02 is 2 %.
double Spread(const std::vector<double>& values);

// Returns the geometric mean of positive values; 0 for none. Ratios of 2 and of 1/2 have a mean of 1.
double GeometricMean(const std::vector<double>& values);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_RESULTS_STATISTICS_H_
