// SPDX-License-Identifier: Apache-2.0
#include "bench/results/baseline.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "bench/results/statistics.h"
#include "nlohmann/json.hpp"
#include "spec/text/cat.h"
#include "spec/text/file.h"
#include "spec/text/json_members.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

// Reads only our own results, and only right ones.
class BaselineReader : JsonMembers {
 public:
  explicit BaselineReader(std::string_view file) : JsonMembers(file) {}

  // Members are read one by one; after an error all that follows is empty, so ok() is asked once, at the end.
  absl::StatusOr<Baseline> Read(const JsonValue& document) {
    Baseline baseline;
    const JsonValue& machine = Member(document, "machine", Kind::kObject, "the machine of a bench report");
    baseline.cpu = Member(machine, "cpu", Kind::kString, "a CPU's name").text;
    baseline.threads = static_cast<int>(Number(machine, "threads"));
    baseline.operands = Member(document, "operands", Kind::kString, "where the operands were").text;
    for (const JsonValue& row : Member(document, "results", Kind::kArray, "an array of results").children)
      AddRow(row, &baseline);
    if (!ok()) return status();
    return baseline;
  }

 private:
  using Kind = JsonValue::Kind;

  double Number(const JsonValue& object, std::string_view key) {
    return Member(object, key, Kind::kNumber, "a number").number;
  }

  // A report has a row for each contender; ours is the one that is compared.
  void AddRow(const JsonValue& row, Baseline* baseline) {
    const std::string& spec = Member(row, "spec", Kind::kString, "a spec, a string").text;
    const bool ours = Member(row, "peer", Kind::kString, "a peer's name").text == kOurName;
    const bool correct = Member(row, "correct", Kind::kBool, "true or false").boolean;
    const Baseline::Rate rate{Number(row, "gflops_median"), Number(row, "gflops_spread")};
    if (ours && correct && rate.gflops > 0) baseline->rates[spec] = rate;
  }
};

// Two reports are comparable if this text is the same.
std::string Setting(std::string_view cpu, int threads, std::string_view operands) {
  return Cat(cpu, ", ", threads, threads == 1 ? " thread" : " threads", ", operands ", operands);
}

// The error of two reports that have no spec in common.
absl::Status NothingInCommon(const Baseline& baseline) {
  return absl::InvalidArgumentError(
      Cat(baseline.file, ": expected a report with results of ours for the same specs, got none"));
}

double MeanRatio(const std::vector<RateChange>& changes) {
  std::vector<double> ratios;
  for (const RateChange& change : changes) ratios.push_back(change.ratio());
  return GeometricMean(ratios);
}

}  // namespace

absl::StatusOr<Baseline> ReadBaseline(const std::string& file) {
  KIRSCH_ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  KIRSCH_ASSIGN_OR_RETURN(const JsonValue document, ParseJson(text, file));
  absl::StatusOr<Baseline> baseline = BaselineReader(file).Read(document);
  if (baseline.ok()) baseline->file = file;
  return baseline;
}

absl::Status CheckComparable(const Baseline& baseline, const BenchReport& begun,
                             const std::vector<std::string>& specs) {
  // The message shows both settings, so that a reader sees which part differs.
  const std::string before = Setting(baseline.cpu, baseline.threads, baseline.operands),
                    now = Setting(begun.machine.cpu, begun.threads, OperandsText(begun));
  if (before != now)
    return absl::InvalidArgumentError(Cat(baseline.file, ": expected a report of ", now, ", got ", before));
  const bool any = std::any_of(specs.begin(), specs.end(),
                               [&](const std::string& spec) { return baseline.rates.count(spec) > 0; });
  return any ? absl::OkStatus() : NothingInCommon(baseline);
}

absl::StatusOr<std::vector<RateChange>> ChangesSince(const Baseline& baseline, const BenchReport& report) {
  std::vector<RateChange> changes;
  for (const BenchResult& result : report.results) {
    const auto old = baseline.rates.find(result.spec);
    // Specs that only one of the reports has are left out.
    if (!result.ours() || !result.correct || old == baseline.rates.end()) continue;
    RateChange change{result.spec, old->second.gflops, result.gflops_median};
    // Slower counts only beyond noise: both medians may be off by half of their spread.
    change.slower =
        change.now * (1 + result.gflops_spread / 2) < change.before * (1 - old->second.spread / 2);
    changes.push_back(std::move(change));
  }
  if (changes.empty()) return NothingInCommon(baseline);
  return changes;
}

std::string FormatChanges(const std::vector<RateChange>& changes, std::string_view file) {
  std::string text = Cat("\nkirsch beside ", file, ":\n");
  for (const RateChange& change : changes)
    absl::StrAppendFormat(&text, "  %6.3f  %9.2f -> %9.2f  %s%s\n", change.ratio(), change.before, change.now,
                          change.spec, change.slower ? "  slower beyond both spreads" : "");
  const auto slower =
      std::count_if(changes.begin(), changes.end(), [](const RateChange& change) { return change.slower; });
  absl::StrAppendFormat(&text, "now / before: geometric mean %.3f over %d %s, slower %d\n",
                        MeanRatio(changes), changes.size(), changes.size() == 1 ? "shape" : "shapes", slower);
  return text;
}

nlohmann::json ToJson(const std::vector<RateChange>& changes, std::string_view file) {
  nlohmann::json rows = nlohmann::json::array();
  for (const RateChange& change : changes)
    rows.push_back({{"spec", change.spec},
                    {"before", change.before},
                    {"now", change.now},
                    {"ratio", change.ratio()},
                    {"slower", change.slower}});
  return {{"file", file}, {"results", rows}, {"geometric_mean", MeanRatio(changes)}};
}

}  // namespace kirsch
