// SPDX-License-Identifier: Apache-2.0
// Draws what was measured over what was predicted, to show how good the cost model is. Corpora (fidelity/)
// and calibrations (calibrate/) draw their programs so.
#ifndef KIRSCH_PAGE_PREDICTIONS_H_
#define KIRSCH_PAGE_PREDICTIONS_H_

#include <string>
#include <vector>

namespace kirsch {

// A program of some spec. It is left out if one of its cycle counts is 0 or less, which has no place on a
// logarithmic axis.
struct PredictedProgram {
  std::string spec;
  int group = 0;                       // by number
  double predicted = 0, measured = 0;  // cycles
  bool chosen = false;                 // by the model, of the spec's programs
};

// Draws an SVG file with a dot for each program: measured over predicted cycles, both logarithmic. Each of
// the named groups has a colour. Choices are drawn larger.
//
// A dot on the dashed diagonal is a right prediction; above it, the program is slower than predicted:
//   measured |    o    /
//            |       /
//            |     /   o
//            +------------ predicted
std::string PredictionsSvg(const std::vector<std::string>& groups,
                           const std::vector<PredictedProgram>& predictions);

}  // namespace kirsch

#endif  // KIRSCH_PAGE_PREDICTIONS_H_
