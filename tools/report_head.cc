// SPDX-License-Identifier: Apache-2.0
#include "tools/report_head.h"

#include <nlohmann/json.hpp>

#include "spec/text/date.h"

namespace kirsch {

nlohmann::ordered_json WithHead(const ReportHead& head, const nlohmann::ordered_json& report) {
  // The order of keys is that of the document: ordered_json keeps it.
  nlohmann::ordered_json json = {{"command", head.command},
                                 {"version", KIRSCH_VERSION},
                                 {"schema_version", kReportSchemaVersion},
                                 {"target", head.target}};
  // The date says when something was timed. Predictions are the same on any day.
  if (head.timed) json["date"] = Now();
  for (const auto& [key, value] : report.items())
    if (!json.contains(key)) json[key] = value;
  return json;
}

}  // namespace kirsch
