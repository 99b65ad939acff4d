// SPDX-License-Identifier: Apache-2.0
// What was measured beside what was predicted, drawn.
#ifndef KIRSCH_PAGE_PREDICTIONS_H_
#define KIRSCH_PAGE_PREDICTIONS_H_

#include <string>
#include <vector>

namespace kirsch {

// A program of some spec. What can't be drawn on a logarithmic axis (a cycle count of 0) is left out.
struct PredictedProgram {
  std::string spec;
  int group = 0;                       // by number
  double predicted = 0, measured = 0;  // cycles
  bool chosen = false;                 // by the model, of the spec's programs
};

// An SVG document: a dot for each program, measured over predicted cycles, both logarithmic, on its diagonal
// where the prediction is right; a colour for each of the named groups. Choices are drawn
// larger.
std::string PredictionsSvg(const std::vector<std::string>& groups,
                           const std::vector<PredictedProgram>& predictions);

}  // namespace kirsch

#endif  // KIRSCH_PAGE_PREDICTIONS_H_
