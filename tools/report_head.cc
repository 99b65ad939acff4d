#include "tools/report_head.h"

#include <ctime>

namespace kirsch {
namespace {

// "2026-01-31T12:00:00Z"
std::string Now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts = {};
  gmtime_r(&now, &parts);
  char text[32] = "";
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

}  // namespace

nlohmann::ordered_json WithHead(const ReportHead& head, const nlohmann::ordered_json& report) {
  nlohmann::ordered_json json = {{"command", head.command},
                                 {"version", KIRSCH_VERSION},
                                 {"schema_version", kReportSchemaVersion},
                                 {"target", head.target}};
  if (head.timed) json["date"] = Now();
  for (const auto& [key, value] : report.items())
    if (!json.contains(key)) json[key] = value;
  return json;
}

}  // namespace kirsch
