#include "fidelity/plot.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_format.h"
#include "page/chart.h"

namespace kirsch {
namespace {

void AddSpec(const MeasuredSpec& spec, XyChart* chart) {
  const std::string name = spec.text.substr(0, spec.text.find('\n'));
  const size_t choice = Choice(spec.predictions());
  for (size_t i = 0; i < spec.programs.size(); ++i) {
    const MeasuredProgram& program = spec.programs[i];
    chart->points.push_back(
        {program.predicted, program.cycles, Index(spec.level) - 1,
         absl::StrFormat("%s: %.0f predicted, %.0f measured", name, program.predicted, program.cycles),
         i == choice});
  }
}

}  // namespace

std::string ScatterSvg(const Corpus& corpus) {
  XyChart chart;
  chart.name = "Cycles, measured over predicted";
  chart.width = 720;
  chart.height = 720;
  for (Level level : {Level::kL1, Level::kL2, Level::kL3, Level::kRam})
    chart.series.push_back(absl::StrFormat("operands in %s", Name(level)));
  std::vector<double> cycles;
  for (const MeasuredSpec& spec : corpus.specs) {
    AddSpec(spec, &chart);
    for (const MeasuredProgram& program : spec.programs)
      cycles.insert(cycles.end(), {program.predicted, program.cycles});
  }
  chart.x = LogAxis("cycles predicted; large dots are what the model chooses", cycles);
  chart.y = LogAxis("cycles measured", cycles);
  chart.lines.push_back({chart.x.low, chart.y.low, chart.x.high, chart.y.high, "", true});
  return Document("Predictions", Svg(chart));
}

}  // namespace kirsch
