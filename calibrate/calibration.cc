// SPDX-License-Identifier: Apache-2.0
#include "calibrate/calibration.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "absl/strings/str_format.h"
#include "spec/level.h"
#include "spec/target/target_json.h"
#include "spec/text/cat.h"
#include "spec/text/json.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

using nlohmann::ordered_json;

// Rounds to four digits: more would be noise.
double Rounded(double value) {
  if (value == 0) return 0;
  const double unit = std::pow(10, std::floor(std::log10(std::abs(value))) - 3);
  return std::round(value / unit) * unit;
}

// Names the keys that stayed as in the base: "memory.*", or "everything". An empty prefix matches all keys.
std::string Described(const std::vector<std::string_view>& kept) {
  std::string text;
  for (std::string_view prefix : kept)
    text += Cat(text.empty() ? "" : ", ", prefix.empty() ? "everything" : Cat(prefix, "*"));
  return text;
}

// Prints times with those of their groups: "0.930 of the time (odd f32 0.85, f32 0.98)".
std::string Described(const HeldOutTimes& times) {
  std::string groups;
  for (const GroupTime& group : times.groups)
    absl::StrAppendFormat(&groups, "%s%s %.2f", groups.empty() ? "" : ", ", group.group, group.time);
  return absl::StrFormat("%.3f of the time (%s)", times.time, groups);
}

// Says in one line whether the fitted constants were kept, and why. Empty if nothing was held out.
std::string Described(const Calibration::HeldOut& held_out) {
  if (held_out.fitted.problems == 0) return "";
  std::string text = absl::StrFormat(
      "%d problem%s held out of the fit: what the fitted constants choose takes %s of what "
      "the ones before chose",
      held_out.fitted.problems, held_out.fitted.problems == 1 ? "" : "s", Described(held_out.fitted));
  if (!held_out.kept.empty())
    absl::StrAppendFormat(&text, "; so %s is kept as it was, which makes that %s", Described(held_out.kept),
                          Described(held_out.taken));
  return Cat(text, "\n");
}

// The key "held_out" of the file. Groups are those of the candidate that was taken.
ordered_json ToJson(const Calibration::HeldOut& held_out) {
  ordered_json json = {{"problems", held_out.fitted.problems},
                       {"time_fitted", Rounded(held_out.fitted.time)},
                       {"time", Rounded(held_out.taken.time)},
                       {"error", Rounded(held_out.taken.error)},
                       {"kept", Described(held_out.kept)}};
  for (const GroupTime& group : held_out.taken.groups)
    json["groups"][group.group] = {{"problems", group.problems}, {"time", Rounded(group.time)}};
  return json;
}

}  // namespace

std::string PrintCalibration(const Calibration& calibration) {
  // The file begins as any target file, so every reader of targets can read it.
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
                        {"held_out", ToJson(calibration.held_out)},
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
    // Keys of which nothing was learnt would only hide the others.
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
  text += Described(calibration.held_out);
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
  KIRSCH_ASSIGN_OR_RETURN(const JsonValue document, ParseJson(text, file));
  const JsonValue* const about = document.Find("calibration");
  const JsonValue* const error = about == nullptr ? nullptr : about->Find("error");
  if (error == nullptr) return absl::NotFoundError(Cat(file, " is not of a calibration"));
  // The negation refuses NaN as well.
  if (error->kind != JsonValue::Kind::kNumber || !(error->number >= 0))
    return ExpectedAt(file, *error, "a share");
  return error->number;
}

}  // namespace kirsch
