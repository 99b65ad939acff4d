// SPDX-License-Identifier: Apache-2.0
// How far a model's predictions agree with measurements. Pure functions.
#ifndef KIRSCH_FIDELITY_AGREEMENT_H_
#define KIRSCH_FIDELITY_AGREEMENT_H_

#include <cstddef>
#include <optional>
#include <vector>

namespace kirsch {

// A program: what it was predicted to take and what it takes, in one unit, both positive.
struct ComparedPrediction {
  double predicted = 0;
  double measured = 0;
  double noise = 0;  // a share of `measured`: differences that are no larger mean nothing
};

// Programs of one spec.
using Predictions = std::vector<ComparedPrediction>;

// Differences of less are never taken for more than noise; and a program so near to the best is as good.
inline constexpr double kLeastDifference = 0.01;

// Kendall's rank correlation (1938) over the pairs whose measured times differ by more than the noise of
// either and by more than kLeastDifference: pairs that are predicted in their order less those in the wrong
// one, over all of them. A pair that is predicted to take the same counts as half right. Nothing: no pair
// differs.
std::optional<double> KendallTau(const Predictions& programs);

// The place of what the model would choose: the least predicted, of equal ones the first. Not empty.
size_t Choice(const Predictions& programs);

// What the choice takes more than the best, as a share of the best.
double LossOfChoice(const Predictions& programs);

// What the choice reaches of the best: the best's measured time over its own, at most 1.
double ShareOfChoice(const Predictions& programs);

// The tile-size APE of Kaufman et al., "A Learned Performance Model for Tensor Processing Units" (MLSys
// 2021), as a fraction: the sum over specs of |measured(choice) - measured(best)| over the sum of
// measured(best). Specs that take long count for more. 0 without specs.
double TileApe(const std::vector<Predictions>& specs);

// Is one of the first `count` programs by prediction within kLeastDifference of the best? Of equal
// predictions the first program comes first.
bool BestWithinFirst(const Predictions& programs, size_t count);

// |predicted - measured| / measured, in the mean. Not empty.
double MeanAbsoluteError(const Predictions& programs);

// That of the choice alone.
double ErrorOfChoice(const Predictions& programs);

}  // namespace kirsch

#endif  // KIRSCH_FIDELITY_AGREEMENT_H_
