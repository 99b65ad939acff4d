// SPDX-License-Identifier: Apache-2.0
#include "page/predictions.h"

#include "absl/strings/str_format.h"
#include "page/chart.h"

namespace kirsch {

std::string PredictionsSvg(const std::vector<std::string>& groups,
                           const std::vector<PredictedProgram>& predictions) {
  XyChart chart;
  chart.name = "Cycles, measured over predicted";
  chart.width = 720;
  chart.height = 720;
  chart.series = groups;
  std::vector<double> cycles;
  for (const PredictedProgram& one : predictions) {
    if (one.predicted <= 0 || one.measured <= 0) continue;
    // The text of a spec may have more lines than one; the first names it.
    const std::string name = one.spec.substr(0, one.spec.find('\n'));
    chart.points.push_back(
        {one.predicted, one.measured, one.group,
         absl::StrFormat("%s: %.0f predicted, %.0f measured", name, one.predicted, one.measured),
         one.chosen});
    cycles.insert(cycles.end(), {one.predicted, one.measured});
  }
  // Both axes have the range of all cycles, so the diagonal goes from corner to corner.
  chart.x = LogAxis("cycles predicted; large dots are what the model chooses", cycles);
  chart.y = LogAxis("cycles measured", cycles);
  chart.lines.push_back({chart.x.low, chart.y.low, chart.x.high, chart.y.high, "", true});
  return Document("Predictions", Svg(chart));
}

}  // namespace kirsch
