// SPDX-License-Identifier: Apache-2.0
// Computes how far a model's predictions agree with measurements: the figures of README.md. All functions are
// pure.
//
// An error of the prediction matters only if it changes the choice. So there are figures of three kinds: of
// the order of programs, of the time that the choice loses, and of the prediction itself.
//
//   program   predicted   measured      the choice is B, the best is A
//   A         120         100           Kendall's tau: (1 + 1 - 1) / 3 = 0.33, the pair A, B is in the wrong
//   order B         110         125           loss of the choice: 125 / 100 - 1 = 0.25; its share: 100 / 125
//   = 0.8 C         300         290           error of the choice: |110 - 125| / 125 = 0.12
#ifndef KIRSCH_FIDELITY_AGREEMENT_H_
#define KIRSCH_FIDELITY_AGREEMENT_H_

#include <cstddef>
#include <optional>
#include <vector>

namespace kirsch {

// A program with its predicted and its measured time, in one unit, both positive.
struct ComparedPrediction {
  double predicted = 0;
  double measured = 0;
  double noise = 0;  // a share of `measured`: no larger difference means anything
};

// Programs of one spec. Only programs of the same spec are ever compared.
using Predictions = std::vector<ComparedPrediction>;

// A smaller difference, as a share, is never taken for more than noise. A program so near to the best is as
// good.
inline constexpr double kLeastDifference = 0.01;

// Returns Kendall's rank correlation (1938), from -1 to 1. Pairs count whose measured times differ by more
// than the noise of either and by more than kLeastDifference. It is the number of pairs in the right order
// less those in the wrong one, over all of them. So a pair with equal predictions counts as half right.
// Nothing if no pair differs.
std::optional<double> KendallTau(const Predictions& programs);

// Returns the place of the program that the model would choose: the least predicted, of equal ones the first.
// `programs` must not be empty, here and below.
size_t Chosen(const Predictions& programs);

// Returns how much longer the choice takes than the best program, as a share of the best; 0 if the choice is
// the best.
double LossOfChoice(const Predictions& programs);

// Returns how much of the best program's speed the choice reaches: the best's measured time over its own, at
// most 1.
double ShareOfChoice(const Predictions& programs);

// Returns the tile-size APE of Kaufman et al., "A Learned Performance Model for Tensor Processing Units"
// (MLSys 2021), as a fraction: the sum over specs of |measured(choice) - measured(best)| over the sum of
// measured(best). Specs that take long count for more. 0 without specs.
double TileApe(const std::vector<Predictions>& specs);

// True if one of the first `count` programs by prediction is within kLeastDifference of the best. Of equal
// predictions the first program comes first. It tells whether to measure so many programs is enough.
bool BestWithinFirst(const Predictions& programs, size_t count);

// Returns the mean of |predicted - measured| / measured.
double MeanAbsoluteError(const Predictions& programs);

// Returns |predicted - measured| / measured of the choice alone.
double ErrorOfChoice(const Predictions& programs);

}  // namespace kirsch

#endif  // KIRSCH_FIDELITY_AGREEMENT_H_
