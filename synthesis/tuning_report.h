// SPDX-License-Identifier: Apache-2.0
// Keeps what tuning measured of one spec or graph on one machine, as the table stores it (memo/FORMAT.md,
// `tuned`). So a later run can use the fastest program without measuring again.
#ifndef KIRSCH_SYNTHESIS_TUNING_REPORT_H_
#define KIRSCH_SYNTHESIS_TUNING_REPORT_H_

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kirsch {

// `chosen` is 0 if the predicted best is the fastest, or if noise decides between the fastest programs.
struct TuningReport {
  struct Program {
    std::string schedule;
    double predicted_cycles = 0;
    double seconds = 0, cycles = 0;  // medians of one call; 0: stopped before it was timed
    double spread = 0;               // of the cycles: interquartile range over median
  };
  std::string signature, spec;  // of the machine; the text of the spec, or the graph's name
  int threads = 1;
  bool cold = false;
  double ghz = 0;                 // the clock while it was measured, the median of the rounds
  size_t chosen = 0;              // an index into `programs`
  bool noise_decides = false;     // so the predicted best is chosen
  std::vector<Program> programs;  // at least one: the first is predicted best

  const Program& fastest() const { return programs[chosen]; }
  const Program& predicted() const { return programs.front(); }
  nlohmann::ordered_json ToJson() const;
  // One line for people, with both figures: of the fastest program, and of the predicted best.
  std::string Summary() const;

  // Reads what ToJson wrote. Nothing if the text is no such report, or if it chooses a program that it lacks.
  static std::optional<TuningReport> Parse(std::string_view json);
};

// True if another program than the predicted best was measured to be the fastest.
inline bool IsTuned(const std::optional<TuningReport>& report) { return report && report->chosen != 0; }

}  // namespace kirsch

#endif  // KIRSCH_SYNTHESIS_TUNING_REPORT_H_
