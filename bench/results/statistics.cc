// SPDX-License-Identifier: Apache-2.0
#include "bench/results/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "spec/check.h"

namespace kirsch {

double Quantile(std::vector<double> values, double fraction) {
  KIRSCH_CHECK(!values.empty());
  std::sort(values.begin(), values.end());
  // The first value has the position 0, the last one size - 1.
  const double position = fraction * static_cast<double>(values.size() - 1);
  const size_t below = static_cast<size_t>(position);
  const size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (position - static_cast<double>(below)) * (values[above] - values[below]);
}

double Median(const std::vector<double>& values) { return Quantile(values, 0.5); }

double Spread(const std::vector<double>& values) {
  return (Quantile(values, 0.75) - Quantile(values, 0.25)) / Median(values);
}

// By logarithms, so that the product of many values does not overflow.
double GeometricMean(const std::vector<double>& values) {
  if (values.empty()) return 0;
  double sum = 0;
  for (double value : values) sum += std::log(value);
  return std::exp(sum / static_cast<double>(values.size()));
}

}  // namespace kirsch
