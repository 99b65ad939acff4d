#include "calibrate/calibration.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "absl/strings/str_format.h"
#include "spec/level.h"
#include "spec/target/target_json.h"
#include "spec/text/cat.h"
#include "spec/text/json.h"

namespace kirsch {
namespace {

using nlohmann::ordered_json;

// Four digits: what is beyond is noise.
double Rounded(double value) {
  if (value == 0) return 0;
  const double unit = std::pow(10, std::floor(std::log10(std::abs(value))) - 3);
  return std::round(value / unit) * unit;
}

}  // namespace

std::string PrintCalibration(const Calibration& calibration) {
  ordered_json json = ordered_json::parse(PrintTarget(calibration.target));
  ordered_json about = {{"date", calibration.date},
                        {"signature", calibration.signature},
                        {"base", calibration.base},
                        {"problems", calibration.problems},
                        {"programs", calibration.programs},
                        {"recalled", calibration.recalled},
                        {"error_before", Rounded(calibration.error_before)},
                        {"error", Rounded(calibration.error)},
                        {"error_of_new", Rounded(calibration.error_of_new)},
                        {"seconds", Rounded(calibration.seconds)},
                        {"waited_seconds", Rounded(calibration.waited_seconds)},
                        {"interference", calibration.interference}};
  for (const CalibratedKey& key : calibration.keys)
    about["keys"][key.name] = {{"value", key.value},
                               {"before", key.before},
                               {"low", Rounded(key.low)},
                               {"high", Rounded(key.high)},
                               {"origin", Name(key.origin)}};
  json["calibration"] = about;
  return json.dump(2) + "\n";
}

std::string Summarize(const Calibration& calibration) {
  std::string text =
      absl::StrFormat("%-40s %10s %10s  %-19s %s\n", "key", "before", "now", "interval", "origin");
  for (const CalibratedKey& key : calibration.keys) {
    if (key.origin != Origin::kMeasured && key.origin != Origin::kFitted) continue;
    absl::StrAppendFormat(&text, "%-40s %10.4g %10.4g  %-19s %s\n", key.name, key.before, key.value,
                          absl::StrFormat("%.3g to %.3g", key.low, key.high), std::string(Name(key.origin)));
  }
  absl::StrAppendFormat(
      &text,
      "%d programs of %d problems in %.0f s; what the model chooses is off by %.1f %% in the "
      "median, before by %.1f %%; new choices, before they were measured, by %.1f %%\n",
      calibration.programs, calibration.problems, calibration.seconds, 100 * calibration.error,
      100 * calibration.error_before, 100 * calibration.error_of_new);
  if (calibration.recalled != 0)
    absl::StrAppendFormat(&text, "%d of the programs are of a table, measured before\n",
                          calibration.recalled);
  if (!calibration.interference.empty())
    absl::StrAppendFormat(&text, "interference: %s; waited %.0f s for it to pass\n", calibration.interference,
                          calibration.waited_seconds);
  return text;
}

std::string DrawCalibration(const Calibration& calibration) {
  return PredictionsSvg({kLevelNames.begin(), kLevelNames.end()}, calibration.predictions);
}

absl::StatusOr<double> PromisedError(std::string_view text, std::string_view file) {
  const absl::StatusOr<JsonValue> document = ParseJson(text, file);
  if (!document.ok()) return document.status();
  const JsonValue* const about = document->Find("calibration");
  const JsonValue* const error = about == nullptr ? nullptr : about->Find("error");
  if (error == nullptr) return absl::NotFoundError(Cat(file, " is not of a calibration"));
  if (error->kind != JsonValue::Kind::kNumber || !(error->number >= 0))
    return ExpectedAt(file, *error, "a share");
  return error->number;
}

}  // namespace kirsch
