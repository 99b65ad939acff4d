// SPDX-License-Identifier: Apache-2.0
#include "fidelity/agreement.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kirsch {
namespace {

// True if the two programs surely take different times.
bool Differ(const ComparedPrediction& a, const ComparedPrediction& b) {
  const double noise = std::max(a.noise * a.measured, b.noise * b.measured);
  const double least = kLeastDifference * std::min(a.measured, b.measured);
  return std::abs(a.measured - b.measured) > std::max(noise, least);
}

int Sign(double value) { return (value > 0) - (value < 0); }

// Returns the least measured time.
double Best(const Predictions& programs) {
  double best = programs.front().measured;
  for (const ComparedPrediction& program : programs) best = std::min(best, program.measured);
  return best;
}

double ErrorOf(const ComparedPrediction& program) {
  return std::abs(program.predicted - program.measured) / program.measured;
}

}  // namespace

std::optional<double> KendallTau(const Predictions& programs) {
  int pairs = 0, score = 0;
  for (size_t i = 0; i < programs.size(); ++i)
    for (size_t j = 0; j < i; ++j) {
      const ComparedPrediction &a = programs[i], &b = programs[j];
      if (!Differ(a, b)) continue;
      ++pairs;
      score += Sign(a.predicted - b.predicted) * Sign(a.measured - b.measured);
    }
  if (pairs == 0) return std::nullopt;
  return static_cast<double>(score) / pairs;
}

size_t Chosen(const Predictions& programs) {
  const auto chosen = std::min_element(
      programs.begin(), programs.end(),
      [](const ComparedPrediction& a, const ComparedPrediction& b) { return a.predicted < b.predicted; });
  return static_cast<size_t>(chosen - programs.begin());
}

double LossOfChoice(const Predictions& programs) {
  return programs[Chosen(programs)].measured / Best(programs) - 1;
}

double ShareOfChoice(const Predictions& programs) { return 1 / (1 + LossOfChoice(programs)); }

double TileApe(const std::vector<Predictions>& specs) {
  double lost = 0, best = 0;
  for (const Predictions& programs : specs) {
    lost += programs[Chosen(programs)].measured - Best(programs);
    best += Best(programs);
  }
  return best > 0 ? lost / best : 0;
}

bool BestWithinFirst(const Predictions& programs, size_t count) {
  std::vector<size_t> order(programs.size());
  std::iota(order.begin(), order.end(), size_t{0});
  // Stable, so that of equal predictions the first program comes first.
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return programs[a].predicted < programs[b].predicted; });
  order.resize(std::min(count, order.size()));
  // Several programs may be as good as the best; any of them will do.
  const double enough = Best(programs) * (1 + kLeastDifference);
  return std::any_of(order.begin(), order.end(),
                     [&](size_t place) { return programs[place].measured <= enough; });
}

double MeanAbsoluteError(const Predictions& programs) {
  double sum = 0;
  for (const ComparedPrediction& program : programs) sum += ErrorOf(program);
  return sum / static_cast<double>(programs.size());
}

double ErrorOfChoice(const Predictions& programs) { return ErrorOf(programs[Chosen(programs)]); }

}  // namespace kirsch
