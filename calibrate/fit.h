// SPDX-License-Identifier: Apache-2.0
// Finds the cost keys with which the model comes nearest to what was measured: one robust fit of all keys to
// all observations.
//
// It minimises the sum of two things: Huber's loss of (log predicted - log measured) / noise, over the
// observations; and the square of how far each key has gone from where it began, in units of
// CostKey::freedom. So a key that no observation depends on stays where it was.
//
// The method is iteratively reweighted least squares with Levenberg and Marquardt's damping (Nocedal and
// Wright, Numerical Optimization, chapter 10). Derivatives are differences, since the model is full of
// maxima. Integer keys are moved one at a time in between.
//
//   predicted 1100, measured 1000, noise 0.05: the residual is log(1.1) / 0.05 = 1.9, and counts 2 * 1.5
//   * 1.9 - 1.5^2 freedom 0.7, key from 2 to 4 cycles:       it has gone log(4 / 2) / 0.7 = 0.99, and counts
//   0.98
#ifndef KIRSCH_CALIBRATE_FIT_H_
#define KIRSCH_CALIBRATE_FIT_H_

#include <vector>

#include "calibrate/cost_key.h"
#include "calibrate/observation.h"
#include "spec/target.h"

namespace kirsch {

// A key as the fit found it.
struct KeyEstimate {
  double value = 0;
  double low = 0, high = 0;  // two standard deviations to either side, within the key's range
  bool fitted = false;       // false: the observations don't tell, so it has the value it had
};

// The result for all keys.
struct Fit {
  Target target;
  std::vector<KeyEstimate> keys;       // in the order of the argument `keys`
  double error_before = 0, error = 0;  // median of |predicted / measured - 1|
};

// How the fit is made.
struct FitOptions {
  double noise = 0.03;  // of the best prediction, beside the spread of the samples
  int workers = 1;      // threads; the result does not depend on them
  // Values that the descent begins with; null: those of `start`, towards which keys are pulled in any case.
  const Target* begin = nullptr;
};

// Fits `keys` to `observations`. `start` has the values that keys are pulled towards, and begin with unless
// `options` say otherwise; `error_before` is theirs. Nothing else of it changes, except
// that no level ends up cheaper than a closer one. Deterministic, whatever the number of workers.
Fit FitKeys(const Target& start, const std::vector<CostKey>& keys,
            const std::vector<Observation>& observations, const FitOptions& options);

// Makes no level cheaper than one that is closer, in any respect. Otherwise relaxed specs would be no bounds
// (search/solver/relaxation.h), and the search slow. Where noise, or another source of the values, has turned
// two levels round, they are made equal.
Target Ordered(Target target);

// Returns predicted / measured - 1 of each observation: above 0 where the model predicts too much.
std::vector<double> ComputeErrors(const CostModel& model, const std::vector<Observation>& observations);

}  // namespace kirsch

#endif  // KIRSCH_CALIBRATE_FIT_H_
