// SPDX-License-Identifier: Apache-2.0
// What tuning measured of one spec or graph on one machine, as the table keeps it (memo/FORMAT.md, `tuned`).
#ifndef KIRSCH_SYNTHESIS_TUNING_REPORT_H_
#define KIRSCH_SYNTHESIS_TUNING_REPORT_H_

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kirsch {

struct TuningReport {
  struct Program {
    std::string schedule;
    double predicted_cycles = 0;
    double seconds = 0, cycles = 0;  // medians
    double spread = 0;               // interquartile range over median
  };
  std::string signature, spec;
  int threads = 1;
  bool cold = false;
  double ghz = 0;                 // the clock while it was measured
  size_t chosen = 0;              // of the programs
  bool noise_decides = false;     // so the predicted best is chosen
  std::vector<Program> programs;  // at least one: the first is predicted best

  const Program& fastest() const { return programs[chosen]; }
  const Program& predicted() const { return programs.front(); }
  nlohmann::ordered_json ToJson() const;
  // One line: both figures.
  std::string Summary() const;

  // Nothing if that is no such report.
  static std::optional<TuningReport> Parse(std::string_view json);
};

// Was another program than the predicted best measured to be the fastest?
inline bool IsTuned(const std::optional<TuningReport>& report) { return report && report->chosen != 0; }

}  // namespace kirsch

#endif  // KIRSCH_SYNTHESIS_TUNING_REPORT_H_
