// SPDX-License-Identifier: Apache-2.0
#include "synthesis/tuning_report.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_format.h"

namespace kirsch {

using nlohmann::ordered_json;

ordered_json TuningReport::ToJson() const {
  ordered_json all = ordered_json::array();
  for (const Program& program : programs)
    all.push_back({{"schedule", program.schedule},
                   {"predicted_cycles", program.predicted_cycles},
                   {"seconds", program.seconds},
                   {"cycles", program.cycles},
                   {"spread", program.spread}});
  return {{"signature", signature},
          {"spec", spec},
          {"threads", threads},
          {"cold", cold},
          {"ghz", ghz},
          {"chosen", chosen},
          {"noise_decides", noise_decides},
          {"programs", std::move(all)}};
}

std::string TuningReport::Summary() const {
  const Program &own = fastest(), &best = predicted();
  std::string text = absl::StrFormat("tuned on this machine, %d programs: ", programs.size());
  if (chosen != 0)
    absl::StrAppendFormat(
        &text,
        "the fastest takes %.4g us (%.0f cycles, %.0f predicted), the predicted best %.4g us (%.0f, %.0f)",
        1e6 * own.seconds, own.cycles, own.predicted_cycles, 1e6 * best.seconds, best.cycles,
        best.predicted_cycles);
  else
    absl::StrAppendFormat(
        &text, "%s; it takes %.4g us (%.0f cycles, %.0f predicted)",
        noise_decides ? "noise decides, so the predicted best stays" : "the predicted best is the fastest",
        1e6 * best.seconds, best.cycles, best.predicted_cycles);
  return text;
}

std::optional<TuningReport> TuningReport::Parse(std::string_view json) {
  const ordered_json parsed = ordered_json::parse(json, nullptr, /*allow_exceptions=*/false);
  // `at` throws where a key is missing or has another type.
  try {
    TuningReport report;
    report.signature = parsed.at("signature");
    report.spec = parsed.at("spec");
    report.threads = parsed.at("threads");
    report.cold = parsed.at("cold");
    report.ghz = parsed.at("ghz");
    report.chosen = parsed.at("chosen");
    report.noise_decides = parsed.at("noise_decides");
    for (const ordered_json& program : parsed.at("programs"))
      report.programs.push_back({program.at("schedule"), program.at("predicted_cycles"),
                                 program.at("seconds"), program.at("cycles"), program.at("spread")});
    if (report.chosen >= report.programs.size()) return std::nullopt;
    return report;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

}  // namespace kirsch
