// SPDX-License-Identifier: Apache-2.0
#include "fidelity/static_report.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "absl/strings/str_format.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kShown = 12;  // lines of each list of tiles, at most

// Returns the mean of `value` over the items for which `known` holds; nothing if there are none. A mean of
// booleans is a share.
template <typename Item, typename Known, typename Value>
std::optional<double> Mean(const std::vector<Item>& items, Known known, Value value) {
  double sum = 0;
  int count = 0;
  for (const Item& item : items)
    if (known(item)) sum += value(item), ++count;
  if (count == 0) return std::nullopt;
  return sum / count;
}

constexpr auto kAll = [](const auto&) { return true; };

bool AreBothKnown(const TileCheck& tile) { return tile.measured && tile.analysed; }

Json ToJson(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json ToJson(const TileCheck& tile) {
  return {{"spec", tile.spec},
          {"tile", tile.form},
          {"bottleneck", tile.facts.bottleneck},
          {"predicted",
           {{"registers", tile.facts.registers},
            {"spills", tile.facts.spills},
            {"instructions", tile.facts.instructions},
            {"cycles", tile.facts.cycles}}},
          {"found",
           {{"registers", tile.loop.vector_registers},
            {"spills", tile.loop.vector_spills},
            {"instructions", tile.loop.instructions},
            {"mnemonics", tile.loop.mnemonics},
            {"cycles", ToJson(tile.measured)}}},
          {"analyser_cycles", ToJson(tile.analysed)}};
}

Json ToJson(const TrafficCheck& check) {
  Json json = {{"spec", check.spec}, {"error", check.Error()}, {"levels", Json::object()}};
  for (int level = Index(Level::kL2); level <= Index(check.home); ++level) {
    const auto at = static_cast<size_t>(level);
    json["levels"][std::string(kLevelNames[at])] = {{"predicted_read", check.predicted.read[at]},
                                                    {"simulated_read", check.simulated.read[at]},
                                                    {"predicted_written", check.predicted.written[at]},
                                                    {"simulated_written", check.simulated.written[at]}};
  }
  return json;
}

std::string Percent(const std::optional<double>& share) {
  return share ? absl::StrFormat("%.1f%%", 100 * *share) : std::string("-");
}

void AppendTile(const TileCheck& tile, std::string* out) {
  const auto cycles = [](const std::optional<double>& value) {
    return value ? absl::StrFormat("%7.2f", *value) : std::string("      -");
  };
  absl::StrAppendFormat(out, "  %-44s %-28s  %2d %2d   %d %d   %5.1f %3d  %7.2f %s %s\n", tile.spec,
                        tile.form, tile.facts.registers, tile.loop.vector_registers, tile.facts.spills,
                        tile.loop.vector_spills, tile.facts.instructions, tile.loop.instructions,
                        tile.facts.cycles, cycles(tile.measured), cycles(tile.analysed));
}

// Tiles whose code is not as predicted, then those whose cycles are furthest off.
void AppendTiles(const std::vector<TileCheck>& tiles, std::string* out) {
  absl::StrAppendFormat(out,
                        "\n  %-44s %-28s  registers spills instructions  cycles: predicted, measured, LLVM\n",
                        "predicted and found, where they differ", "");
  // Code that is not as predicted: registers, spills, or instructions beyond the tolerance.
  size_t shown = 0;
  for (const TileCheck& tile : tiles)
    if (!tile.registers_are_right() || !tile.spills_are_right() ||
        tile.instructions_error() > kInstructionsTolerance)
      if (shown++ < kShown) AppendTile(tile, out);
  if (shown > kShown) Append(out, "  ... and ", shown - kShown, " more\n");
  // Then the tiles whose cycles are furthest off, of those that were measured.
  std::vector<const TileCheck*> worst;
  for (const TileCheck& tile : tiles)
    if (tile.measured) worst.push_back(&tile);
  // On a logarithmic scale, twice as much is as far off as half as much.
  const auto off = [](const TileCheck* tile) {
    return std::abs(std::log(tile->facts.cycles / *tile->measured));
  };
  std::sort(worst.begin(), worst.end(), [&](const auto* a, const auto* b) { return off(a) > off(b); });
  worst.resize(std::min(worst.size(), kShown));
  if (!worst.empty()) Append(out, "  cycles furthest off:\n");
  for (const TileCheck* tile : worst) AppendTile(*tile, out);
}

// A line for each program: bytes read and written at each level, predicted and simulated.
void AppendTraffic(const std::vector<TrafficCheck>& traffics, std::string* out) {
  Append(out, "\n  bytes in and back, predicted / simulated\n");
  for (const TrafficCheck& check : traffics) {
    absl::StrAppendFormat(out, "  %-44s %5.1f%% ", check.spec, 100 * check.Error());
    for (int level = Index(Level::kL2); level <= Index(check.home); ++level) {
      const auto at = static_cast<size_t>(level);
      absl::StrAppendFormat(out, "  %s %.0f+%.0f / %.0f+%.0f", std::string(kLevelNames[at]),
                            check.predicted.read[at], check.predicted.written[at], check.simulated.read[at],
                            check.simulated.written[at]);
    }
    Append(out, "\n");
  }
}

}  // namespace

StaticSummary Summarise(const StaticReport& report) {
  StaticSummary summary;
  summary.registers = Mean(report.tiles, kAll, [](const auto& tile) { return tile.registers_are_right(); });
  summary.spills = Mean(report.tiles, kAll, [](const auto& tile) { return tile.spills_are_right(); });
  summary.instructions = Mean(report.tiles, kAll, [](const auto& tile) {
    return tile.instructions_error() <= kInstructionsTolerance;
  });
  summary.bytes =
      Mean(report.traffics, kAll, [](const auto& check) { return check.Error() <= kBytesTolerance; });
  summary.cycles_mape = Mean(report.tiles, AreBothKnown, [](const auto& tile) {
    return std::abs(tile.facts.cycles / *tile.measured - 1);
  });
  summary.analyser_mape = Mean(report.tiles, AreBothKnown, [](const auto& tile) {
    return std::abs(*tile.analysed / *tile.measured - 1);
  });
  return summary;
}

std::string FormatTable(const StaticReport& report) {
  const StaticSummary summary = Summarise(report);
  std::string out = absl::StrFormat(
      "%d register tiles: registers right in %s, spills in %s, instructions of a trip within %.0f%% in %s\n"
      "cycles of a trip, operands in L1, mean absolute error: predicted %s, LLVM's analyser %s\n"
      "%d programs in small caches: bytes of each level within %.0f%% of simulated ones in %s\n",
      report.tiles.size(), Percent(summary.registers), Percent(summary.spills), 100 * kInstructionsTolerance,
      Percent(summary.instructions), Percent(summary.cycles_mape), Percent(summary.analyser_mape),
      report.traffics.size(), 100 * kBytesTolerance, Percent(summary.bytes));
  AppendTiles(report.tiles, &out);
  AppendTraffic(report.traffics, &out);
  return out;
}

nlohmann::ordered_json ToJson(const StaticReport& report) {
  const StaticSummary summary = Summarise(report);
  Json json;
  json["summary"] = {
      {"registers_right", ToJson(summary.registers)},       {"spills_right", ToJson(summary.spills)},
      {"instructions_right", ToJson(summary.instructions)}, {"cycles_mape", ToJson(summary.cycles_mape)},
      {"analyser_mape", ToJson(summary.analyser_mape)},     {"bytes_right", ToJson(summary.bytes)}};
  json["tiles"] = Json::array();
  for (const TileCheck& tile : report.tiles) json["tiles"].push_back(ToJson(tile));
  json["traffic"] = Json::array();
  for (const TrafficCheck& check : report.traffics) json["traffic"].push_back(ToJson(check));
  return json;
}

}  // namespace kirsch
