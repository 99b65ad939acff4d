// SPDX-License-Identifier: Apache-2.0
// The cost keys with which the model comes nearest to what was measured: one robust fit of all keys to all
// observations.
//
// It minimises the sum of two things: Huber's loss of (log predicted - log measured) / noise, over the
// observations; and the square of how far each key has gone from where it began, in units of
// CostKey::freedom. So a key that no observation depends on stays where it was.
// Method: iteratively reweighted least squares with Levenberg and Marquardt's damping (Nocedal and Wright,
// Numerical Optimization, chapter 10). Derivatives are differences, since the model is full of maxima. Keys
// that count something are moved one at a time in between.
#ifndef KIRSCH_CALIBRATE_FIT_H_
#define KIRSCH_CALIBRATE_FIT_H_

#include <vector>

#include "calibrate/cost_key.h"
#include "calibrate/observation.h"
#include "spec/target.h"

namespace kirsch {

struct KeyEstimate {
  double value = 0;
  double low = 0, high = 0;  // two standard deviations to either side
  bool fitted = false;       // false: the observations don't tell, so it has the value it had
};

struct Fit {
  Target target;
  std::vector<KeyEstimate> keys;       // in the order of the argument
  double error_before = 0, error = 0;  // median of |predicted / measured - 1|
};

struct FitOptions {
  double noise = 0.03;  // of a prediction that could not be better, beside the spread of the samples
  int workers = 1;      // threads; the result does not depend on them
};

// Deterministic. `start` has the keys' values before; nothing else of it changes.
Fit FitKeys(const Target& start, const std::vector<CostKey>& keys,
            const std::vector<Observation>& observations, const FitOptions& options);

// predicted / measured - 1 of each observation.
std::vector<double> ComputeErrors(const CostModel& model, const std::vector<Observation>& observations);

}  // namespace kirsch

#endif  // KIRSCH_CALIBRATE_FIT_H_
